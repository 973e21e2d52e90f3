"""The promise's invariants about objects: what running pods use, what is foreign, what holds data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from agent.core.invariant import Invariant, Judgement
from agent.core.model import Body, ObjectId
from agent.core.states import NAMESPACE, POD, Move, State, is_deleting, own_managers, uid_of
from agent.core.uses import Use, has_token, lacks, runs, uses_of

_MADE_FOR_A_KIND: Final = "kube-aggregator.kubernetes.io/automanaged"
"""The label of APIServices that come and go with a CustomResourceDefinition of their group."""

_MADE_BY_THE_SYSTEM: Final = frozenset({("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")})
"""In every namespace, made by kube-controller-manager and gone with the namespace."""

_EPHEMERAL: Final = frozenset({"Pod", "EndpointSlice", "Lease", "Event"})
"""Kinds whose objects come and go by themselves."""


class Footing(NamedTuple):
    """What a running pod has found where it needs it: each use with the uid of its object."""

    uid: str
    met: dict[Use, str]


class PodsKeepWhatTheyUse(Invariant):
    """What a running pod has once found stays: ServiceAccount, ConfigMaps, Secrets, claims and their keys.

    A pod that runs shows nothing when its ConfigMap goes; the next one of the same template does not start.
    A ServiceAccount made anew under the same name refuses the tokens of the one before.
    """

    name = "in use"

    def start(self, state: State) -> None:
        """Whatever running pods find now is theirs."""
        self._footing: dict[ObjectId, Footing] = {}
        for pod in state.pods():
            list(self._look(pod, state))

    def judge(self, move: Move, state: State) -> Iterator[Judgement]:
        """The pod that was written, the pods that use what was, the pods of a namespace that goes."""
        event = move.event
        pods = set(state.pods_using(event.id))
        if event.id.group_kind == POD:
            pods.add(event.id)
        elif event.id.group_kind == NAMESPACE:
            pods.update(state.pods_in(event.id.name))
        for pod in sorted(pods):
            yield from self._look(pod, state)

    def _look(self, pod: ObjectId, state: State) -> Iterator[Judgement]:
        body = state.get(pod)
        known = self._footing.get(pod)
        if known is not None and (body is None or uid_of(body) != known.uid):
            del self._footing[pod]
            known = None
        if body is None or not runs(body) or state.is_going(pod):
            yield Judgement(str(pod), "")
            return
        met = dict(known.met) if known is not None else {}
        stories = []
        for use in uses_of(pod, body):
            found = state.get(use.id)
            story = lacks(use, found) or _is_another(use, body, met, found or {})
            if not story:
                met[use] = uid_of(found or {})
            elif use in met:
                stories.append(story)
        self._footing[pod] = Footing(uid_of(body), met)
        yield Judgement(str(pod), "; ".join(stories))


def _is_another(use: Use, pod: Body, met: dict[Use, str], found: Body) -> str:
    if use.id.kind != "ServiceAccount" or met.get(use, uid_of(found)) == uid_of(found) or not has_token(pod):
        return ""
    return f"{use.id} was made anew, which refuses the tokens that the pod holds"


class ForeignObjectsStay(Invariant):
    """What stood at the start and is none of ours is neither deleted nor written by our field managers.

    Not judged: objects with an owner (the owner is), what the system makes and takes away by itself,
    and what the release itself names (``Terms``).
    """

    name = "foreign object"

    def start(self, state: State) -> None:
        """Everything that is not ours, by identity."""
        self._foreign: dict[ObjectId, bool] = {
            object_id: True
            for object_id, body in state.items()
            if not (_comes_and_goes(object_id, body) or state.is_ours(body) or self._is_named(object_id))
        }

    def judge(self, move: Move, state: State) -> Iterator[Judgement]:
        """The object that was written."""
        event = move.event
        del state
        if event.id not in self._foreign or move.before is None:
            return
        if event.body is None:
            del self._foreign[event.id]
            if not _holds_data(self, event.id):
                yield Judgement(str(event.id), "it is foreign and was deleted", lasts=False)
            return
        for manager in sorted(own_managers(event.body) - own_managers(move.before)):
            yield Judgement(str(event.id), f"it is foreign and was written by {manager}", lasts=False)

    def _is_named(self, object_id: ObjectId) -> bool:
        return object_id in self.court.terms.kept or object_id in self.court.terms.retired


def _comes_and_goes(object_id: ObjectId, body: Body) -> bool:
    metadata = body.get("metadata") or {}
    return (
        object_id.kind in _EPHEMERAL
        or (object_id.kind, object_id.name) in _MADE_BY_THE_SYSTEM
        or _MADE_FOR_A_KIND in (metadata.get("labels") or {})
        or bool(metadata.get("ownerReferences"))
    )


class DataStays(Invariant):
    """What takes data or everything inside with it goes only when the release says so.

    The kinds are those that the table ``protection`` lets go with approval only (or never).
    """

    name = "data"

    def start(self, state: State) -> None:
        """What stands and is not going yet."""
        self._held: dict[ObjectId, bool] = {
            object_id: True
            for object_id, body in state.items()
            if _holds_data(self, object_id)
            and object_id not in self.court.terms.retired
            and not (is_deleting(body) or _comes_and_goes(object_id, body))
        }

    def judge(self, move: Move, state: State) -> Iterator[Judgement]:
        """The object that was written, told once: when its deletion begins."""
        event = move.event
        del state
        if event.id in self._held and (event.body is None or is_deleting(event.body)):
            del self._held[event.id]
            # The terms may be others by now: after a revert, what the newer release alone had is given up.
            if event.id not in self.court.terms.retired:
                yield Judgement(str(event.id), "it is being deleted, and no release gave it up", lasts=False)


def _holds_data(invariant: Invariant, object_id: ObjectId) -> bool:
    policy = invariant.court.routes.policy
    return policy.needs_approval(object_id) or policy.never_pruned(object_id)
