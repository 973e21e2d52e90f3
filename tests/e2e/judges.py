"""What an site must have come to: live equals the release, nothing old is left, the ledger says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agent.core.ledger import GenerationState
from agent.core.model import SET_LABEL, Body
from agent.core.policy import id_of
from tests.e2e.releases import Files
from tests.e2e.site import Site, bodies
from tests.rig.resources import all_resources


def assert_in_service(site: Site, files: Files) -> None:
    """The cluster has the release, whole, and nothing else of the set; the ledger calls it in service."""
    wanted = bodies(files)
    live = {id_of(body): body for body in members(site)}
    assert not wanted.keys() - live.keys()
    # What the aggregated API serves is seen a second time in its storage, as the same object.
    known = {live[key]["metadata"]["uid"] for key in wanted}
    assert not [str(key) for key, body in live.items() if body["metadata"]["uid"] not in known]
    differing = {str(key): list(differences(body, live[key])) for key, body in wanted.items()}
    assert not any(differing.values()), {key: found for key, found in differing.items() if found}
    ledger = site.ledger()
    newest = ledger.newest
    assert newest is not None
    assert newest.state is GenerationState.IN_SERVICE
    assert newest.revision == site.head
    assert sorted(ledger.entries) == sorted(wanted)
    assert (ledger.holds, ledger.intent) == ({}, None)
    assert {g.state for g in ledger.generations if g is not newest} <= {GenerationState.ABSENT}


def assert_gone(site: Site, old: Files, new: Files) -> None:
    """None of the objects that only the old release has is there, and its namespace is gone."""
    api, resources = site.cluster.api, site.cluster.resources
    only_old = bodies(old).keys() - bodies(new).keys()
    assert only_old
    for key in sorted(only_old):
        body = bodies(old)[key]
        resource = resources.of_object(body)
        assert api.find(resource.path(key.name, key.namespace or None)) is None, str(key)


def assert_absent(site: Site, files: Files) -> None:
    """None of the release is there, nor anything else under the set's label, nor its ledger."""
    api, resources = site.cluster.api, site.cluster.resources
    assert [str(id_of(body)) for body in members(site)] == []
    for key, body in bodies(files).items():
        assert api.find(resources.of_object(body).path(key.name, key.namespace or None)) is None, str(key)
    ledger = site.ledger()
    assert (ledger.generations, dict(ledger.entries), ledger.intent) == ((), {}, None)


def members(site: Site) -> Iterator[Body]:
    """Every live object of any kind that carries the set's label."""
    api = site.cluster.api
    for resource in all_resources(api):
        if resource.kind in {"Endpoints", "EndpointSlice"}:
            continue  # their controllers copy the labels of the Service
        found = api.get(f"{resource.collection()}?labelSelector={SET_LABEL}%3D{site.set_name}")["items"]
        yield from ({**body, "apiVersion": resource.api_version, "kind": resource.kind} for body in found)


def differences(wanted: Any, live: Any, path: str = "") -> Iterator[str]:
    """Where a live object lacks something of its manifest, or has something else there.

    Fields that only live has are defaults and others' work; lists are as long as Git says.
    """
    if isinstance(wanted, dict) and isinstance(live, dict):
        for key, value in wanted.items():
            if key in live:
                yield from differences(value, live[key], f"{path}.{key}")
            else:
                yield f"{path}.{key} is missing"
    elif isinstance(wanted, list) and isinstance(live, list) and len(wanted) == len(live):
        for index, (one, other) in enumerate(zip(wanted, live, strict=True)):
            yield from differences(one, other, f"{path}[{index}]")
    elif wanted != live:
        yield f"{path}: {live!r}, not {wanted!r}"
