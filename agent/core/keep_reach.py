"""The promise's invariant about NetworkPolicies: whom a policy let in (or out) by name stays let.

Kubernetes, "Network Policies": policies add up; a pod that none selects for a direction is open to all; one
that some select may do what the rules of these say. Only explicit permission is held to: that a pod is
isolated for the first time is the release's word, and nothing tells which of its open ways were in use.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from typing import Any, Final, NamedTuple

from agent.core.invariant import Invariant, Judgement
from agent.core.model import Body, ObjectId
from agent.core.network import NETWORK_POLICY, selecting
from agent.core.simulation.selectors import selects
from agent.core.states import NAMESPACE, POD, Move, State
from agent.core.uses import runs, template_of

_DIRECTIONS: Final = {"Ingress": ("ingress", "from"), "Egress": ("egress", "to")}
_EVERYBODY: Final = "everybody"


class Permit(NamedTuple):
    """One peer and one port of a rule, as JSON; empty for every peer or every port."""

    namespace: str
    peer: str
    port: str


class Way(NamedTuple):
    """A permit that a pod had for another (None: for everybody), in one direction."""

    pod: ObjectId
    other: ObjectId | None
    direction: str
    permit: Permit

    def __str__(self) -> str:
        """``Pod shop/db Ingress Pod shop/web {"port": 5432}``."""
        return f"{self.pod} {self.direction} {self.other or _EVERYBODY} {self.permit.port or 'any port'}"


class PodsKeepTheirReach(Invariant):
    """A pod of the old release that policies let in or out by name is let for as long as it runs."""

    name = "reach"

    def start(self, state: State) -> None:
        """The templates that run now are the old ones, and they are held to what policies permit now."""
        self._at_start = frozenset(permit for _, body in _policies(state) for permit in _all_permits(body))
        self._old: dict[str, bool] = {template_of(state.get(pod) or {}): True for pod in state.pods()}
        self._open: dict[Way, bool] = {}

    def judge(self, move: Move, state: State) -> Iterator[Judgement]:
        """The ways that a policy's change took, and what became of those taken before."""
        event = move.event
        if event.id.group_kind == NETWORK_POLICY:
            self._open.update(dict.fromkeys(self._taken(move, state), True))
        elif event.id.group_kind not in (POD, NAMESPACE) or not self._open:
            return
        for way in sorted(self._open, key=str):
            if self._is_held(way, state) and not _is_given(way, state):
                yield Judgement(str(way), "no policy allows it any more")
            else:
                del self._open[way]
                yield Judgement(str(way), "")

    def _taken(self, move: Move, state: State) -> Iterator[Way]:
        event = move.event
        if move.before is None or _takes_nothing(move.before, event.body):
            return
        others = [body for oid, body in _policies(state) if oid != event.id]
        before, after = (
            [*others, body] if body is not None else others for body in (move.before, event.body)
        )
        for pod in state.pods_in(event.id.namespace):
            for direction in _DIRECTIONS:
                had, now = (_permits(pod, direction, policies, state) for policies in (before, after))
                if had is not None and now is not None:
                    for permit in (had - now) & self._at_start:
                        yield from self._ways(pod, direction, permit, state)

    def _ways(self, pod: ObjectId, direction: str, permit: Permit, state: State) -> Iterator[Way]:
        others: list[ObjectId | None] = [None] if not permit.peer else []
        if permit.peer:
            others += [other for other in state.pods() if other != pod and _matches(permit, other, state)]
        for other in others:
            way = Way(pod, other, direction, permit)
            if self._is_held(way, state) and not _is_given(way, state):
                yield way

    def _is_held(self, way: Way, state: State) -> bool:
        pods = [pod for pod in (way.pod, way.other) if pod is not None]
        bodies = [state.get(pod) for pod in pods]
        if any(body is None or not runs(body) for body in bodies) or any(map(state.is_going, pods)):
            return False
        return any(
            template_of(body or {}) in self._old and state.workload_of(pod) not in self.court.terms.unchanged
            for pod, body in zip(pods, bodies, strict=True)
        )


def _takes_nothing(before: Body, after: Body | None) -> bool:
    """Whether a policy's change leaves every pod at least what this policy allowed it."""
    if after is None:
        return False
    same = ("podSelector", "policyTypes")
    specs = [body.get("spec") or {} for body in (before, after)]
    is_for_the_same = all(specs[0].get(key) == specs[1].get(key) for key in same)
    return is_for_the_same and all(
        set(_of(before, direction)) <= set(_of(after, direction)) for direction in _DIRECTIONS
    )


def _policies(state: State) -> Iterator[tuple[ObjectId, Body]]:
    return ((oid, body) for oid, body in state.items() if oid.group_kind == NETWORK_POLICY)


def _permits(pod: ObjectId, direction: str, policies: list[Body], state: State) -> frozenset[Permit] | None:
    """What policies allow the pod in a direction; None where none selects it, so that all is allowed."""
    meant = selecting(policies, state.get(pod) or {"metadata": {}}, direction)
    return frozenset(permit for policy in meant for permit in _of(policy, direction)) if meant else None


def _all_permits(policy: Body) -> Iterator[Permit]:
    return (permit for direction in _DIRECTIONS for permit in _of(policy, direction))


def _of(policy: Body, direction: str) -> Iterator[Permit]:
    namespace = str(policy["metadata"].get("namespace", ""))
    rules, peers = _DIRECTIONS[direction]
    for rule in (policy.get("spec") or {}).get(rules) or ():
        for peer in rule.get(peers) or ("",):
            for port in rule.get("ports") or ("",):
                yield Permit(namespace, _text(peer), _text(port))


def _is_given(way: Way, state: State) -> bool:
    now = _permits(way.pod, way.direction, [body for _, body in _policies(state)], state)
    if now is None:
        return True
    for permit in now:
        is_for = not permit.peer or (way.other is not None and _matches(permit, way.other, state))
        is_for = is_for or permit.peer == way.permit.peer
        if is_for and permit.port in ("", way.permit.port):
            return True
    return False


def _matches(permit: Permit, pod: ObjectId, state: State) -> bool:
    """Whether a rule's peer means this pod."""
    peer: Body = json.loads(permit.peer)
    block = peer.get("ipBlock")
    if block:
        address = ((state.get(pod) or {}).get("status") or {}).get("podIP")
        return bool(address) and _is_in(str(address), block)
    spaces = peer.get("namespaceSelector")
    if spaces is None and pod.namespace != permit.namespace:
        return False
    if spaces is not None and not selects(spaces, _labels(ObjectId(*NAMESPACE, "", pod.namespace), state)):
        return False
    return selects(peer.get("podSelector") or {}, _labels(pod, state))


def _is_in(address: str, block: Body) -> bool:
    here = ip_address(address)
    excepted = block.get("except") or ()
    return here in ip_network(block["cidr"]) and not any(here in ip_network(one) for one in excepted)


def _labels(object_id: ObjectId, state: State) -> dict[str, str]:
    labels: dict[str, str] = ((state.get(object_id) or {}).get("metadata") or {}).get("labels") or {}
    return labels


def _text(part: Any) -> str:
    return json.dumps(part, sort_keys=True) if part else ""
