"""Which kinds are served now: built in, by an established CRD, or by an aggregated API server."""

from __future__ import annotations

from typing import Final, NamedTuple

from agent.core.model import Body, GroupKind, ObjectId
from agent.core.simulation.definitions import check_conversion, definition_of
from agent.core.simulation.serving import aggregated, condition, through_apiservice
from agent.core.simulation.standins import ANY_PATH, Reply, Visit
from agent.core.simulation.tables import Served
from agent.core.simulation.world import State
from agent.errors import NotServed, Unreachable

ROOTS: Final = ("api", "apis", "healthz", "livez", "readyz", "version", "metrics", "logs")
OF_GROUPS: Final = ("api", "apis")


def served_now(state: State) -> tuple[dict[GroupKind, Served], dict[str, str]]:
    """Every kind that is served, and the group-versions that do not answer, with the reason."""
    kinds = dict(state.tables.served)
    failed: dict[str, str] = {}
    apis = [
        api for api in state.of("apiregistration.k8s.io", "APIService").values() if api["spec"].get("service")
    ]
    claimed = {(api["spec"].get("group", ""), api["spec"]["version"]) for api in apis}
    for crd in state.of("apiextensions.k8s.io", "CustomResourceDefinition").values():
        served = _of_crd(crd, claimed)
        if served is not None:
            kinds[served.kind] = served
    for api in apis:
        reply = through_apiservice(state, api)
        if reply.is_right:
            kinds |= {served.kind: served for served in aggregated(state, api)}
        else:
            failed[f"{api['spec']['group']}/{api['spec']['version']}"] = str(reply)
    return kinds, failed


def find(state: State, kind: GroupKind, verb: str = "", namespace: str = "") -> Served:
    """How a kind is served now, for a request with this verb.

    Raises ``NotServed`` where nothing serves it, ``Unreachable`` where what serves it does not answer.
    """
    builtin = state.tables.served.get(kind)
    if builtin is not None:
        return builtin
    apis = state.of("apiregistration.k8s.io", "APIService").values()
    for api in apis:
        if api["spec"].get("service") and api["spec"].get("group", "") == kind.group:
            reply = through_apiservice(state, api)
            served = next((row for row in aggregated(state, api) if row.kind == kind), None)
            if reply.is_right and served and verb:
                reply = through_apiservice(state, api, Visit(verb, served.plural, namespace))
            if not reply.is_right:
                raise Unreachable(
                    f"the server is currently unable to handle the request for {kind} ({reply})"
                )
            if served:
                return served
    for crd in state.of("apiextensions.k8s.io", "CustomResourceDefinition").values():
        found = _of_crd(crd, frozenset())
        if found is not None and found.kind == kind:
            return found
    raise NotServed(f"the server serves no kind {kind}")


def _of_crd(crd: Body, claimed: set[tuple[str, str]] | frozenset[tuple[str, str]]) -> Served | None:
    """A CRD's kind once it is established; versions that an APIService claims are not the CRD's."""
    if condition(crd, "Established") != "True":
        return None
    spec = crd["spec"]
    rows = [row for row in spec["versions"] if row["served"] and (spec["group"], row["name"]) not in claimed]
    if not rows:
        return None
    rows.sort(key=lambda row: not row.get("storage"))
    kind = GroupKind(spec["group"], spec["names"]["kind"])
    has_status = any("status" in (row.get("subresources") or {}) for row in rows)
    return Served(
        kind,
        tuple(row["name"] for row in rows),
        spec["names"]["plural"],
        spec["scope"] == "Namespaced",
        kind,
        has_status=has_status,
        provider=crd["metadata"]["name"],
    )


class _Path(NamedTuple):
    """An API path taken apart; ``resource`` and what follows are empty where the path ends before."""

    group: str
    version: str
    namespace: str
    resource: str
    name: str

    @classmethod
    def of(cls, path: str) -> _Path:
        parts = path.partition("?")[0].strip("/").split("/")
        rest = parts[2:] if parts[0] == "api" else parts[3:]
        namespace = ""
        if rest[:1] == ["namespaces"] and len(rest) > 2:  # noqa: PLR2004 - namespaces/<name>/<resource>
            namespace, rest = rest[1], rest[2:]
        head = ["", *parts[1:2]] if parts[0] == "api" else parts[1:3]
        group, version, resource, name = [*head, "", ""][:2] + [*rest, "", ""][:2]
        return cls(group, version, namespace, resource, name)


def is_url(path: str) -> bool:
    """Whether RBAC judges a path as a URL: it names no resource."""
    asked = path.strip("/").split("/")
    return asked[0] not in OF_GROUPS or not _Path.of(path).resource


def read_path(state: State, path: str) -> Reply:
    """What a GET of an API path answers: ``/apis/group/version``, with a resource behind it or not."""
    asked = _Path.of(path)
    nothing = Reply(404, f"the server serves no {path}")
    if not asked.version:
        return Reply(200) if path.strip("/").partition("/")[0] in ROOTS else nothing
    api = state.get(ObjectId("apiregistration.k8s.io", "APIService", "", f"{asked.version}.{asked.group}"))
    if api is None:
        return nothing
    verb = "get" if asked.name else "list"
    visit = Visit(verb, asked.resource, asked.namespace) if asked.resource else ANY_PATH
    reply = through_apiservice(state, api, visit)
    if not reply.is_right or not asked.resource:
        return reply
    rows = [row for row in served_now(state)[0].values() if row.plural == asked.resource]
    served = next(
        (row for row in rows if row.kind.group == asked.group and asked.version in row.versions), None
    )
    if served is None:
        return nothing
    try:
        check_conversion(state, definition_of(state, served), asked.version)
    except Unreachable as error:
        return Reply(500, str(error))
    key = ObjectId(*served.storage, asked.namespace, asked.name)
    return reply if not asked.name or state.get(key) is not None else Reply(404, f"{path} is not there")
