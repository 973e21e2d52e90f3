"""A snapshot of a live cluster, and what is previewed from it by people who have no access."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import jsonschema
import pytest

from agent import build
from agent.core.model import Body
from agent.settings import Settings
from agent.shell.snapshot import FORMAT
from agent.shell.tick import Tools
from tests.cli_place import Place, Run
from tests.shell.releases import ingress, namespace, web

BLUE = {"a.yaml": namespace("front"), "b.yaml": web("blue"), "c.yaml": ingress("front/blue")}
GREEN = {"b.yaml": web("green"), "c.yaml": ingress("front/green")}
SCHEMA = json.loads((Path(__file__).parents[1] / "docs" / "plan.schema.json").read_text(encoding="utf-8"))
HIDDEN = """\
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: front}
stringData: {password: %s}
"""


WEB: Body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "front"}}
SERVED: Body = {
    "group": "",
    "kind": "Service",
    "versions": ["v1"],
    "plural": "services",
    "namespaced": True,
    "verbs": ["list"],
}


def listed(item: object) -> Body:
    return {"group": "", "kind": "Service", "namespace": "front", "items": [item], "error": ""}


def stored(**parts: object) -> bytes:
    """The file of a snapshot, with these parts in place of good ones."""
    whole = {"format": FORMAT, "taken": 1e9, "resources": [SERVED], "failed": {}, "reads": [listed(WEB)]}
    return json.dumps(whole | parts).encode()


@pytest.fixture
def taken(place: Place, trapeze: Run, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Release blue in service and a snapshot of it; from here on nobody reaches the cluster."""
    place.repo.commit({**BLUE, "s.yaml": HIDDEN % "correct-horse"})
    assert trapeze("sync", "--until-done").code == 0
    ran = trapeze("snapshot", "live.json.gz")
    assert (ran.code, ran.err) == (0, "")

    def gone(_: Settings) -> Tools:
        raise AssertionError("the cluster was asked")

    monkeypatch.setattr(build, "tools_of", gone)
    return place


@pytest.mark.usefixtures("taken")
def test_the_same_revision_is_nothing_to_do(trapeze: Run) -> None:
    ran = trapeze("preview", "--live", "live.json.gz")
    assert (ran.code, ran.err) == (0, "")
    assert "nothing to do" in ran.out


def test_an_upgrade_is_planned_from_what_was_live(taken: Place, trapeze: Run) -> None:
    taken.repo.commit(GREEN)
    ran = trapeze("preview", "--live", "live.json.gz")
    assert ran.code == 2
    assert "cutover Ingress front/front" in ran.out
    assert "delete Deployment front/blue" in " ".join(ran.out.split()) or "delete 2 objects" in ran.out
    assert " ago (" in ran.out


def test_what_somebody_changed_by_hand_is_seen(place: Place, trapeze: Run) -> None:
    place.repo.commit(BLUE)
    assert trapeze("sync", "--until-done").code == 0
    resource = next(r for r in place.world.discover().resources.values() if r.plural == "services")
    (service,) = [s for s in place.world.list(resource, "front").items if s["metadata"]["name"] == "blue"]
    port = {**service["spec"]["ports"][0], "targetPort": 9}
    place.world.replace(resource, {**service, "spec": {**service["spec"], "ports": [port]}})
    assert trapeze("snapshot", "live.json").code == 0
    shown = json.loads(trapeze("preview", "--live", "live.json", "-o", "json").out)
    (change,) = shown["changes"]
    assert change["id"]["name"] == "blue"
    assert {field["reason"] for field in change["fields"]} == {"drift"}


def test_as_json_it_names_the_snapshot(taken: Place, trapeze: Run) -> None:
    taken.repo.commit(GREEN)
    shown = json.loads(trapeze("preview", "--live", "live.json.gz", "-o", "json").out)
    jsonschema.validate(shown, SCHEMA)
    assert len(shown["live"]["digest"]) == 64
    assert shown["live"]["taken"] > 0


def test_values_of_secrets_stand_nowhere_in_it(place: Place, trapeze: Run) -> None:
    place.repo.commit({**BLUE, "s.yaml": HIDDEN % "correct-horse"})
    assert trapeze("sync", "--until-done").code == 0
    assert trapeze("snapshot", "live.json").code == 0
    text = (place.folder / "live.json").read_text(encoding="utf-8")
    assert '"key"' in text
    assert "correct-horse" not in text
    assert "Y29ycmVjdC1ob3JzZ" not in text


@pytest.mark.usefixtures("taken")
def test_base_and_live_together_are_refused(trapeze: Run) -> None:
    ran = trapeze("preview", "--live", "live.json.gz", "--base", "HEAD")
    assert (ran.code, ran.out) == (1, "")
    assert "not both" in ran.err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "cannot be read"),
        (b"[]", "is no snapshot"),
        (b'{"format":"trapeze.dev/snapshot/v9"}', "is no snapshot"),
        (b'{"format":"trapeze.dev/snapshot/v1","taken":1}', "is damaged"),
        (b"\x1f\x8bshort", "cannot be read"),
        (gzip.compress(b"{}", mtime=0)[:10] + b"\xff" * 20, "cannot be read"),
        (stored(taken="soon"), "damaged: taken: input should be a valid number"),
        (stored(taken=1e300), "damaged: taken: input should be less than"),
        (stored(failed="all"), "damaged: failed: input should be a valid dictionary"),
        (stored(resources=[{**SERVED, "verbs": "list"}]), "damaged: resources.0.verbs: "),
        (stored(resources=[{**SERVED, "versions": []}]), "damaged: resources.0.versions: "),
        (stored(reads=[listed(7)]), "damaged: no object: input should be"),
        (stored(reads=[listed({"kind": "Service"})]), "damaged: no object: apiVersion: field required"),
        (stored(reads=[listed({**WEB, "metadata": "web"})]), "damaged: no object: metadata: "),
        (stored(reads=[listed({**WEB, "kind": "Secret"})]), "Secret front/web stands in the list of Service"),
        (None, "cannot be read"),
    ],
)
def test_what_is_no_snapshot_is_one_clear_error(
    place: Place, trapeze: Run, content: bytes | None, said: str
) -> None:
    place.repo.commit(BLUE)
    if content is not None:
        (place.folder / "live.json").write_bytes(content)
    ran = trapeze("preview", "--live", "live.json")
    assert (ran.code, ran.out) == (1, "")
    assert said in ran.err
    assert "live.json" in ran.err
    assert ran.err.count("\n") == 1
