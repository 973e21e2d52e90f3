"""One upgrade: from a release in service to another one, recorded from its first write to its last."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agent.core.kinds import crd_kinds
from agent.core.ledger import GenerationState
from agent.core.model import SET_LABEL, Body, ObjectId
from agent.core.promise import Verdict
from agent.core.serving import Routes
from agent.core.steps import NEEDS_A_PERSON, Plan, Step
from agent.core.terms import Terms
from agent.shell.kube import connect
from agent.shell.recorder import Recorder, kinds_to_record
from agent.shell.recording import judge
from tests.corpus import releases
from tests.corpus_live.install import NOT_OURS_TO_SOLVE, Install, is_refusal, reasons
from tests.rig.cluster import Cluster
from tests.rig.resources import all_resources

WITHIN = 120.0
PAUSE = 0.3
CONNECTIONS = 60
ALLOWED = ("Namespace", "CustomResourceDefinition", "PersistentVolumeClaim")
"""What a person has said may go: else every upgrade that drops one would end with it held."""


@dataclass(frozen=True)
class Came:
    """What an upgrade came to. ``held`` are the steps that only a person can let go, with the reason."""

    verdict: Verdict
    held: tuple[str, ...]
    leftovers: tuple[str, ...]
    seconds: float

    @property
    def is_whole(self) -> bool:
        """Whether it came to its end."""
        return not self.held


class Handoff(Install):
    """A set that goes from version to version."""

    def __init__(self, cluster: Cluster, folder: Path, project: str, version: str) -> None:
        words = {"prune": {"allow": list(ALLOWED), "budget": {"count": 500}}, "settle": "1s"}
        super().__init__(cluster, folder, project, version, words)
        self.make_namespaces()
        self.commit = self.rewrite(self._served(version))

    def _served(self, version: str) -> dict[ObjectId, Body]:
        """The release without what no server of today serves, and custom objects of kinds that go with it."""
        bodies = {key: m.body for key, m in releases.release(self.project, version).manifests.items()}
        own = crd_kinds(body for body in bodies.values() if self._is_served(body))
        return {key: b for key, b in bodies.items() if self._is_served(b) or key.group_kind in own}

    def _is_served(self, body: Body) -> bool:
        try:
            return bool(self.cluster.resources.of_object(body))
        except LookupError:
            return False

    def go_to(self, version: str) -> Came:
        """Commit the version and sync it, recorded; TimeoutError names what neither time nor person opens."""
        before = self.wanted()
        self.version = version
        self.make_namespaces()
        self.commit = self.rewrite(self._served(version))
        own = connect(str(self.cluster.kubeconfig), pool_size=CONNECTIONS)
        began = time.monotonic()
        with Recorder(own, kinds_to_record(own.discover(), self.tools.policy)) as recorder:
            plan = self._to_the_end()
        seconds = time.monotonic() - began
        recording = recorder.recording()
        own.close()
        routes = Routes(self.tools.policy, self.tools.health)
        verdict = judge(recording, routes, Terms.between(before, self.wanted(), routes))
        held = tuple(f"{step.key}: {reasons(step)}" for step in plan.steps if _needs_a_person(step))
        leftovers = () if held else tuple(self._leftovers())
        return Came(verdict, held, leftovers, seconds)

    def _to_the_end(self) -> Plan:
        """Tick until in service, or until nothing but a person's word is waited for."""
        deadline = time.monotonic() + WITHIN
        seen = ""
        while True:
            report = self.syncer.tick()
            plan = report.plan or self.syncer.plan()
            newest = report.ledger.newest
            if newest is not None and newest.state is GenerationState.IN_SERVICE and not plan.steps:
                return plan
            failed = {o.step.key: o.error for o in report.outcomes if o.error}
            now = "\n".join(f"{step.key}: {reasons(step) or failed.get(step.key, '')}" for step in plan.steps)
            if now == seen and any(_is_lasting(step, failed) for step in plan.steps):
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


def _needs_a_person(step: Step) -> bool:
    """Or never comes: a kind that the server does not serve, a document that names no object."""
    return any(gate.name in NEEDS_A_PERSON | NOT_OURS_TO_SOLVE for gate in step.closed_gates)
