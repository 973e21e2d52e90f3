"""The words that every other module speaks, frozen; ``body`` is shared by reference and never changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

Body: TypeAlias = dict[str, Any]
"""One Kubernetes object as JSON: keys are text, values are what JSON has."""

SET_LABEL: Final = "trapeze.dev/set"
GENERATION_LABEL: Final = "trapeze.dev/generation"
_DIGITS: Final = 9  # of a generation's number: a revision a second does not use them up in thirty years
COMMIT_ANNOTATION: Final = "trapeze.dev/commit"
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


class GroupKind(NamedTuple):
    """A kind without its version: what stays the same when v1beta1 becomes v1."""

    group: str
    kind: str

    def __str__(self) -> str:
        """As kubectl writes it: ``Kind`` or ``Kind.group``."""
        return f"{self.kind}.{self.group}" if self.group else self.kind


class ObjectId(NamedTuple):
    """Identity of an object: no version; ``namespace`` is empty where the kind is cluster-scoped."""

    group: str
    kind: str
    namespace: str
    name: str

    @property
    def group_kind(self) -> GroupKind:
        """The kind of the object."""
        return GroupKind(self.group, self.kind)

    @property
    def path(self) -> str:
        """``namespace/name``, or ``name`` where there is no namespace."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    def __str__(self) -> str:
        """``Kind[.group] [namespace/]name``; the group only where it is no built-in one."""
        builtin = "." not in self.group or self.group.endswith(".k8s.io")
        return f"{self.kind if builtin else self.group_kind} {self.path}"


class Origin(NamedTuple):
    """Where a document stands: ``document`` and ``line`` count from 1 within ``file``."""

    file: str
    document: int
    line: int

    def __str__(self) -> str:
        """``file:line (document n)``, a form that editors follow."""
        return f"{self.file}:{self.line} (document {self.document})"


class Severity(Enum):
    """How much a finding stops."""

    WARNING = "warning"
    """Told, nothing stops."""
    OBJECT = "error"
    """This object is left out; the source counts as incomplete, so nothing is taken away."""
    SET = "refused"
    """Nothing of the set is planned or written until it is mended."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with the input: what, where and the way out."""

    severity: Severity
    message: str
    origin: Origin | None = None
    remedy: str = ""

    def __str__(self) -> str:
        """One line: place, message, way out."""
        where = f"{self.origin}: " if self.origin else ""
        return f"{where}{self.message}" + (f"; {self.remedy}" if self.remedy else "")


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object as Git wants it. ``body`` holds neither our labels nor our annotation."""

    id: ObjectId
    body: Body
    origin: Origin

    @property
    def api_version(self) -> str:
        """``group/version`` as written."""
        return str(self.body["apiVersion"])


@dataclass(frozen=True)
class LiveObject:
    """One object as the server gave it, whole."""

    id: ObjectId
    body: Body

    @property
    def metadata(self) -> Body:
        """The object's metadata; empty where the server left it out."""
        metadata: Body = self.body.get("metadata") or {}
        return metadata

    @property
    def uid(self) -> str:
        """The server's identity of this very object."""
        return str(self.metadata.get("uid", ""))

    @property
    def resource_version(self) -> str:
        """The server's opaque version."""
        return str(self.metadata.get("resourceVersion", ""))

    @property
    def labels(self) -> Mapping[str, str]:
        """Labels; never None."""
        return self.metadata.get("labels") or {}

    @property
    def annotations(self) -> Mapping[str, str]:
        """Annotations; never None."""
        return self.metadata.get("annotations") or {}

    @property
    def is_deleting(self) -> bool:
        """Whether the server is waiting for this object to go."""
        return bool(self.metadata.get("deletionTimestamp"))

    @property
    def set_name(self) -> str:
        """The set whose label it carries, or empty."""
        return str(self.labels.get(SET_LABEL, ""))

    @property
    def generation(self) -> int | None:
        """Our generation label (never ``metadata.generation``), or None; anybody can write one."""
        label = self.labels.get(GENERATION_LABEL, "")
        return int(label) if label.isdecimal() and len(label) <= _DIGITS else None


