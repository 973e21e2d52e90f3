"""What `--order kubectl`, `helm` and `flux` foretell, beside kubectl, Helm and Flux at the same work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.core.model import Body, ObjectId
from agent.core.policy import id_of
from agent.core.prediction import differences
from agent.shell.recording import Recording
from tests.e2e.command import trapeze
from tests.e2e.objects import API_SERVICE
from tests.e2e.releases import Files, documents, written
from tests.e2e.results import note
from tests.e2e.tools import ORDERS, PROGRAMS, objects, tool
from tests.e2e.upgrade import API, Upgrade
from tests.rig.cluster import Cluster

_SERVERS_OWN = ("metadata", "status")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_another_tool_does_what_was_foretold_of_it(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    # Beside a control plane there is no network: what is not built yet is built before.
    PROGRAMS[name].build()
    cluster: Cluster = request.getfixturevalue("cluster")
    upgrade: Upgrade = request.getfixturevalue("enterprise_upgrade")
    layout = upgrade.layout
    old, new = without_own_kinds(layout.old_files()), without_own_kinds(layout.new_files(ready_after="5"))
    used = tool(name, cluster, tmp_path)
    base = upgrade.commit(old, "old release")
    used.release(old)
    cluster.wait_available(API_SERVICE.name, timeout=60)
    upgrade.commit(new, "new release")
    with upgrade.watching() as watch:
        used.release(new)
        cluster.wait_available(API_SERVICE.name, timeout=60)
    verdict = upgrade.judged(watch, old, new)
    foretold = upgrade.foretold(base, ORDERS[name])
    note(upgrade.named(f"by {name}"), watch.result, verdict, foretold, naive=True)
    assert not verdict.is_kept
    assert not foretold.is_kept
    assert differences(verdict, foretold) == ()
    assert watch.result.lost > 0
    recorded = {path.name: path.lowest for path in verdict.paths}
    assert {name: recorded[name] for name in foretold.lowest} == foretold.lowest
    wanted, former = ([id_of(body) for body in objects(files)] for files in (new, old))
    gone = [key for key in former if key not in wanted]
    first, last = writes(watch.recording, set(wanted)), deletes(watch.recording, set(gone))
    applied, deleted = planned(upgrade, base, name)
    assert first == applied
    assert last == deleted


def without_own_kinds(files: Files) -> Files:
    """The release without objects of kinds that its own server serves: no other tool can install those."""
    kept = {name: [b for b in documents(text) if b["apiVersion"] != API] for name, text in files.items()}
    return {name: written(bodies) for name, bodies in kept.items() if bodies}


def planned(upgrade: Upgrade, base: str, name: str) -> tuple[list[ObjectId], list[ObjectId]]:
    """What the plan of that tool writes, and what it deletes, each in its order."""
    words = ("--base", base, "--head", upgrade.head, "--order", ORDERS[name].value, "--output", "json")
    steps = json.loads(trapeze(upgrade.config, "preview", *words).stdout)["steps"]
    deleted = [ObjectId(**step["id"]) for step in steps if step["verb"] == "delete"]
    return [ObjectId(**step["id"]) for step in steps if step["verb"] != "delete"], deleted


def deletes(recording: Recording, wanted: set[ObjectId]) -> list[ObjectId]:
    """The wanted objects in the order in which they began to go."""
    seen: dict[ObjectId, None] = {}
    for event in sorted(recording.events, key=lambda event: event.version):
        if event.id in wanted and (event.body is None or "deletionTimestamp" in event.body["metadata"]):
            seen.setdefault(event.id)
    return list(seen)


def writes(recording: Recording, wanted: set[ObjectId]) -> list[ObjectId]:
    """The wanted objects in the order in which their content changed first."""
    known: dict[ObjectId, str | None] = {key: content(body) for key, body in recording.first.items()}
    seen: dict[ObjectId, None] = {}
    for event in sorted(recording.events, key=lambda event: event.version):
        now = content(event.body) if event.body is not None else None
        if event.id in wanted and known.get(event.id) != now:
            seen.setdefault(event.id)
        known[event.id] = now
    return list(seen)


def content(body: Body) -> str:
    """What of an object a release says."""
    return json.dumps({key: value for key, value in body.items() if key not in _SERVERS_OWN}, sort_keys=True)
