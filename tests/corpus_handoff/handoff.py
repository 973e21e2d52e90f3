"""One upgrade: from a release in service to another one, recorded from its first write to its last."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from agent.core.interruption import carried_by
from agent.core.kinds import crd_kinds
from agent.core.ledger import GenerationState
from agent.core.model import SET_LABEL, Body, ObjectId
from agent.core.prediction import Prediction
from agent.core.promise import Verdict
from agent.core.serving import Routes
from agent.core.steps import NEEDS_A_PERSON, Plan, Step
from agent.core.terms import Terms
from agent.core.waiting import waits_for_a_person
from agent.shell.kube import connect
from agent.shell.recorder import Recorder, kinds_to_record
from agent.shell.recording import judge
from tests.corpus import releases
from tests.corpus_handoff.probes import probes, told_of
from tests.corpus_live.install import NOT_OURS_TO_SOLVE, Install, is_refusal, reasons
from tests.e2e.command import foretold
from tests.rig.cluster import Cluster
from tests.rig.resources import all_resources
from tests.rig.sampler import Result, Sampler

WITHIN = 120.0
PAUSE = 0.3
QUIET = 10.0
"""Seconds without news after which what only a person can open is the end of an upgrade."""
CONNECTIONS = 60
INTERVAL = 0.5
ALLOWED = ("Namespace", "CustomResourceDefinition", "PersistentVolumeClaim")
"""What a person has said may go: else every upgrade that drops one would end with it held."""

SAME_FORM = {
    "apps/v1beta2": "apps/v1",
    "autoscaling/v2beta2": "autoscaling/v2",
    "policy/v1beta1": "policy/v1",
    "rbac.authorization.k8s.io/v1beta1": "rbac.authorization.k8s.io/v1",
}
"""Versions that are served no more, and those that took their fields over as they were."""


@dataclass(frozen=True)
class Came:
    """What an upgrade came to.

    ``held`` are the steps that only a person can let go, with the reason; ``allowed`` the objects whose
    downtime the plan announced, and a person allowed. ``verdict`` forgives what that interrupts,
    ``interrupted`` counts the states in which it was. ``samples`` are of requests sent meanwhile,
    ``announced`` the names of those that the downtime may cost. ``foretold`` is what a rehearsal says of it.
    """

    verdict: Verdict
    foretold: Prediction
    interrupted: int
    samples: Result
    announced: frozenset[str]
    allowed: tuple[str, ...]
    held: tuple[str, ...]
    leftovers: tuple[str, ...]
    seconds: float

    @property
    def lost(self) -> list[str]:
        """Requests without a right answer that no announced downtime explains."""
        losses = (one for one in self.samples.losses if one.probe not in self.announced)
        return [f"{one.probe}: {one.lost}" for one in losses]


class Handoff(Install):
    """A set that goes from version to version."""

    def __init__(self, cluster: Cluster, folder: Path, project: str, version: str) -> None:
        words = {"prune": {"allow": list(ALLOWED), "budget": {"count": 500}}, "settle": "1s"}
        super().__init__(cluster, folder, project, version, words)
        self.make_namespaces()
        self.commit = self.rewrite(self._served(version))

    def _served(self, version: str) -> dict[ObjectId, Body]:
        """The release without what no server of today serves, and custom objects of kinds that go with it."""
        manifests = releases.release(self.project, version).manifests
        bodies = {key: self._as_of_today(m.body) for key, m in manifests.items()}
        own = crd_kinds(body for body in bodies.values() if self._is_served(body))
        return {key: b for key, b in bodies.items() if self._is_served(b) or key.group_kind in own}

    def _as_of_today(self, body: Body) -> Body:
        today = {**body, "apiVersion": SAME_FORM.get(body["apiVersion"], body["apiVersion"])}
        return today if self._is_served(today) else body

    def _is_served(self, body: Body) -> bool:
        try:
            return bool(self.cluster.resources.of_object(body))
        except LookupError:
            return False

    def go_to(self, version: str, first: Callable[[], object] = lambda: None) -> Came:
        """Commit the version and sync it, recorded; TimeoutError names what neither time nor person opens.

        ``first`` is done in the recording, before the sync.
        """
        before, base = self.wanted(), self.commit
        self.version = version
        self.make_namespaces()
        coming = self._served(version)
        self.commit = self.rewrite(coming)
        routes = Routes(self.tools.policy, self.tools.health)
        own = connect(str(self.cluster.kubeconfig), pool_size=CONNECTIONS)
        asked = probes(self.cluster.api, before, coming)
        sampler = self.cluster.sampling(*asked, interval=INTERVAL) if asked else nullcontext()
        began = time.monotonic()
        kinds = kinds_to_record(own.discover(), self.tools.policy)
        with Recorder(own, kinds) as recorder, sampler:
            first()
            plan, allowed = self._with_what_is_announced()
        seconds = time.monotonic() - began
        recording = recorder.recording()
        own.close()
        terms = Terms.between(before, self.wanted(), routes)
        paths = carried_by(allowed, (before, self.wanted()), routes)
        forgiving = replace(terms, interrupted=terms.interrupted | paths)
        held = tuple(f"{step.key}: {reasons(step)}" for step in plan.steps if _needs_a_person(step))
        return Came(
            verdict=judge(recording, routes, forgiving),
            foretold=self._foretold(base),
            interrupted=judge(recording, routes, terms).broken_states if paths else 0,
            samples=sampler.result if isinstance(sampler, Sampler) else Result((), ()),
            announced=told_of(asked, paths),
            allowed=tuple(map(str, sorted(allowed))),
            held=held,
            leftovers=() if held else tuple(self._leftovers()),
            seconds=seconds,
        )

    def _foretold(self, base: str) -> Prediction:
        """What `trapeze rehearse` says of the way from ``base``, as far as a plain history goes."""
        config = self.folder / "trapeze.yaml"
        config.write_text(json.dumps(self.raw))
        return foretold(config, base, self.commit, "--seconds", "600", timeout=900)

    def _with_what_is_announced(self) -> tuple[Plan, frozenset[ObjectId]]:
        """To the end, with every downtime allowed that the plan asks a person for; of which objects."""
        allowed: frozenset[ObjectId] = frozenset()
        while True:
            self.words = {**self.words, "allow_downtime": sorted(map(str, allowed))}
            self.syncer = self.restarted()
            plan = self._to_the_end()
            more = _downtime_asked(plan) - allowed
            if not more:
                return plan, allowed
            allowed |= more

    def _to_the_end(self) -> Plan:
        """Tick until in service, or until nothing but a person's word is waited for."""
        deadline = time.monotonic() + WITHIN
        seen, since = "", time.monotonic()
        while True:
            report = self.syncer.tick()
            plan = report.plan or self.syncer.plan()
            newest = report.ledger.newest
            if newest is not None and newest.state is GenerationState.IN_SERVICE and not plan.steps:
                return plan
            failed = {o.step.key: o.error for o in report.outcomes if o.error}
            now = "\n".join(f"{step.key}: {reasons(step) or failed.get(step.key, '')}" for step in plan.steps)
            since = since if now == seen else time.monotonic()
            is_quiet = time.monotonic() - since > QUIET
            if waits_for_a_person(plan) or (is_quiet and any(_is_lasting(s, failed) for s in plan.steps)):
                return plan
            if time.monotonic() > deadline:
                closed = [gate.reason for gate in plan.handover if not gate.is_open]
                raise TimeoutError(f"not within {WITHIN:g} s:\n{now}\n{closed}")
            seen = now
            time.sleep(PAUSE)

    def _leftovers(self) -> list[str]:
        """Objects with the set's label that the release in service does not name."""
        wanted = self.wanted()
        found = []
        for resource in all_resources(self.cluster.api):
            if resource.kind in {"Endpoints", "EndpointSlice"}:
                continue  # their controllers copy the labels of the Service
            query = f"{resource.collection()}?labelSelector={SET_LABEL}%3D{self.project}"
            for body in self.cluster.api.get(query)["items"]:
                group = resource.api_version.rpartition("/")[0]
                metadata = body["metadata"]
                key = ObjectId(group, resource.kind, metadata.get("namespace", ""), metadata["name"])
                if key not in wanted:
                    found.append(str(key))
        return found


def _is_lasting(step: Step, failed: Mapping[str, str]) -> bool:
    return _needs_a_person(step) or is_refusal(failed.get(step.key, ""))


def _downtime_asked(plan: Plan) -> frozenset[ObjectId]:
    """The objects that wait for a person to allow their downtime."""
    waiting = (step for step in plan.steps if f"allow_downtime: [{step.id}]" in reasons(step))
    return frozenset(step.id for step in waiting)


def _needs_a_person(step: Step) -> bool:
    """Or never comes: a kind that the server does not serve, a document that names no object."""
    return any(gate.name in NEEDS_A_PERSON | NOT_OURS_TO_SOLVE for gate in step.closed_gates)
