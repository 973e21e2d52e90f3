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
from agent.core.serving import Path
from agent.core.states import SERVICE
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
