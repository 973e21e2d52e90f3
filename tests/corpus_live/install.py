"""One release of the corpus in a cluster: its repo, its set, its plan, and what the server did not take."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.build import source_of, syncer_of, tools_of
from agent.core.intents import Outcome
from agent.core.kinds import KindInfo, Kinds
from agent.core.model import Action, Body, LiveObject, ObjectId
from agent.core.steps import Plan, Step, Verb
from agent.settings import settings_of
from agent.shell.report import State
from agent.shell.tick import Syncer
from tests.corpus import releases
from tests.rig.cluster import Cluster
from tests.shell.gitrepos import GitRepo

PAUSE = 0.3
NOT_THERE = "not there yet"
WITHIN = 90.0
FOLDER = "release"
NOT_OURS_TO_SOLVE = frozenset({"served", "housed", "complete", "accepted", "in-place"})
"""Gates that hold what the server does not take at all; nothing that waiting would open."""


@dataclass
class Install:
    """A set whose repo holds one release; ``words`` are more keys of the set."""

    cluster: Cluster
    folder: Path
    project: str
    version: str
    words: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.outcomes: list[Outcome] = []
        self.repo = GitRepo(self.folder / "repo")
        found = releases.files_of(self.project, self.version)
        files = {f"{FOLDER}/{name}": path.read_bytes() for name, path in found.items()}
        self.commit = self.repo.commit(files)
        self.syncer = self.restarted()

    def restarted(self) -> Syncer:
        """A syncer that knows nothing yet, as in a new process."""
        settings = settings_of(self.raw, self.folder / "trapeze.yaml", self.folder)
        config = settings.set_named(self.project)
        self.tools, self.source = tools_of(settings), source_of(settings, config)
        return syncer_of(settings, config, self.tools, self.outcomes.append)

    @property
    def raw(self) -> dict[str, Any]:
        """What stands in the set's trapeze.yaml."""
        one = {"name": self.project, "repo": "repo", "ref": "main", "path": FOLDER, "settle": "0s"}
        return {
            "kubeconfig": str(self.cluster.kubeconfig),
            "cache_dir": "cache",
            "sets": [{**one, "namespace": releases.NAMESPACE, **self.words}],
        }

    @property
    def manager(self) -> str:
        """The field manager of the set."""
        return f"trapeze/{self.project}"

    def make_namespaces(self) -> None:
        """The namespaces that the release takes for granted."""
        wanted = releases.release(self.project, self.version).manifests
        own = {key.name for key in wanted if key.kind == "Namespace"}
        for name in sorted({key.namespace for key in wanted if key.namespace} - own):
            if self.cluster.api.find(f"/api/v1/namespaces/{name}") is None:
                body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
                self.cluster.api.create("/api/v1/namespaces", body)

    def sync(self, within: float = WITHIN) -> Plan:
        """Tick until nothing is left but what the server does not take; TimeoutError names what holds."""
        deadline = time.monotonic() + within
        while True:
            report = self.syncer.tick()
            plan = report.plan
            if plan is None or report.state is State.IN_SERVICE:
                return plan or self.syncer.plan()
            waiting = list(self._waiting(plan, report.outcomes))
            if not waiting:
                return plan
            if time.monotonic() > deadline:
                raise TimeoutError(f"not within {within:g} s:\n" + "\n".join(waiting))
            time.sleep(PAUSE)

    def _waiting(self, plan: Plan, outcomes: tuple[Outcome, ...]) -> Iterator[str]:
        """Steps that more time would carry out, and handover gates that it would open, in words."""
        refused = {outcome.step.key: outcome.error for outcome in outcomes if is_refusal(outcome.error)}
        for step in plan.steps:
            is_lasting = any(gate.name in NOT_OURS_TO_SOLVE for gate in step.closed_gates)
            needs_refused = any(f"{key} is pending" in reasons(step) for key in refused)
            if not is_lasting and not needs_refused and step.key not in refused:
                yield f"{step.key}: {reasons(step)}"
        # What the server does not take is never there; what is there must come to be ready all the same.
        is_short = any(step.verb is Verb.CREATE for step in plan.steps)
        closed = (g for g in plan.handover if not g.is_open and g.name in {"ready", "settled"})
        for one in closed:
            _, is_absence, rest = one.reason.partition(NOT_THERE)
            if not (is_short and is_absence) or "), " in rest:
                yield f"{one.name}: {one.reason}"

    def refused(self, plan: Plan) -> dict[ObjectId, str]:
        """What the server did not take of the release, and its word."""
        said = {outcome.step.key: outcome.error for outcome in self.outcomes if outcome.error}
        return {
            step.id: reasons(step) or said.get(step.key, "")
            for step in plan.steps
            if step.verb is Verb.CREATE and (not step.is_open or is_refusal(said.get(step.key, "")))
        }

    def members(self) -> dict[ObjectId, LiveObject]:
        """The live objects of the release, read with another client than the agent's."""
        found = {}
        for key, manifest in self.wanted().items():
            body = self.get(key, manifest)
            if body is not None:
                found[key] = LiveObject(key, body)
        return found

    def wanted(self) -> dict[ObjectId, Body]:
        """The bodies of the release by identity, as the agent reads them."""
        desired = self.source.desired(self.commit, self._kinds())
        return {key: manifest.body for key, manifest in desired.manifests.items()}

    def _kinds(self) -> Kinds:
        served = self.tools.cluster.discover().resources.values()
        return self.tools.kinds.extended({r.kind: KindInfo(r.plural, r.is_namespaced) for r in served})

    def rewrite(self, bodies: Mapping[ObjectId, Body]) -> str:
        """Commit these objects as the whole release, in one file; the commit."""
        for path in sorted((self.repo.folder / FOLDER).rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        text = "".join(f"---\n{json.dumps(body)}\n" for body in bodies.values())
        return self.repo.commit({f"{FOLDER}/all.yaml": text})

    def get(self, key: ObjectId, body: Body) -> Body | None:
        """The live object of a manifest."""
        try:
            live: Body | None = self.cluster.api.find(self.path(key, body))
        except LookupError:
            return None
        return live

    def path(self, key: ObjectId, body: Body) -> str:
        """The API path of an object, in the version that ``body`` is written in; LookupError without one."""
        resource = self.cluster.resources.of(body["apiVersion"], body["kind"])
        return resource.path(key.name, key.namespace or None)


def is_refusal(error: str) -> bool:
    """Whether an outcome's error is the server's no, for good."""
    return any(word in error for word in ("is invalid:", "could not find the requested resource"))


def reasons(step: Step) -> str:
    """What holds a step, in words."""
    return "; ".join(f"{gate.name}: {gate.reason}" for gate in step.closed_gates)


def differences(plan: Plan) -> list[str]:
    """Every change of a plan but the creates, field by field."""
    return [
        f"{change.action.value} {change.id}: {one}"
        for change in plan.changes
        if change.action is not Action.CREATE
        for one in (change.fields or (change.reason,))
    ]
