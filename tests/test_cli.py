"""The command as people and pipelines meet it: exit codes, what is printed where, errors with a way out."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from agent import __version__, build, cli
from agent.settings import Settings
from agent.shell.tick import Tools
from tests.cli_place import Place, Run
from tests.shell.releases import CONFIG, binding, ingress, namespace, server, web

SCHEMA = json.loads((Path(__file__).parents[1] / "docs" / "plan.schema.json").read_text(encoding="utf-8"))
OLD = {"a.yaml": namespace("old"), "b.yaml": server("old"), "c.yaml": binding("old")}
NEW = {"a.yaml": namespace("new"), "b.yaml": server("new"), "c.yaml": binding("new")}
BLUE = {"a.yaml": namespace("front"), "b.yaml": web("blue"), "c.yaml": ingress("front/blue")}
GREEN = {"a.yaml": namespace("front"), "b.yaml": web("green"), "c.yaml": ingress("front/green")}
HIDDEN = """\
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: default}
stringData: {password: %s}
"""


def test_version(trapeze: Run) -> None:
    assert trapeze("--version") == (0, f"trapeze {__version__}\n", "")


@pytest.mark.parametrize(
    "words",
    [
        ("preview", "--no-such-flag"),
        ("no-such-command",),
        ("preview", "--output", "xml"),
        ("sync", "--timeout", "soon"),
        ("sync", "one", "two"),
        ("preview", "--order", "random"),
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_1_since_2_means_changes(
    place: Place, trapeze: Run, words: tuple[str, ...]
) -> None:
    ran = trapeze(*words)
    assert (ran.code, ran.out) == (1, "")
    assert "Usage" in ran.err
    assert place.folder.exists()


def test_without_words_it_says_what_there_is_to_say(trapeze: Run) -> None:
    ran = trapeze()
    assert "preview" in ran.out + ran.err
    assert "Traceback" not in ran.err


def test_preview_of_a_first_release_is_changes(place: Place, trapeze: Run) -> None:
    place.repo.commit(BLUE)
    ran = trapeze("preview")
    assert (ran.code, ran.err) == (2, "")
    assert "+ Deployment front/blue" in ran.out


def test_preview_of_the_same_content_is_nothing_to_do(place: Place, trapeze: Run) -> None:
    first = place.repo.commit(BLUE)
    place.repo.commit({})
    assert trapeze("preview", "--base", first).code == 0


def test_preview_of_an_upgrade_that_waits_for_nobody_is_changes(place: Place, trapeze: Run) -> None:
    first = place.repo.commit(BLUE)
    place.repo.commit(GREEN)
    ran = trapeze("preview", "--base", first)
    assert ran.code == 2
    assert "cutover Ingress front/front" in ran.out


def test_preview_of_an_upgrade_that_needs_a_person_is_not_safe(place: Place, trapeze: Run) -> None:
    first = place.repo.commit(OLD)
    place.repo.commit(NEW)
    ran = trapeze("preview", "--base", f"commit:{first}", "--head", "branch:main")
    assert ran.code == 3
    assert "prune: {allow: [Namespace old]}" in " ".join(ran.out.split())


def test_preview_needs_no_configuration_when_told_a_repo(place: Place, trapeze: Run) -> None:
    place.repo.commit({"deploy/a.yaml": CONFIG % "red", "other/b.yaml": "no: [manifest"})
    (place.folder / "trapeze.yaml").unlink()
    ran = trapeze("preview", "--repo", "repo", "--path", "deploy", "--head", "main")
    assert (ran.code, ran.err) == (2, "")
    assert "ConfigMap default/settings" in ran.out


@pytest.mark.parametrize("order", ["gated", "naive"])
@pytest.mark.parametrize("upgrade", [(BLUE, GREEN), (OLD, NEW)], ids=["cutover", "subject move"])
def test_preview_as_json_is_as_the_schema_says(
    place: Place, trapeze: Run, order: str, upgrade: tuple[dict[str, str], dict[str, str]]
) -> None:
    first = place.repo.commit(upgrade[0])
    place.repo.commit(upgrade[1])
    shown = json.loads(trapeze("preview", "--base", first, "--output", "json", "--order", order).out)
    jsonschema.validate(shown, SCHEMA)
    assert (shown["baseRevision"], shown["revision"]) == (first, place.repo.git("rev-parse", "HEAD"))
    assert shown["steps"]


@pytest.mark.parametrize("output", ["text", "markdown", "json"])
def test_secret_values_are_never_printed(place: Place, trapeze: Run, output: str) -> None:
    first = place.repo.commit({"s.yaml": HIDDEN % "hunter2"})
    place.repo.commit({"s.yaml": HIDDEN % "correct-horse"})
    ran = trapeze("preview", "--base", first, "--output", output)
    assert ran.code == 2
    assert "Secret default/key" in ran.out
    assert not [s for s in ("hunter2", "correct-horse", "aHVudGVyMg", "Y29ycmVjdC1ob3JzZQ") if s in ran.out]


def test_a_broken_document_is_an_error_with_its_place(place: Place, trapeze: Run) -> None:
    place.repo.commit({**BLUE, "d.yaml": "apiVersion: v1\nkind: [\n"})
    ran = trapeze("preview")
    assert ran.code == 1
    assert "d.yaml" in ran.out


ERRORS = {
    "no config": (("plan", "--config", "nowhere.yaml"), "nowhere.yaml"),
    "unknown set": (("plan", "set-3"), "set-1"),
    "unknown ref": (("preview", "--head", "branch:nowhere"), "nowhere"),
    "unknown base": (("preview", "--base", "tag:v9"), "v9"),
    "no such repo": (("preview", "--repo", "elsewhere"), "elsewhere"),
    "no such path": (("preview", "--repo", "repo", "--path", "charts"), "charts"),
}


@pytest.mark.parametrize("case", list(ERRORS))
def test_an_error_is_one_line_that_names_what_is_wrong(place: Place, trapeze: Run, case: str) -> None:
    place.repo.commit(BLUE)
    words, named = ERRORS[case]
    ran = trapeze(*words)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("error: ")
    assert named in ran.err
    assert "Traceback" not in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_key_that_is_not_known_is_named(place: Place, trapeze: Run) -> None:
    place.config({"repo": "repo", "ref": "main", "path": "."}, intervall="60s")
    ran = trapeze("status")
    assert ran.code == 1
    assert "intervall" in ran.err
    assert "trapeze.yaml" in ran.err


def test_with_several_sets_one_must_be_named(place: Place, trapeze: Run) -> None:
    one = {"repo": "repo", "ref": "main", "path": "."}
    place.config(one, one)
    place.repo.commit(BLUE)
    ran = trapeze("plan")
    assert ran.code == 1
    assert "set-1, set-2" in ran.err
    assert trapeze("plan", "set-2").code == 2


def test_plan_writes_nothing(place: Place, trapeze: Run) -> None:
    place.repo.commit(BLUE)
    before = place.world.world.objects()
    ran = trapeze("plan", "--output", "json")
    assert ran.code == 2
    jsonschema.validate(json.loads(ran.out), SCHEMA)
    place.world.advance(0)
    assert place.world.world.objects().keys() == before.keys()


def test_one_sync_holds_what_cannot_go_yet_and_the_next_ones_end_it(place: Place, trapeze: Run) -> None:
    place.repo.commit(BLUE)
    first = trapeze("sync")
    assert first.code == 3
    assert "Ingress front/front" in first.out
    codes = [trapeze("sync").code for _ in range(10)]
    assert codes[-1] == 0
    assert sorted(codes, reverse=True) == codes


def test_sync_until_done_then_plan_has_nothing_and_status_says_in_service(place: Place, trapeze: Run) -> None:
    place.repo.commit(BLUE)
    assert trapeze("sync", "--until-done").code == 0
    assert trapeze("plan").code == 0
    ran = trapeze("status", "--output", "json")
    assert ran.code == 0
    assert [one["generations"][-1]["state"] for one in json.loads(ran.out)["sets"]] == ["in-service"]
    assert "set-1" in trapeze("status").out
    assert "set-1" in trapeze("status", "--output", "markdown").out


def test_sync_until_done_gives_up_when_its_time_is_up(place: Place, trapeze: Run) -> None:
    place.repo.commit(
        {"a.yaml": namespace("front"), "b.yaml": web("blue", knobs="standin.dev/never-ready: 'true'")}
    )
    ran = trapeze("sync", "--until-done", "--timeout", "0.5")
    assert ran.code == 3
    assert "Deployment front/blue" in ran.out


def test_sync_as_json_keeps_the_progress_out_of_the_result(place: Place, trapeze: Run) -> None:
    place.repo.commit(BLUE)
    ran = trapeze("sync", "--until-done", "--output", "json")
    shown = json.loads(ran.out)
    assert (ran.code, shown["state"]) == (0, "in service")
    assert "Deployment front/blue" in ran.err


def test_a_refused_set_is_an_error_and_nothing_is_written(place: Place, trapeze: Run) -> None:
    place.repo.commit({"a.yaml": CONFIG % "red", "b.yaml": CONFIG % "blue"})
    ran = trapeze("sync")
    assert ran.code == 1
    assert "a.yaml" in ran.err
    assert not [key for key in place.world.world.objects() if key.name == "settings"]


def test_naive_order_is_applied_at_once_when_asked_by_name(place: Place, trapeze: Run) -> None:
    place.repo.commit(BLUE)
    trapeze("sync", "--until-done")
    place.repo.commit({**GREEN})
    ran = trapeze("sync", "--order", "naive")
    assert ran.code == 0
    assert "1 repoint, 2 prune" in ran.out
    assert "2 objects in front deleted" in ran.out


def test_ctrl_c_ends_with_130_and_no_traceback(
    place: Place, trapeze: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: Settings) -> Tools:
        raise KeyboardInterrupt

    place.repo.commit(BLUE)
    monkeypatch.setattr(build, "tools_of", interrupted)
    assert trapeze("sync").code == 130


def test_run_ticks_every_set_until_it_is_told_to_stop(
    place: Place, trapeze: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the schedule does with its ticks is shown in tests/shell/test_schedule.py."""
    ran: list[tuple[str, float, str]] = []

    class Once:
        def __init__(self, ticks: dict[str, Callable[[], Any]], interval: float) -> None:
            self.ticks, self.interval = ticks, interval

        def run(self) -> None:
            ran.extend((name, self.interval, tick().state.value) for name, tick in self.ticks.items())

    one = {"repo": "repo", "ref": "main"}
    place.config({**one, "path": "a.yaml"}, {**one, "path": "b.yaml"}, interval="5s")
    place.repo.commit({"a.yaml": CONFIG % "red", "b.yaml": (CONFIG % "blue").replace("settings", "others")})
    monkeypatch.setattr(cli.syncing, "Schedule", Once)
    monkeypatch.setattr(logging, "basicConfig", lambda **_: None)
    assert trapeze("run").code == 0
    assert ran == [("set-1", 5.0, "in service"), ("set-2", 5.0, "in service")]
