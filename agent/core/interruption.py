"""What a person let be interrupted: the serving paths through the workloads whose downtime is allowed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from agent.core.model import Body, ObjectId
from agent.core.network import NETWORK_POLICY
from agent.core.policy import Policy
from agent.core.serving import Path, Routes
from agent.core.simulation.selectors import selects
from agent.core.situation import is_listed
from agent.core.states import SERVICE
from agent.core.terms import Terms
from agent.core.workloads import labels_of_template

Objects = Mapping[ObjectId, Body]


def interrupting(terms: Terms, old: Objects, new: Objects, names: Collection[str], routes: Routes) -> Terms:
    """The terms, with the paths that the downtime of ``names`` (``allow_downtime``) may interrupt.

    Only workloads that the upgrade changes are meant, and those whose pods a NetworkPolicy isolates that it
    changes: what it leaves alone has no downtime.
    """
    changed = [key for key in {**old, **new} if old.get(key) != new.get(key) and is_listed(key, names)]
    policies = [one for one in changed if one.group_kind == NETWORK_POLICY]
    meant = [key for key in changed if key in old and key not in policies]
    meant += [key for one in policies for key in _isolated_by(one, (old, new), routes.policy)]
    if not meant:
        return terms
    return replace(terms, interrupted=terms.interrupted | carried_by(meant, (old, new), routes))


def _isolated_by(network: ObjectId, releases: tuple[Objects, ...], policy: Policy) -> Iterator[ObjectId]:
    """The workloads whose pods a NetworkPolicy selects, in any of the releases."""
    specs = [release[network].get("spec") or {} for release in releases if network in release]
    for release in releases:
        for key, body in release.items():
            labels = labels_of_template(policy, body) if key.namespace == network.namespace else {}
            if labels and any(selects(spec.get("podSelector") or {}, labels) for spec in specs):
                yield key


def carried_by(
    workloads: Iterable[ObjectId], releases: tuple[Objects, ...], routes: Routes
) -> frozenset[Path]:
    """The paths through the Services of these workloads, in any of the releases."""
    wanted = tuple(workloads)
    services = {
        service
        for objects in releases
        for workload in wanted
        if workload in objects
        for service in _selecting(objects, workload, routes.policy)
    }
    return frozenset(
        path
        for objects in releases
        for key, body in objects.items()
        for path, target in routes.of(key, body).items()
        if target is not None and target.id in services
    )


def _selecting(objects: Objects, workload: ObjectId, policy: Policy) -> Iterator[ObjectId]:
    labels = labels_of_template(policy, objects[workload])
    for key, body in objects.items():
        selector = (body.get("spec") or {}).get("selector") if key.group_kind == SERVICE else None
        if selector and key.namespace == workload.namespace and selector.items() <= labels.items():
            yield key
