"""The demo plays to its end in the model cluster, and its figures are what happened there."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.cells import cell_len
from rich.console import Console
from ruamel.yaml import YAML

from agent.core.model import ObjectId
from agent.demo.__main__ import play
from agent.demo.model_stage import ModelStage
from agent.demo.releases import SAMPLES, ReleaseRepo
from agent.demo.screen import Screen
from agent.demo.stage import PATHS
from agent.demo.story import NAIVE, Act
from agent.errors import SourceError
from tests.recorded import names, recorded, stripped

KNOBS = {"ready-after", "never-ready", "lose-ready-after", "crash", "slow-stop", "blocked-by", "run-for"}


class Played(NamedTuple):
    """One run: what was asked and lost in each act, what was printed, how long people had to read."""

    acts: Mapping[str, Act]
    printed: str
    stage: ModelStage
    rested: float


@pytest.fixture(scope="module")
def played() -> Played:
    screen = Console(file=io.StringIO(), width=80, highlight=False, markup=False, emoji=False)
    stage, rests = ModelStage(), list[float]()
    acts = play(stage, Screen(screen, 0.5, rests.append))
    assert isinstance(screen.file, io.StringIO)
    return Played(acts, screen.file.getvalue(), stage, sum(rests))


def test_gated_acts_lose_nothing_and_the_naive_one_loses_on_every_path(played: Played) -> None:
    naive = played.acts[NAIVE].seen
    assert [tally.lost > 0 for tally in naive.values()] == [True] * len(PATHS)
    gated = [tally for name, act in played.acts.items() if name != NAIVE for tally in act.seen.values()]
    assert len(gated) == 3 * len(PATHS)
    assert [tally.lost for tally in gated] == [0] * len(gated)
    assert min(tally.asked for tally in gated) >= 200


def test_no_state_of_a_gated_act_breaks_the_promise_and_most_of_the_naive_one_do(played: Played) -> None:
    for name, (_, verdict) in played.acts.items():
        assert verdict.states > 50
        assert verdict.is_kept is (name != NAIVE), list(verdict.lines())
    naive = played.acts[NAIVE].verdict
    assert naive.broken_states > naive.states / 2
    assert {"rights of a running pod", "serving path"} <= {broken.invariant for broken in naive.broken}


def test_the_end_state_is_the_last_release_and_nothing_old(played: Played) -> None:
    world = played.stage.cluster.world
    assert world.get(ObjectId("apps", "Deployment", "library", "catalog")) is not None
    assert world.get(ObjectId("apps", "Deployment", "reading-room", "storefront")) is not None
    namespaces = {key.name for key in world.of("", "Namespace")}
    assert {"library", "reading-room"} <= namespaces
    assert not namespaces & {"library-system", "library-admission"}
    assert {played.stage.cluster.request(pointer).status for pointer in PATHS.values()} == {200}


def test_it_reads_at_80_columns_within_about_a_minute(played: Played) -> None:
    assert max(map(cell_len, played.printed.splitlines())) <= 80
    assert 20 <= played.rested <= 60


def test_what_controllers_label_like_their_owner_raises_no_warning(played: Played) -> None:
    assert "is left alone" not in played.printed


def test_it_tells_what_is_previewed_applied_held_and_asked(played: Played) -> None:
    for words in (
        "In this order",
        "⇔ ClusterRoleBinding library-delegate-auth, ClusterRoleBinding",
        "‖ cutover APIService v1.library.example held: Service library/catalog",
        "→ APIService v1.library.example cut over",
        "● API 20 of 20   ● webhook 20 of 20   ● web 20 of 20",
        "✗ API 0 of 20",
        "generation 3 in service after",
    ):
        assert words in played.printed


def test_no_secret_of_the_samples_is_printed(played: Played) -> None:
    for file in (SAMPLES / "releases").glob("*/*.yaml"):
        for body in YAML(typ="safe").load_all(file):
            if body["kind"] == "Secret":
                assert body["data"]["tls.key"][:60] not in played.printed


def test_sample_pods_turn_only_knobs_that_exist() -> None:
    seen = set()
    for file in (SAMPLES / "releases").glob("*/*.yaml"):
        for body in YAML(typ="safe").load_all(file):
            if body["kind"] == "Deployment":
                seen |= set(body["spec"]["template"]["metadata"]["annotations"])
    assert seen
    assert {name.removeprefix("standin.dev/") for name in seen} <= KNOBS


def test_releases_have_the_same_commits_on_every_machine(tmp_path: Path) -> None:
    repos = [ReleaseRepo(tmp_path / name) for name in ("one", "two")]
    commits = [[repo.publish(release) for release in "1231"] for repo in repos]
    assert commits[0] == commits[1]
    assert len(set(commits[0])) == 4


def test_without_the_samples_it_says_where_it_runs(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="runs from a checkout"):
        ReleaseRepo(tmp_path / "repo", tmp_path)


def test_the_readme_shows_what_the_demo_printed(played: Played) -> None:
    upgrade = played.printed.partition("git: release 2")[2].partition("\n\n")[2]
    plan, _, rest = stripped(upgrade).partition("\n10:")
    handoff, _, _ = f"10:{rest}".partition("\n\n")
    requests = stripped(
        played.printed.rpartition("What became of the requests, and of every state")[2].partition("\n")[2]
    )
    shown = {"plan": f"{plan.rstrip()}\n", "handoff": f"{handoff}\n", "requests": requests}
    assert {name: recorded(name, text) for name, text in shown.items()} == shown


def test_the_readme_shows_the_configuration_of_the_demo() -> None:
    config = (SAMPLES / "trapeze.yaml").read_text(encoding="utf-8")
    assert recorded("config", config) == config


def test_every_recorded_block_of_the_readme_is_checked() -> None:
    assert names() == {"plan", "handoff", "requests", "config"}
