"""Hooks, deadlines and absent sets on the real server, also through killed processes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.core.acts import ActKind
from agent.core.ledger import GenerationState
from agent.core.model import SET_LABEL
from agent.shell.report import Report, State
from tests.e2e.mortal import killed_until_the_end, twice
from tests.e2e.objects import is_ready
from tests.e2e.releases import Files
from tests.e2e.site import Site
from tests.e2e.upgrade import SETTLE
from tests.rig.cluster import Cluster
from tests.rig.resources import all_resources
from tests.shell.releases import CONFIG, ingress, namespace, web
from tests.shell.test_hooks import HOOK

BLUE = {"a.yaml": namespace("front"), "b.yaml": web("blue"), "c.yaml": ingress("front/blue")}
GREEN = {"a.yaml": namespace("front"), "b.yaml": web("green"), "c.yaml": ingress("front/green")}
NEVER = {
    name: text.replace("standin.dev/ready-after: '1'", "standin.dev/never-ready: 'true'")
    for name, text in GREEN.items()
}
ALLOW = {"allow": ["Namespace front"]}
MIGRATE = (HOOK % ("before Deployment front/blue", "keep", "%s")).replace(
    "namespace: default", "namespace: front"
)


def site_of(cluster: Cluster, folder: Path, files: Files, **words: object) -> Site:
    """A set called ``shop`` with a first release in service."""
    site = Site(cluster, folder, "shop", settle=SETTLE, prune=ALLOW, **words)
    site.start(files)
    return site


def done(site: Site) -> list[str]:
    """The keys of what was written, in order."""
    return [outcome.step.key for outcome in site.outcomes if not outcome.error]


def says(words: str) -> Callable[[Report], bool]:
    """Whether a report holds a step with these words in a reason."""
    return lambda report: (
        report.plan is not None
        and any(words in gate.reason for step in report.plan.held_steps for gate in step.closed_gates)
    )


@pytest.mark.cluster
def test_a_migration_that_fails_holds_its_rollout_and_a_mended_one_lets_it_go(
    cluster: Cluster, tmp_path: Path
) -> None:
    site = site_of(cluster, tmp_path, BLUE)
    rolled = {**BLUE, "b.yaml": BLUE["b.yaml"].replace("standin/http:1", "standin/http:2")}
    site.commit({**rolled, "h.yaml": MIGRATE % 3}, "with a migration")
    report = site.tick_until(says("BackoffLimitExceeded"))
    assert report.plan is not None
    assert report.plan.needs_a_person
    assert not [key for key in done(site) if key == "update Deployment front/blue"]
    site.commit({**rolled, "h.yaml": MIGRATE % 0}, "with a mended migration")
    site.sync()
    migrated = [key for key in done(site) if "Job front/migrate" in key]
    assert [key.partition("-g")[0] for key in migrated[:2]] == ["create Job front/migrate"] * 2
    written = done(site)
    assert written.index(migrated[1]) < written.index("update Deployment front/blue")
    live = cluster.get("apps/v1", "Deployment", "blue", "front")
    assert live is not None
    assert live["spec"]["template"]["spec"]["containers"][0]["image"] == "standin/http:2"


@pytest.mark.cluster
def test_after_its_deadline_a_handoff_goes_back_to_the_generation_in_service(
    cluster: Cluster, tmp_path: Path
) -> None:
    site = site_of(cluster, tmp_path, BLUE, deadline="6s", after_deadline="revert")
    site.commit(NEVER, "a release that never comes up")
    site.tick_until(lambda _: bool(site.ledger().acts))
    (act,) = site.ledger().acts
    assert (act.kind, act.generation) == (ActKind.ABORT, 1)
    assert "deadline" in act.reason
    site.sync()
    assert [(one.number, one.state) for one in site.ledger().generations if one.served][-1:] == [
        (1, GenerationState.IN_SERVICE)
    ]
    assert cluster.get("apps/v1", "Deployment", "green", "front") is None
    assert len(list(filter(is_ready, cluster.pods("front", "app=blue")))) == 2


@pytest.mark.cluster
def test_a_handoff_past_its_deadline_that_may_wait_says_so_and_goes_on(
    cluster: Cluster, tmp_path: Path
) -> None:
    site = site_of(cluster, tmp_path, BLUE, deadline="3s")
    site.commit(NEVER, "a release that is late")
    report = site.tick_until(lambda one: one.plan is not None and "deadline" in str(one.plan.warnings))
    assert report.state is State.HELD
    for pod in cluster.pods("front", "app=green"):
        path = f"/api/v1/namespaces/front/pods/{pod['metadata']['name']}"
        cluster.api.patch(path, {"metadata": {"annotations": {"standin.dev/never-ready": None}}})
    site.sync()
    assert all(map(is_ready, cluster.pods("front", "app=green")))
    assert cluster.get("apps/v1", "Deployment", "blue", "front") is None


def left(cluster: Cluster) -> list[str]:
    """What stands under the set's label, and its ledger."""
    found = []
    for resource in all_resources(cluster.api):
        for label in (SET_LABEL, "trapeze.dev/ledger"):
            bodies = cluster.api.get(f"{resource.collection()}?labelSelector={label}%3Dshop")["items"]
            found += [f"{resource.kind} {body['metadata']['name']}" for body in bodies]
    return found


@pytest.mark.cluster
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_an_absent_set_killed_again_and_again_goes_to_the_same_end(cluster: Cluster, tmp_path: Path) -> None:
    site = site_of(cluster, tmp_path, {**BLUE, "d.yaml": CONFIG % "red"})
    site.commit({**NEVER, "d.yaml": CONFIG % "green"}, "in the middle of a handoff")
    site.syncer().tick()
    site.configure(state="absent", prune={"allow": ["*", "Namespace front"]})
    assert killed_until_the_end(site.config) > 8
    site.tick_until(lambda report: report.state is State.ABSENT)
    assert left(cluster) == []
    assert twice(site.config) == []


def backend(cluster: Cluster) -> str:
    """The Service that the Ingress leads to."""
    live = cluster.get("networking.k8s.io/v1", "Ingress", "front", "front")
    assert live is not None
    return str(live["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]["name"])


@pytest.mark.cluster
def test_after_its_deadline_a_pointer_goes_back_and_stays_there_until_git_changes(
    cluster: Cluster, tmp_path: Path
) -> None:
    site = site_of(cluster, tmp_path, BLUE, deadline="15s", after_deadline="point-back")
    late = NEVER["b.yaml"].replace("green", "late")
    site.commit({**GREEN, "d.yaml": late}, "green serves, another Deployment never does")
    site.tick_until(lambda _: backend(cluster) == "green")
    report = site.tick_until(lambda _: backend(cluster) == "blue")
    assert report.state is State.HELD
    assert [key for key in done(site) if "Ingress" in key][-2:] == [
        "cutover Ingress front/front",
        "point back Ingress front/front",
    ]
    held = site.syncer().tick()
    assert (held.state, held.outcomes, site.ledger().acts) == (State.HELD, (), ())
    assert len(list(filter(is_ready, cluster.pods("front", "app=blue")))) == 2
    site.commit(GREEN, "without what is late")
    site.sync()
    assert backend(cluster) == "green"
    assert cluster.get("apps/v1", "Deployment", "late", "front") is None
