"""Documents as desired objects: identity, scope, namespace, and what cannot be applied as it stands.

A document that is refused is a finding and nothing else; findings never quote a value of a Secret.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from agent.core.encrypted import encrypted_document
from agent.core.hookjobs import as_written
from agent.core.kinds import Kinds, crd_kinds
from agent.core.model import Body, Desired, Finding, GroupKind, Manifest, ObjectId, Origin, Severity
from agent.core.yamlread import Document, Reading

_SERVER_OWNED: Final = (
    "uid",
    "resourceVersion",
    "generation",
    "selfLink",
    "managedFields",
    "creationTimestamp",
)
"""Metadata that only the server writes (https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/
object-meta/); an exported manifest carries it, and an apply with it is refused or conflicts."""

_KUSTOMIZE_GROUP: Final = "kustomize.config.k8s.io"
_KUSTOMIZE_FILES: Final = frozenset({"kustomization.yaml", "kustomization.yml"})
_CHART_FILE: Final = "Chart.yaml"


class _Refused(Exception):
    """Why a document is no manifest, and the way out."""

    def __init__(self, message: str, remedy: str, severity: Severity = Severity.OBJECT) -> None:
        super().__init__(message)
        self.remedy = remedy
        self.severity = severity


def load(
    files: Mapping[str, Reading], kinds: Kinds, *, set_name: str, revision: str, namespace: str
) -> Desired:
    """What Git wants of a set; the answer does not depend on the order of ``files``.

    ``namespace`` stands in for one that a namespaced object does not name; empty means ``default``, as for
    kubectl without a context. On cluster-scoped kinds a namespace is dropped, as the API server does. A kind
    that neither ``kinds`` nor a CRD of the set knows is a warning, and is taken as namespaced when it names a
    namespace: pass ``Kinds.extended`` with discovery where there is a cluster. Equal copies of an object are
    one; different ones refuse the set.
    """
    documents = [doc for _, reading in sorted(files.items()) for doc in reading.documents]
    findings = [finding for _, reading in sorted(files.items()) for finding in reading.findings]
    known = kinds.extended(crd_kinds(doc.body for doc in documents))
    loader = _Loader(known, namespace or "default")
    for document in documents:
        loader.take(document)
    return Desired(set_name, revision, loader.manifests, (*findings, *loader.findings))


def as_applied(body: Body, object_id: ObjectId) -> Body | None:
    """A document in the form of ``Manifest.body``, or None where it is not this object."""
    if not isinstance(body.get("metadata"), dict):
        return None
    body = as_written(body, object_id)
    metadata = body["metadata"]
    # The group may be an earlier one of the same object: extensions became apps and networking.k8s.io.
    if (body.get("kind"), metadata.get("name")) != (object_id.kind, object_id.name):
        return None
    if object_id.namespace and metadata.get("namespace", object_id.namespace) != object_id.namespace:
        return None
    return _tidied(body, metadata, object_id.namespace)


class _Loader:
    def __init__(self, kinds: Kinds, namespace: str) -> None:
        self._kinds = kinds
        self._namespace = namespace
        self.manifests: dict[ObjectId, Manifest] = {}
        self.findings: list[Finding] = []

    def take(self, document: Document) -> None:
        try:
            _refuse_other_tools(document)
            object_id, body = self._identify(document)
            _refuse_values(object_id, body)
        except _Refused as refused:
            self._find(refused.severity, str(refused), document.origin, refused.remedy)
            return
        self._keep(Manifest(object_id, body, document.origin))

    def _identify(self, document: Document) -> tuple[ObjectId, Body]:
        body = document.body
        kind, metadata = self._kinds.stored(_kind(body)), _metadata(body)
        is_namespaced = self._kinds.is_namespaced(kind)
        named = metadata.get("namespace")
        if is_namespaced is None:
            is_namespaced = bool(named)
            scope = (
                "namespaced, since it names one" if named else "cluster-scoped, since it names no namespace"
            )
            message = f"{kind} {metadata['name']}: nobody has said how {kind} is served; taken as {scope}"
            remedy = "put its CustomResourceDefinition into the set, or ask a cluster that serves it"
            self._find(Severity.WARNING, message, document.origin, remedy)
        namespace = (named or self._namespace) if is_namespaced else ""
        object_id = ObjectId(kind.group, kind.kind, namespace, metadata["name"])
        self._tell_dropped(object_id, body, document.origin)
        return object_id, _tidied(body, metadata, namespace)

    def _tell_dropped(self, object_id: ObjectId, body: Body, origin: Origin) -> None:
        dropped = [name for name in _SERVER_OWNED if body["metadata"].get(name) is not None]
        if dropped:
            message = f"{object_id}: metadata.{', metadata.'.join(dropped)} left out: the server's own"
            self._find(Severity.WARNING, message, origin, "take it out of the manifest")

    def _keep(self, manifest: Manifest) -> None:
        other = self.manifests.setdefault(manifest.id, manifest)
        if other is manifest or _canonical(other.body) == _canonical(manifest.body):
            return
        message = f"{manifest.id} stands here and, different, at {other.origin}"
        self._find(Severity.SET, message, manifest.origin, "keep one of the two")

    def _find(self, severity: Severity, message: str, origin: Origin, remedy: str) -> None:
        self.findings.append(Finding(severity, message, origin, remedy))


def _refuse_other_tools(document: Document) -> None:
    """Files of other tools would be read as something that they are not."""
    body = document.body
    base = document.origin.file.rpartition("/")[2]
    group = str(body.get("apiVersion", "")).partition("/")[0]
    if group == _KUSTOMIZE_GROUP or (base in _KUSTOMIZE_FILES and "kind" not in body):
        remedy = "say render: kustomize in the set, or commit what `kustomize build` renders"
        raise _Refused("a kustomization is not applied as it stands", remedy, Severity.SET)
    if base == _CHART_FILE and "kind" not in body:
        remedy = "say render: helm in the set, or commit what `helm template` renders"
        raise _Refused("a Helm chart is not applied as it stands", remedy, Severity.SET)
    found = encrypted_document(body)
    if found is not None:
        raise _Refused(
            f"the document is encrypted by {found.form}, and no key is at hand to read it", found.remedy
        )


def _kind(body: Body) -> GroupKind:
    api_version, kind = body.get("apiVersion"), body.get("kind")
    for name, value in (("apiVersion", api_version), ("kind", kind)):
        if not value or not isinstance(value, str):
            problem = "is not text" if value else "is missing"
            remedy = "add it, or keep files that are no manifests out of the path"
            raise _Refused(f"{name} {problem}", remedy)
    group, slash, version = str(api_version).partition("/")
    if slash and not (group and version and "/" not in version):
        raise _Refused(f"apiVersion {api_version} is not group/version", "mend it")
    return GroupKind(group if slash else "", str(kind))


def _metadata(body: Body) -> Body:
    """The metadata with its texts checked: name, namespace, labels and annotations.

    kubectl refuses other values there while it decodes (ObjectMeta has text only).
    """
    metadata = body.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise _Refused(f"{body['kind']}: metadata is not a map", "mend it")
    metadata = metadata or {}
    name = metadata.get("name")
    if not name and metadata.get("generateName"):
        raise _Refused(
            f"{body['kind']} {metadata['generateName']}...: generateName gives a new object at each sync",
            "give it a metadata.name",
        )
    if name is None or name == "":
        raise _Refused(f"{body['kind']}: metadata.name is missing", "add it")
    for field in ("name", "namespace", "generateName"):
        if not isinstance(metadata.get(field), str | None):
            raise _Refused(f"{body['kind']}: metadata.{field} is not text", "put it in quotes")
        if _is_no_path_segment(metadata.get(field)):
            raise _Refused(
                f"{body['kind']}: metadata.{field} cannot stand in an API path", "use another name"
            )
    for path, value in _label_values(metadata):
        if not isinstance(value, str | None):
            raise _Refused(f"{body['kind']} {name}: {path} is {_word(value)}, not text", "put it in quotes")
    return metadata


def _is_no_path_segment(name: str | None) -> bool:
    """What no object can be called (https://kubernetes.io/docs/concepts/overview/working-with-objects/names/)."""
    return name is not None and (name in {".", ".."} or "/" in name or "%" in name)


def _label_values(metadata: Body) -> Iterator[tuple[str, Any]]:
    for field in ("labels", "annotations"):
        values = metadata.get(field)
        if isinstance(values, dict):
            yield from ((f"metadata.{field}['{key}']", value) for key, value in values.items())
        elif values is not None:
            raise _Refused(f"{metadata['name']}: metadata.{field} is not a map", "mend it")


def _refuse_values(object_id: ObjectId, body: Body) -> None:
    """What the API server would refuse of a Secret, found before its answer could quote the value.

    Source: https://kubernetes.io/docs/concepts/configuration/secret/ (data is base64, stringData text);
    argoproj/argo-cd#16193 shows the harm.
    """
    if object_id.group_kind != GroupKind("", "Secret"):
        return
    where = f"Secret {object_id.path}"
    for part in ("stringData", "data"):
        values = body.get(part)
        if values is not None and not isinstance(values, dict):
            raise _Refused(f"{where} {part} is not a map", "mend it")
        for key, value in (values or {}).items():
            if not isinstance(value, str | None):
                raise _Refused(f"{where} {part}.{key} is not a string", "put it in quotes")
            if part == "data" and value and not _is_base64(value):
                raise _Refused(f"{where} data.{key} is not base64", "encode it, or move it to stringData")


def _is_base64(text: str) -> bool:
    try:
        b64decode(text.replace("\n", "").replace("\r", ""), validate=True)
    except (Base64Error, ValueError):
        return False
    return True


def _tidied(body: Body, metadata: Body, namespace: str) -> Body:
    """A copy with the namespace settled, without status and what only the server writes.

    Null labels and annotations go, as kubectl drops them; every other null stays as written.
    """
    kept = {key: value for key, value in metadata.items() if key not in _SERVER_OWNED and key != "namespace"}
    for field in ("labels", "annotations"):
        if field in kept:
            kept[field] = {key: value for key, value in (kept[field] or {}).items() if value is not None}
            if not kept[field]:
                del kept[field]
    if namespace:
        kept["namespace"] = namespace
    rest = {key: value for key, value in body.items() if key not in {"metadata", "status"}}
    return {**rest, "metadata": kept}


def _canonical(body: Body) -> bytes:
    return orjson.dumps(body, option=orjson.OPT_SORT_KEYS)


def _word(value: Any) -> str:
    words = {bool: "a boolean", int: "a number", float: "a number", list: "a list"}
    return words.get(type(value), "a map")
