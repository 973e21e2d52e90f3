"""The promise's invariant about being let in: a pod that something is sent to can be entered by somebody."""

from __future__ import annotations

from collections.abc import Iterator

from agent.core.invariant import Invariant, Judgement
from agent.core.model import Body, ObjectId
from agent.core.network import NETWORK_POLICY, Door, doors, is_shut
from agent.core.states import Move, State
from agent.core.uses import runs


class PodsCanBeEntered(Invariant):
    """No change of NetworkPolicies shuts a ready endpoint off from everybody that was open at the start.

    One that came later counts where the policies of the start would have let somebody in. Nothing that a
    rehearsal or a recording sees tells whether a network obeys them: this goes by their word.
    """

    name = "entry"

    def start(self, state: State) -> None:
        """The policies that stood before the handoff."""
        self._first: dict[ObjectId, Body] = dict(_policies(state))

    def judge(self, move: Move, state: State) -> Iterator[Judgement]:
        """The doors in the policy's namespace that it shuts."""
        event = move.event
        if event.id.group_kind != NETWORK_POLICY:
            return
        others = [body for oid, body in _policies(state) if oid != event.id]
        before, after = ([*others, *([body] if body else [])] for body in (move.before, event.body))
        first = self._first.values()
        told = set()
        for door, pod in self._doors(event.id.namespace, state):
            subject = f"{door.service} [to port {door.port}/{door.protocol}]"
            was_open = not is_shut(door, pod, before) and not is_shut(door, pod, first)
            if subject not in told and was_open and is_shut(door, pod, after):
                told.add(subject)
                yield Judgement(subject, f"no policy lets anybody in to {door.pod} any more", lasts=False)

    def _doors(self, namespace: str, state: State) -> Iterator[tuple[Door, Body]]:
        interrupted = {path.pointer for path in self.court.terms.interrupted}
        for pod in sorted(state.pods_in(namespace)):
            body = state.get(pod)
            if body is None or not runs(body) or state.is_going(pod):
                continue
            for service in sorted(state.services_with(pod) - interrupted):
                yield from ((d, body) for d in doors(service, state.slices_of(service)) if d.pod == pod)


def _policies(state: State) -> Iterator[tuple[ObjectId, Body]]:
    return ((oid, body) for oid, body in state.items() if oid.group_kind == NETWORK_POLICY)
