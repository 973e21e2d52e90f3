"""APIServices: the condition Available, which lags what it tells of, and the APIServices of local kinds.

https://kubernetes.io/docs/concepts/extend-kubernetes/api-extension/apiserver-aggregation/, kube-aggregator's
pkg/controllers/status/remote/remote_available_controller.go.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from agent.core.model import Body, ObjectId
from agent.core.rbac import RBAC_GROUP
from agent.core.simulation.controllers.common import Controller, conditions
from agent.core.simulation.draft import Draft
from agent.core.simulation.serving import backends, condition, endpoints, served_ports, through_resolver
from agent.core.simulation.standins import kinds_of
from agent.core.simulation.tables import dig
from agent.core.simulation.world import NEVER, Event

GROUP: Final = "apiregistration.k8s.io"
REGISTRATION: Final = ObjectId(GROUP, "APIService", "", "")
"""Stands for the list of local APIServices as a whole."""

MANAGED: Final = "kube-aggregator.kubernetes.io/automanaged"


class Finding(NamedTuple):
    """What the availability controller sees now."""

    is_available: bool
    reason: str
    message: str


def calls(draft: Draft, event: Event) -> Iterable[ObjectId]:
    """An APIService's own writes; what stands behind Services concerns all that point at one."""
    key = event.id
    if key.kind == "APIService":
        return [key, REGISTRATION]
    if key.kind == "CustomResourceDefinition":
        return [REGISTRATION]
    if key.kind not in ("EndpointSlice", "Service", "Pod") and key.group != RBAC_GROUP:
        return ()
    apis = draft.of(GROUP, "APIService").items()
    return [api_key for api_key, api in apis if api["spec"].get("service")]


def sync(draft: Draft, key: ObjectId) -> float:
    """Register local group-versions, or move a condition to what was seen a moment ago."""
    if key == REGISTRATION:
        register(draft)
        return NEVER
    api = draft.get(key)
    if api is None:
        return NEVER
    uid = api["metadata"]["uid"]
    seen = _look(draft, api)
    said = condition(api, "Available")
    if said == str(seen.is_available):
        if draft.marked(uid, "differs") is not None:
            draft.mark(uid, "differs", None)
        return _write(draft, key, api, seen)
    if not api["spec"].get("service"):
        return _write(draft, key, api, seen)
    since = draft.marked(uid, "differs")
    if since is None:
        since = draft.now
        draft.mark(uid, "differs", since)
    due = since + draft.timing.availability
    return due if draft.now < due else _write(draft, key, api, seen)


def _write(draft: Draft, key: ObjectId, api: Body, seen: Finding) -> float:
    rows = conditions(draft, api, {"Available": (seen.is_available, seen.reason, seen.message)})
    draft.put(key, api | {"status": {"conditions": rows}})
    draft.mark(api["metadata"]["uid"], "differs", None)
    return NEVER


def _yes(reason: str, message: str) -> Finding:
    return Finding(is_available=True, reason=reason, message=message)


def _no(reason: str, message: str) -> Finding:
    return Finding(is_available=False, reason=reason, message=message)


def _look(draft: Draft, api: Body) -> Finding:
    spec = api["spec"]
    ref = spec.get("service")
    if not ref:
        return _yes("Local", "Local APIServices are always available")
    namespace, name, port = ref["namespace"], ref["name"], ref.get("port", 443)
    service = draft.get(ObjectId("", "Service", namespace, name))
    if service is None:
        return _no("ServiceNotFound", f'service/{name} in "{namespace}" is not present')
    if port not in served_ports(service):
        return _no("ServicePortError", f'service/{name} in "{namespace}" is not listening on port {port}')
    rows = list(endpoints(draft, namespace, name))
    if not any(row["conditions"]["ready"] for row in rows):
        return _no("MissingEndpoints", f'endpoints for service/{name} in "{namespace}" have no addresses')
    reply = through_resolver(draft, ref)
    group_version = f"{spec['group']}/{spec['version']}"
    if reply.is_right and all(group_version in kinds_of(pod) for pod in backends(draft, namespace, name)):
        return _yes("Passed", "all checks passed")
    why = reply.reason or f"the server could not find {group_version}"
    return _no("FailedDiscoveryCheck", f"failing or missing response: {why}")


def register(draft: Draft) -> None:
    """Local groups and those of CRDs have APIServices too, and lose them with the CRD."""
    wanted = {
        (kind.group, version): "onstart"
        for kind, row in draft.tables.served.items()
        for version in row.versions
    }
    for crd in draft.of("apiextensions.k8s.io", "CustomResourceDefinition").values():
        if condition(crd, "Established") == "True":
            wanted |= {
                (crd["spec"]["group"], row["name"]): "true"
                for row in crd["spec"]["versions"]
                if row["served"]
            }
    for (group, version), managed in wanted.items():
        key = ObjectId(GROUP, "APIService", "", f"{version}.{group}")
        if draft.get(key) is None:
            draft.put(key, _local(key.name, group, version, managed))
    for key, api in list(draft.of(GROUP, "APIService").items()):
        if (
            dig(api, ("metadata", "labels", MANAGED))
            and (api["spec"].get("group", ""), api["spec"]["version"]) not in wanted
        ):
            draft.drop(key)


def _local(name: str, group: str, version: str, managed: str) -> Body:
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "APIService",
        "metadata": {"name": name, "labels": {MANAGED: managed}},
        "spec": {
            **({"group": group} if group else {"group": ""}),
            "version": version,
            "groupPriorityMinimum": 1000 if managed == "true" else 17000,
            "versionPriority": 100,
        },
    }


CONTROLLER: Final = Controller("apiservice", calls, sync)
