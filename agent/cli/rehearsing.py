"""``rehearse``: an upgrade in a model of the cluster, in every order, with all that can go wrong."""

from __future__ import annotations

import random
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from agent import build
from agent.cli.app import app
from agent.cli.codes import NOT_SAFE, OK
from agent.cli.options import (
    ConfigOption,
    OrderOption,
    Output,
    OutputOption,
    SetArgument,
    ad_hoc,
    chosen_set,
    ref_named,
    releases_named,
)
from agent.cli.showing import print_json
from agent.core import render
from agent.core.model import Desired
from agent.core.orders import Order
from agent.core.refs import Ref
from agent.core.rehearsal import run as rehearsal
from agent.core.rehearsal.answer import Rehearsal
from agent.core.rehearsal.run import BUDGET, Script
from agent.core.render.words import counted
from agent.errors import ConfigError
from agent.settings import DEFAULT_FILE, SetConfig, Settings, load_settings
from agent.shell.embedded import EmbeddedCluster
from agent.shell.snapshot import read as read_snapshot
from agent.shell.tick import Tools

_START = 1_000.0
"""When the model's clock starts, in seconds of its own time."""
BASE_OR_LIVE: Final = "say --base or --live, not both: a snapshot tells what is in service"
SECONDS: Final = 60.0
"""After which a rehearsal visits no further scene, unless somebody says how many."""


@app.command()
def rehearse(
    set_name: SetArgument = "",
    base: Annotated[str, typer.Option(help="What is in service: a branch, tag or commit.")] = "",
    head: Annotated[str, typer.Option(help="What is wanted; the set's ref when not given.")] = "",
    then: Annotated[str, typer.Option(help="A newer revision, which may come between any two steps.")] = "",
    live: Annotated[
        Path | None, typer.Option(help="What `trapeze snapshot` wrote, in place of --base.")
    ] = None,
    repo: Annotated[str, typer.Option(help="A repo, in place of a configuration.")] = "",
    path: Annotated[list[str] | None, typer.Option(help="Paths or globs in --repo.")] = None,
    order: OrderOption = Order.GATED,
    budget: Annotated[int, typer.Option(min=1, help="Scenes that are visited at most.")] = BUDGET,
    seconds: Annotated[float, typer.Option(min=1, help="After which no further scene is visited.")] = SECONDS,
    depth: Annotated[int, typer.Option(min=1, help="Moves that a history has at most.")] = 10**6,
    seed: Annotated[int, typer.Option(help="Of the random histories beyond the budget.")] = 0,
    svg: Annotated[
        Path | None, typer.Option(help="A file for a picture of the paths over the steps.")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="A gate (serves, idle, ...) to leave out: what is it good for?")
    ] = None,
    output: OutputOption = Output.TEXT,
    config: ConfigOption = Path(DEFAULT_FILE),
) -> int:
    """What an upgrade would do to every serving path, in a model.

    Nothing is written. Exits 3 if it is not safe.

    Pods become ready early, late, never, or are lost again; requests fail, the agent dies, Git changes.
    """
    settings = ad_hoc(repo, path or ["."], head) if repo else load_settings(config)
    chosen = chosen_set(settings, set_name)
    if live and base:
        raise ConfigError(BASE_OR_LIVE)
    if live:
        tools = build.snapshot_tools_of(settings, chosen, read_snapshot(live))
        begin = script_from(settings, chosen, tools, order, ref_named(head) if head else None)
    else:
        begin = script_of(settings, chosen, releases_named(settings, chosen, base, head), order)
    script = replace(
        begin,
        budget=budget,
        depth=depth,
        without=frozenset(without or ()),
        later=releases_named(settings, chosen, "", then)[1] if then else None,
    )
    answer = rehearsed(script, seed, seconds)
    if svg:
        try:
            svg.write_text(render.rehearsal_svg(answer), encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"--svg: {error}") from None
    if output is Output.JSON:
        print_json(render.rehearsal_json(answer))
    elif output is Output.MARKDOWN:
        sys.stdout.write(render.rehearsal_markdown(answer))
    else:
        sys.stdout.write(render.rehearsal_text(answer))
    return OK if answer.is_safe else NOT_SAFE


def script_of(
    settings: Settings, chosen: SetConfig, releases: tuple[Desired | None, Desired], order: Order
) -> Script:
    """The upgrade between two releases of a set, disturbed in every way where the order is ours."""
    policy, health = build.policy_of(settings), build.health_of(settings)
    disturbs = order is Order.GATED
    return Script(*releases, policy, health, chosen.rules, order=order, disturbs=disturbs)


def script_from(
    settings: Settings, chosen: SetConfig, tools: Tools, order: Order, ref: Ref | None = None
) -> Script:
    """The upgrade of a set from what stands of it, in a live cluster or in a snapshot.

    Raises SourceError, LedgerError, ClusterError.
    """
    standing, base, head = build.standing_of(settings, chosen, tools, ref)
    return replace(script_of(settings, chosen, (base, head), order), standing=standing)


def rehearsed(script: Script, seed: int = 0, seconds: float = SECONDS) -> Rehearsal:
    """The answer, with the scenes counted on a terminal while it is worked out."""
    chance = random.Random(seed)  # noqa: S311 - nobody is to be kept from guessing it
    end = time.monotonic() + seconds
    with Console(stderr=True).status("rehearsing") as told:

        def goes_on(scenes: int) -> bool:
            told.update(f"rehearsing: {counted(scenes, 'scene')}")
            return time.monotonic() < end

        return rehearsal.rehearse(EmbeddedCluster(_START).world, script, chance.randrange, goes_on)
