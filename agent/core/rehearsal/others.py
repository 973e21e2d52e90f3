"""What a release names and does not make: in a rehearsal somebody else makes it, and the answer says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from agent.core.model import Body, Desired, GroupKind, ObjectId
from agent.core.policy import Policy
from agent.core.references import pod_template
from agent.core.simulation import requests
from agent.core.simulation.draft import Draft
from agent.core.simulation.world import World
from agent.core.uses import uses_of

OTHERS: Final = "somebody-else"
"""The field manager of what is assumed to stand."""

_NAMESPACE: Final = GroupKind("", "Namespace")


class Others(NamedTuple):
    """The world with what somebody else made in it, what ``comes`` with each namespace that is still to come.

    ``assumed`` tells of both, in words.
    """

    world: World
    comes: Mapping[str, Mapping[ObjectId, Body]]
    assumed: tuple[str, ...]


def with_others(
    world: World,
    releases: Iterable[Desired],
    policy: Policy,
    is_absent: Callable[[ObjectId], bool] = lambda _: False,
) -> Others:
    """The world with what the releases' pods and objects name and no manifest makes.

    What ``is_absent`` for sure is not put there. What would stand in a namespace that only comes with the
    upgrade comes a moment after that.
    """
    wanted: dict[ObjectId, Body] = {}
    made = {key for release in releases for key in release.manifests}
    for release in releases:
        for key, manifest in sorted(release.manifests.items()):
            for need, body in needs_of(key, manifest.body, policy):
                if need not in made and world.get(need) is None and not is_absent(need):
                    wanted.setdefault(need, body)
    homes = {"", *(key.name for key in (*world.of(*_NAMESPACE), *wanted) if key.group_kind == _NAMESPACE)}
    comes: dict[str, dict[ObjectId, Body]] = {}
    for key in sorted(wanted.keys()):
        if key.namespace not in homes:
            comes.setdefault(key.namespace, {})[key] = wanted.pop(key)
    told = [f"{key} stands, made by something else" for key in sorted(wanted)]
    told += [
        f"{key} comes with its namespace, made by something else" for one in comes.values() for key in one
    ]
    return Others(with_bare(world, wanted), comes, tuple(told))


def with_bare(world: World, wanted: Mapping[ObjectId, Body]) -> World:
    """The world with these objects of somebody else; no time has passed since."""
    draft = Draft(world)
    for key in sorted(wanted, key=lambda key: (key.group_kind != _NAMESPACE, key)):
        requests.apply(draft, wanted[key], OTHERS)
    return draft.finish()


def needs_of(key: ObjectId, body: Body, policy: Policy) -> Iterator[tuple[ObjectId, Body]]:
    """What an object cannot be without, each in its barest form: its namespace, what its pods mount."""
    if key.namespace:
        yield ObjectId("", "Namespace", "", key.namespace), _bare("Namespace", "", key.namespace)
    template: Mapping[str, Body] | None = pod_template(body, policy)
    if template is None:
        return
    for use in uses_of(key, dict(template)):
        name = use.id.name
        if use.id.kind == "ServiceAccount" and name == "default":
            continue
        bare = _bare(use.id.kind, use.id.namespace, name)
        if use.keys and use.id.kind in ("ConfigMap", "Secret"):
            bare["data"] = dict.fromkeys(sorted(use.keys), "")
        yield use.id, bare


def _bare(kind: str, namespace: str, name: str) -> Body:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    body: Body = {"apiVersion": "v1", "kind": kind, "metadata": metadata}
    if kind == "PersistentVolumeClaim":
        body["spec"] = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return body