@dataclass(frozen=True)
class Desired:
    """What Git wants of one set at one revision."""

    set_name: str
    revision: str
    manifests: Mapping[ObjectId, Manifest]
    findings: tuple[Finding, ...] = ()

    @property
    def is_complete(self) -> bool:
        """False when a document could not be read: then nothing may be taken away."""
        return all(f.severity is Severity.WARNING for f in self.findings)

    @property
    def is_refused(self) -> bool:
        """True when a finding stops the whole set."""
        return any(f.severity is Severity.SET for f in self.findings)


@dataclass(frozen=True)
class Live:
    """What was read of the cluster in one observation.

    ``objects`` are whole; ``unknown`` kinds could not be read, for this reason (an error is no evidence of
    absence), ``denied`` ones for want of a right; ``unserved`` nobody serves, others in these ``versions``.
    """

    objects: Mapping[ObjectId, LiveObject]
    unknown: Mapping[GroupKind, str] = field(default_factory=dict)
    unserved: frozenset[GroupKind] = frozenset()
    versions: Mapping[GroupKind, tuple[str, ...]] = field(default_factory=dict)
    denied: frozenset[GroupKind] = frozenset()

    @cached_property
    def _by_kind(self) -> Mapping[GroupKind, tuple[LiveObject, ...]]:
        kinds: dict[GroupKind, list[LiveObject]] = {}
        for obj in self.objects.values():
            kinds.setdefault(obj.id.group_kind, []).append(obj)
        return {kind: tuple(objs) for kind, objs in kinds.items()}

    def get(self, object_id: ObjectId) -> LiveObject | None:
        """The live object, or None where it is absent or its kind unknown (ask ``unknown`` first)."""
        return self.objects.get(object_id)

    def of_kind(self, group: str, kind: str) -> tuple[LiveObject, ...]:
        """All live objects of a kind, in no particular order."""
        return self._by_kind.get(GroupKind(group, kind), ())

    def why_unknown(self, kinds: Iterable[GroupKind]) -> str:
        """The first reason for which one of ``kinds`` is unknown, or empty."""
        return next((f"{kind}: {self.unknown[kind]}" for kind in kinds if kind in self.unknown), "")


class _Absent(Enum):
    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent.ABSENT
"""In a FieldChange: the field is not there (None is a value that JSON has)."""

PathPart: TypeAlias = str | int | tuple[tuple[str, Any], ...]
"""A map key, an index of an atomic list, or the merge keys of a list item: (("name", "web"),)."""
FieldPath: TypeAlias = tuple[PathPart, ...]


def path_text(path: FieldPath) -> str:
    """``spec.template.spec.containers[web].image``; keys with dots are quoted in brackets."""
    out = ""
    for part in path:
        if isinstance(part, tuple):
            out += "[" + ",".join(str(value) for _, value in part) + "]"
        elif isinstance(part, int):
            out += f"[{part}]"
        elif "." in part or "/" in part:
            out += f"['{part}']"
        else:
            out += f".{part}" if out else part
    return out


class Reason(Enum):
    """Why a field differs (the three-way comparison's answer)."""

    GIT = "git"
    """Applied differs from desired: somebody changed Git."""
    DRIFT = "drift"
    """Applied equals desired, live differs: somebody changed the cluster."""
    BOTH = "both"
    """Applied differs from desired and from live."""


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One path of one object: what live has (``before``) and what it shall have (``after``)."""

    path: FieldPath
    before: Any
    after: Any
    reason: Reason = Reason.GIT

    def __str__(self) -> str:
        """``path: before -> after (reason)``."""
        return f"{path_text(self.path)}: {self.before!r} -> {self.after!r} ({self.reason.value})"


class Action(Enum):
    """What a change does to its object."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    NONE = "none"


class Category(Enum):
    """The four categories, ordered by increasing severity: a change carries its worst."""

    ADDITIVE = "additive"
    SHARED_SUBJECT_REWRITE = "shared-subject-rewrite"
    REPOINT = "repoint"
    PRUNE = "prune"

    @property
    def severity(self) -> int:
        """0 for additive up to 3 for prune."""
        return list(Category).index(self)


class Form(Enum):
    """What of an object stands on the server."""

    BASE = "base"
    """As before this generation."""
    WIDENED = "widened"
    """Everything of the new generation added, nothing of the old taken away, pointers where they were."""
    FINAL = "final"
    """As Git wants it."""
