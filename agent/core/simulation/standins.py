"""What the program inside a pod would answer, as far as the pod itself tells.

Pods of the model behave like those of the test rig. Knobs are annotations ``standin.dev/<knob>``:
ready-after, never-ready, lose-ready-after, blocked-by, crash, slow-stop, run-for, exit-code. An image
``standin/<name>:<version>`` takes flags: ``apiserver`` serves ``--group``, ``--version`` and
``--resource=plural:Kind:scope`` out of ``--storage-group`` and ``--storage-version`` under its own identity;
``webhook`` may ``--deny`` (with ``--deny-label=KEY=VALUE``); all may ``--need=PATH`` and
``--need-at-start=PATH``. Other images answer while they are ready.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from agent.core.model import Body, GroupKind, ObjectId
from agent.core.rbac import Ask, Subject, service_account
from agent.core.simulation.tables import Served
from agent.core.simulation.world import State

KNOB: Final = "standin.dev/"
IMAGE: Final = "standin/"
AUTHENTICATION: Final = ObjectId("", "ConfigMap", "kube-system", "extension-apiserver-authentication")
"""What an aggregated API server reads at start.

https://kubernetes.io/docs/tasks/extend-kubernetes/configure-aggregation-layer/
"""

RUN_FOR: Final = 0.3
"""Seconds that a container runs that is meant to end, unless its knob says otherwise."""

DELEGATION: Final = Ask("create", "authorization.k8s.io", "subjectaccessreviews")

Flags = Mapping[str, tuple[str, ...]]


class Visit(NamedTuple):
    """One request to a pod: a ``verb`` on ``resource`` in ``namespace``; all empty means any other path."""

    verb: str = ""
    resource: str = ""
    namespace: str = ""


ANY_PATH: Final = Visit()


class Reply(NamedTuple):
    """An HTTP status, and why where it is no good one."""

    status: int
    reason: str = ""

    @property
    def is_right(self) -> bool:
        """Whether a caller gets what was asked for."""
        return self.status < 400  # noqa: PLR2004 - the classes of HTTP

    def __str__(self) -> str:
        """``503: no endpoints``."""
        return f"{self.status}: {self.reason}" if self.reason else str(self.status)


def knob(pod: Body, name: str) -> str | None:
    """The value of an annotation ``standin.dev/<name>``."""
    value = (pod["metadata"].get("annotations") or {}).get(KNOB + name)
    return None if value is None else str(value)


@lru_cache(maxsize=1024)
def _flags(words: tuple[str, ...], namespace: str) -> Flags:
    flags: dict[str, tuple[str, ...]] = {}
    for word in words:
        key, _, value = word.removeprefix("--").partition("=")
        flags[key] = (*flags.get(key, ()), value.replace("{namespace}", namespace))
    return flags


def flags_of(pod: Body, name: str = "") -> Flags | None:
    """The flags of the first container that is a stand-in (of this name), or None."""
    for container in pod["spec"]["containers"]:
        _, found, image = str(container.get("image", "")).rpartition(IMAGE)
        if found and name in ("", image.partition(":")[0]):
            words = (*container.get("command", ()), *container.get("args", ()))
            return _flags(words, pod["metadata"]["namespace"])
    return None


def identity_of(pod: Body) -> Subject:
    """Who the pod is for the API server."""
    return service_account(pod["metadata"]["namespace"], pod["spec"].get("serviceAccountName") or "default")


def one(flags: Flags, name: str, default: str = "") -> str:
    """The last value of a flag."""
    return flags[name][-1] if name in flags else default


def kinds_of(pod: Body) -> dict[str, tuple[Served, ...]]:
    """What an aggregated API server serves: group/version -> kinds, each with the kind that stores it."""
    flags = flags_of(pod, "apiserver")
    if flags is None:
        return {}
    group, version = one(flags, "group"), one(flags, "version", "v1")
    storage = one(flags, "storage-group")
    rows = [row.split(":") for row in flags.get("resource", ())]
    kinds = tuple(
        Served(
            GroupKind(group, kind),
            (version,),
            plural,
            scope == "namespaced",
            GroupKind(storage, kind),
            provider=f"{version}.{group}",
            storage_version=one(flags, "storage-version", "v1"),
        )
        for plural, kind, scope in rows
    )
    return {f"{group}/{version}": kinds}


def unmet(state: State, pod: Body, flag: str = "need") -> str:
    """The first of ``--need`` that the pod cannot read under its own identity now, in words, or empty."""
    flags = flags_of(pod)
    for path in flags.get(flag, ()) if flags else ():
        if reason := _unreadable(state, identity_of(pod), path):
            return reason
    return ""


def cannot_start(state: State, pod: Body) -> str:
    """Why the program does not come up: what it reads at start is not there, or it may not; or empty."""
    flags = flags_of(pod, "apiserver")
    if flags is not None:
        who, rights = identity_of(pod), state.rights()
        asks = [Ask("get", "", "configmaps", "", AUTHENTICATION.namespace, AUTHENTICATION.name)]
        for kinds in kinds_of(pod).values():
            asks += [Ask("list", served.storage.group, served.plural) for served in kinds]
        for ask in asks:
            if not rights.allows(who, ask):
                return f"{who.user} may not {ask.verb} {ask.resource}"
    return unmet(state, pod, "need-at-start")


def answer(state: State, pod: Body, visit: Visit) -> Reply:
    """What the program answers while it is up and not told to be unready."""
    flags = flags_of(pod, "apiserver")
    who = identity_of(pod)
    # Delegated authorization: it asks the API server about each caller, under its own identity.
    if flags is not None and not state.rights().allows(who, DELEGATION):
        return Reply(500, f"cannot authorize: {who.user} may not create subjectaccessreviews")
    if reason := unmet(state, pod):
        return Reply(500, reason)
    if flags is None or not visit.resource:
        return Reply(200)
    ask = Ask(visit.verb, one(flags, "storage-group"), visit.resource, "", visit.namespace)
    if not state.rights().allows(who, ask):
        return Reply(500, f"storage: {who.user} may not {ask.verb} {ask.resource}.{ask.group}")
    return Reply(200)


def refusal(state: State, pod: Body) -> str:
    """Why the knobs say that a started pod does not serve now, or empty."""
    uid = pod["metadata"]["uid"]
    if knob(pod, "never-ready") not in (None, "false"):
        return "never ready"
    started, ready = state.marked(uid, "started"), state.marked(uid, "ready")
    after = float(knob(pod, "ready-after") or 0)
    if started is None or state.now < started + after:
        return f"ready {after:g} s after its start"
    lost = knob(pod, "lose-ready-after")
    if lost is not None and ready is not None and state.now >= ready + float(lost):
        return f"readiness lost after {lost} s"
    if knob(pod, "crash") is not None and state.now >= started + float(knob(pod, "crash") or 0):
        return "crashed"
    blocker = knob(pod, "blocked-by")
    return f"blocked by {blocker}" if blocker and _stands(state, parse_blocker(blocker)) else ""


def _stands(state: State, object_id: ObjectId) -> bool:
    """Whether an object is stored, also where an aggregated server keeps it and does not serve it now."""
    if state.get(object_id) is not None:
        return True
    storages = {
        served.storage
        for pod in state.of("", "Pod").values()
        for kinds in kinds_of(pod).values()
        for served in kinds
        if served.kind == object_id.group_kind
    }
    return any(state.get(ObjectId(*kind, object_id.namespace, object_id.name)) for kind in storages)


def parse_blocker(text: str) -> ObjectId:
    """``<apiVersion>/<Kind> [<namespace>/]<name>`` as an identity."""
    kind_part, _, path = text.partition(" ")
    api_version, _, kind = kind_part.rpartition("/")
    namespace, _, name = path.rpartition("/")
    return ObjectId(api_version.rpartition("/")[0], kind, namespace, name)


def _unreadable(state: State, who: Subject, path: str) -> str:
    """Why a GET of an API path fails for this identity, or empty."""
    parts = path.partition("?")[0].strip("/").split("/")
    group, rest = ("", parts[2:]) if parts[0] == "api" else (parts[1], parts[3:])
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2:  # noqa: PLR2004 - namespaces/<name>/<resource>
        namespace, rest = rest[1], rest[2:]
    resource, name = rest[0], rest[1] if len(rest) > 1 else ""
    if not state.rights().allows(who, Ask("get" if name else "list", group, resource, "", namespace, name)):
        return f"{path}: 403 {who.user} may not read it"
    kind = next(
        (kind for kind, row in state.tables.served.items() if (kind.group, row.plural) == (group, resource)),
        None,
    )
    if name and kind is not None and state.get(ObjectId(group, kind.kind, namespace, name)) is None:
        return f"{path}: 404"
    return ""
