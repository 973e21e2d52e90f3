"""What a pod needs besides its image: its ServiceAccount, and the objects that its spec names.

Optional references are left out, and so are imagePullSecrets: a missing one stops no pod (Kubernetes,
"Configure a Pod to Use a ConfigMap" and "Pull an Image from a Private Registry").
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from agent.core.model import Body, ObjectId

_CONTAINERS: Final = ("containers", "initContainers", "ephemeralContainers")
_VOLUMES: Final = (("configMap", "ConfigMap", "name"), ("secret", "Secret", "secretName"))
_SOURCES: Final = (("configMap", "ConfigMap", "name"), ("secret", "Secret", "name"))
_ENV: Final = (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret"))
_ENV_FROM: Final = (("configMapRef", "ConfigMap"), ("secretRef", "Secret"))


class Use(NamedTuple):
    """An object of the pod's namespace that it needs, with the keys that it names (none: all or no keys)."""

    id: ObjectId
    keys: frozenset[str] = frozenset()


def account_of(pod: Body) -> str:
    """The ServiceAccount that a pod runs under."""
    spec = pod.get("spec") or {}
    return str(spec.get("serviceAccountName") or spec.get("serviceAccount") or "default")


def template_of(pod: Body) -> str:
    """What pods of one template have in common: their owner, and the revision of it that made them."""
    metadata = pod.get("metadata") or {}
    owner = next((str(ref.get("uid")) for ref in metadata.get("ownerReferences") or ()), metadata.get("uid"))
    return f"{owner} {(metadata.get('labels') or {}).get('controller-revision-hash', '')}"


def runs(pod: Body) -> bool:
    """Whether its containers were started and have not all ended."""
    return (pod.get("status") or {}).get("phase") == "Running"


def has_token(pod: Body) -> bool:
    """Whether the pod is given a token: without one its ServiceAccount's rights are nothing to it."""
    spec = pod.get("spec") or {}
    if spec.get("automountServiceAccountToken") is not False:
        return True
    return any(
        "serviceAccountToken" in source
        for volume in spec.get("volumes") or ()
        for source in (volume.get("projected") or {}).get("sources") or ()
    )


def uses_of(pod_id: ObjectId, pod: Body) -> tuple[Use, ...]:
    """All that the pod needs, each object as often as the spec names it."""
    spec = pod.get("spec") or {}
    named = [(kind, name, keys) for kind, name, keys in _named(spec) if name]
    uses = [Use(ObjectId("", kind, pod_id.namespace, name), keys) for kind, name, keys in named]
    return (Use(ObjectId("", "ServiceAccount", pod_id.namespace, account_of(pod))), *uses)


def lacks(use: Use, body: Body | None) -> str:
    """What of ``use`` is missing in the object as it stands, or empty."""
    if body is None:
        return f"{use.id} is gone"
    if (body.get("metadata") or {}).get("deletionTimestamp"):
        return f"{use.id} is being deleted"
    there = {**(body.get("data") or {}), **(body.get("binaryData") or {})}
    missing = sorted(use.keys - there.keys())
    return f"{use.id} has lost the key {', '.join(missing)}" if missing else ""


def _named(spec: Body) -> Iterator[tuple[str, str, frozenset[str]]]:
    for volume in spec.get("volumes") or ():
        yield from _of_volume(volume)
    for container in (c for kind in _CONTAINERS for c in spec.get(kind) or ()):
        for env in container.get("env") or ():
            for field, kind in _ENV:
                ref = (env.get("valueFrom") or {}).get(field) or {}
                if _is_needed(ref):
                    yield kind, str(ref.get("name", "")), frozenset({str(ref.get("key"))})
        for source in container.get("envFrom") or ():
            for field, kind in _ENV_FROM:
                if _is_needed(source.get(field)):
                    yield kind, str(source[field].get("name", "")), frozenset()


def _of_volume(volume: Body) -> Iterator[tuple[str, str, frozenset[str]]]:
    claim = volume.get("persistentVolumeClaim")
    if claim:
        yield "PersistentVolumeClaim", str(claim.get("claimName", "")), frozenset()
    for source, table in ((volume, _VOLUMES), *((s, _SOURCES) for s in _projected(volume))):
        for field, kind, name in table:
            if _is_needed(source.get(field)):
                items = source[field].get("items") or ()
                yield kind, str(source[field].get(name, "")), frozenset(str(i["key"]) for i in items)


def _projected(volume: Body) -> Any:
    return (volume.get("projected") or {}).get("sources") or ()


def _is_needed(ref: Any) -> bool:
    return bool(ref) and not ref.get("optional")
