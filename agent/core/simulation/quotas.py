"""ResourceQuotas and LimitRanges: what a namespace may hold, and what its pods ask for by default.

https://kubernetes.io/docs/concepts/policy/resource-quotas/, https://kubernetes.io/docs/concepts/policy/limit-range/.
Scopes are not looked at: a quota with scopes counts for all pods, which refuses more, never less.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Final

from agent.core.model import Body, GroupKind, ObjectId
from agent.core.quantity import amount
from agent.core.simulation.tables import Served, dig, put
from agent.core.simulation.world import State
from agent.errors import Rejected

COUNTED: Final[Mapping[str, GroupKind]] = {
    plural: GroupKind("", kind)
    for plural, kind in {
        "pods": "Pod",
        "configmaps": "ConfigMap",
        "secrets": "Secret",
        "services": "Service",
        "persistentvolumeclaims": "PersistentVolumeClaim",
        "replicationcontrollers": "ReplicationController",
        "resourcequotas": "ResourceQuota",
    }.items()
}
"""Resources of a quota that are counts of objects, beside ``count/<resource>.<group>``."""

OF_PODS: Final[Mapping[str, tuple[str, str]]] = {
    "cpu": ("requests", "cpu"),
    "memory": ("requests", "memory"),
    **{f"{side}.{what}": (side, what) for side in ("requests", "limits") for what in ("cpu", "memory")},
}
ENDED: Final = ("Succeeded", "Failed")
NONE: Final = Decimal(0)


def kind_counted(state: State, resource: str) -> GroupKind | None:
    """The kind whose objects a quota's resource counts; None for one that adds up what pods ask for."""
    name, is_count = resource.removeprefix("count/"), resource.startswith("count/")
    if not is_count:
        return COUNTED.get(name)
    plural, _, group = name.partition(".")
    found = (kind for kind, row in state.tables.served.items() if (row.plural, kind.group) == (plural, group))
    return next(found, None)


def used(state: State, namespace: str, resource: str) -> Decimal:
    """How much of a quota's resource is taken in a namespace; a pod that has ended takes nothing."""
    kind = kind_counted(state, resource)
    if kind is not None:
        bodies = (body for key, body in state.of(*kind).items() if key.namespace == namespace)
        if kind.kind != "Pod" or resource.startswith("count/"):
            return Decimal(sum(1 for _ in bodies))
        return Decimal(sum(dig(body, ("status", "phase")) not in ENDED for body in bodies))
    pods = (body for key, body in state.of("", "Pod").items() if key.namespace == namespace)
    return sum((asked(pod, resource) for pod in pods if dig(pod, ("status", "phase")) not in ENDED), NONE)


def asked(pod: Body, resource: str) -> Decimal:
    """How much of a quota's resource one pod asks for."""
    side, what = OF_PODS.get(resource, ("", ""))
    rows = (dig(one, ("resources", side, what)) for one in pod["spec"]["containers"])
    return sum((amount(row) or NONE for row in rows if row is not None), NONE)


def written(resource: str, number: Decimal) -> str:
    """A number as a quota's status has it."""
    is_whole = number == number.to_integral_value()
    return str(int(number)) if is_whole or not resource.endswith("cpu") else f"{int(number * 1000)}m"


def check_quota(state: State, served: Served, object_id: ObjectId, body: Body) -> None:
    """Raises ``Rejected`` where a new object would take more than a quota of its namespace leaves."""
    for key, quota in state.of("", "ResourceQuota").items():
        if key.namespace != object_id.namespace:
            continue
        for resource, hard in (dig(quota, ("spec", "hard")) or {}).items():
            more = _more(state, served, object_id, body, resource)
            taken = used(state, key.namespace, resource) if more else NONE
            if more and taken + more > (amount(hard) or NONE):
                raise Rejected(
                    f"{object_id} is forbidden: exceeded quota: {key.name}, requested: {resource}="
                    f"{written(resource, more)}, used: {resource}={written(resource, taken)}, "
                    f"limited: {resource}={hard}"
                )


def _more(state: State, served: Served, object_id: ObjectId, body: Body, resource: str) -> Decimal:
    kind = kind_counted(state, resource)
    if kind is not None:
        return Decimal(int(served.kind == kind))
    if served.kind != ("", "Pod") or resource not in OF_PODS:
        return NONE
    side, what = OF_PODS[resource]
    if any(dig(one, ("resources", side, what)) is None for one in body["spec"]["containers"]):
        raise Rejected(f"{object_id} is forbidden: failed quota: must specify {resource}")
    return asked(body, resource)


def limited(state: State, object_id: ObjectId, pod: Body) -> Body:
    """A new pod with the defaults of its namespace's LimitRanges; raises ``Rejected`` out of their bounds."""
    rows = list(_container_limits(state, object_id.namespace))
    if not rows:
        return pod
    containers = [_defaulted(rows, one) for one in pod["spec"]["containers"]]
    for row in rows:
        for one in containers:
            for side, words in (("max", "maximum"), ("min", "minimum")):
                _check_bounds(object_id, one, side, row.get(side) or {}, words)
    return put(pod, ("spec", "containers"), containers)


def _container_limits(state: State, namespace: str) -> Iterator[Body]:
    for key, body in sorted(state.of("", "LimitRange").items()):
        if key.namespace == namespace:
            yield from (row for row in dig(body, ("spec", "limits")) or () if row.get("type") == "Container")


def _defaulted(rows: list[Body], container: Body) -> Body:
    """Limits from default or max, requests from defaultRequest, the limits' defaults, or min.

    plugin/pkg/admission/limitranger, mergeContainerResources; SetDefaults_LimitRangeItem in defaults.go.
    """
    given = container.get("resources") or {}
    limits, requests = dict(given.get("limits") or {}), dict(given.get("requests") or {})
    # A limit that the pod itself names is its request too; that default comes before admission.
    requests = {**limits, **requests}
    for row in rows:
        default = {**(row.get("max") or {}), **(row.get("default") or {})}
        request = {**(row.get("min") or {}), **default, **(row.get("defaultRequest") or {})}
        limits, requests = {**default, **limits}, {**request, **requests}
    made = {name: side for name, side in (("limits", limits), ("requests", requests)) if side}
    return container | {"resources": {**given, **made}} if made else container


def _check_bounds(object_id: ObjectId, container: Body, side: str, bound: Body, words: str) -> None:
    for resource, limit in bound.items():
        of = "limits" if side == "max" else "requests"
        found, edge = amount(dig(container, ("resources", of, resource))), amount(limit)
        if found is None or edge is None:
            continue
        if found > edge if side == "max" else found < edge:
            raise Rejected(f"{object_id} is forbidden: {words} {resource} usage per Container is {limit}")
