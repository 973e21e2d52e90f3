"""What is asked while an upgrade goes on, and which paths an announced downtime takes with it.

Every Service and aggregated API that both releases have is asked through the API server, which sends the
request to an endpoint that is ready, and answers 503 where there is none. What stands behind answers all
alike (tests/corpus_live/backends.py): a sample tells of the pointer, the port and the endpoints. Webhooks
and conversions are left to the recorded states: no request that passes them has an answer that is right for
both releases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from agent.core.absence import APISERVICE
from agent.core.model import Body, ObjectId
from agent.core.serving import Path, Routes
from agent.core.states import SERVICE
from agent.core.workloads import labels_of_template
from tests.rig.api import Api, ApiError
from tests.rig.sampler import Probe

Objects = Mapping[ObjectId, Body]


def probes(api: Api, old: Objects, new: Objects) -> tuple[Probe, ...]:
    """A probe of every Service port and aggregated API of both releases that answers now."""
    both = ((key, old[key], new[key]) for key in sorted(old.keys() & new.keys()))
    places = [(f"{key} {path}", path) for key, *bodies in both for path in _places(key, *bodies)]
    return tuple(Probe(name, api.server + path) for name, path in places if _answers(api, path))


def _places(key: ObjectId, old: Body, new: Body) -> Iterator[str]:
    if key.group_kind == SERVICE:
        ports = [{port["port"] for port in body["spec"].get("ports") or ()} for body in (old, new)]
        for port in sorted(set.intersection(*ports)):
            yield f"/api/v1/namespaces/{key.namespace}/services/https:{key.name}:{port}/proxy/"
    elif key.group_kind == APISERVICE and all(body["spec"].get("service") for body in (old, new)):
        yield f"/apis/{new['spec']['group']}/{new['spec']['version']}"


def _answers(api: Api, path: str) -> bool:
    try:
        api.get(path)
    except ApiError:
        return False
    return True


def told_of(asked: Iterable[Probe], paths: Iterable[Path]) -> frozenset[str]:
    """The names of the probes that ask through one of these paths' pointers."""
    pointers = {str(path.pointer) for path in paths}
    return frozenset(one.name for one in asked if one.name.rpartition(" ")[0] in pointers)


def carried_by(workloads: Iterable[ObjectId], releases: tuple[Objects, ...], routes: Routes) -> set[Path]:
    """The paths through the Services of these workloads: what their downtime interrupts."""
    services = {
        service
        for objects in releases
        for workload in workloads
        if workload in objects
        for service in _selecting(objects, workload, routes)
    }
    return {
        path
        for objects in releases
        for key, body in objects.items()
        for path, target in routes.of(key, body).items()
        if target is not None and target.id in services
    }


def _selecting(objects: Objects, workload: ObjectId, routes: Routes) -> Iterator[ObjectId]:
    labels = labels_of_template(routes.policy, objects[workload])
    for key, body in objects.items():
        selector = (body.get("spec") or {}).get("selector") if key.group_kind == SERVICE else None
        if selector and key.namespace == workload.namespace and selector.items() <= labels.items():
            yield key
