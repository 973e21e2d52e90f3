"""``preview`` and ``plan``: what an upgrade would do; nothing is written."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from agent import build
from agent.cli.app import app
from agent.cli.options import (
    ConfigOption,
    ContextOption,
    KubeconfigOption,
    OrderOption,
    Output,
    OutputOption,
    RehearseOption,
    SetArgument,
    ad_hoc,
    chosen_set,
    ref_named,
    releases_named,
    settings_from,
)
from agent.cli.rehearsing import BASE_OR_LIVE, rehearsed, script_from, script_of
from agent.cli.showing import Shown, show_plan
from agent.core.orders import Order, plan_in_order
from agent.core.preview import between
from agent.core.refs import Ref
from agent.core.rehearsal.answer import Rehearsal
from agent.core.render.words import span
from agent.core.validation.checks import with_refusals
from agent.errors import ConfigError
from agent.settings import DEFAULT_FILE, SetConfig, Settings, load_settings
from agent.shell.snapshot import Snapshot
from agent.shell.snapshot import read as read_snapshot
from agent.shell.tick import Tools


@app.command()
def preview(
    set_name: SetArgument = "",
    base: Annotated[str, typer.Option(help="What is in service: a branch, tag or commit.")] = "",
    head: Annotated[str, typer.Option(help="What is wanted; the set's ref when not given.")] = "",
    repo: Annotated[str, typer.Option(help="A repo, in place of a configuration.")] = "",
    path: Annotated[list[str] | None, typer.Option(help="Paths or globs in --repo.")] = None,
    live: Annotated[
        Path | None, typer.Option(help="What `trapeze snapshot` wrote, in place of --base.")
    ] = None,
    rehearse: RehearseOption = False,  # noqa: FBT002 - typer's own way to a flag
    order: OrderOption = Order.GATED,
    output: OutputOption = Output.TEXT,
    config: ConfigOption = Path(DEFAULT_FILE),
) -> int:
    """The plan of an upgrade between two revisions, without a cluster.

    Refs are told apart by branch:NAME, tag:NAME and commit:ID where a plain name is not enough.
    """
    settings = ad_hoc(repo, path or ["."], head) if repo else load_settings(config)
    chosen = chosen_set(settings, set_name)
    if live:
        if base:
            raise ConfigError(BASE_OR_LIVE)
        snapshot = read_snapshot(live)
        tools = build.snapshot_tools_of(settings, chosen, snapshot)
        ref = ref_named(head) if head else None
        syncer = build.syncer_of(settings, chosen, tools, ref=ref)
        answer = _rehearsal(settings, chosen, tools, order, ref) if rehearse else None
        return show_plan(syncer.plan(order), output, _of_snapshot(snapshot)._replace(rehearsal=answer))
    before, wanted = releases_named(settings, chosen, base, head)
    note = f"{base or 'nothing'} compared with {head or chosen.ref}; no cluster was looked at"
    answer = rehearsed(script_of(settings, chosen, (before, wanted), order)) if rehearse else None
    policy = build.policy_of(settings)
    wanted, refused = with_refusals(wanted, policy, build.structures_of())
    situation = between(before, wanted, policy, build.health_of(settings), chosen.rules)
    situation = replace(situation, refused=refused)
    return show_plan(
        plan_in_order(situation, order), output, Shown(observed=False, note=note, rehearsal=answer)
    )


@app.command()
def plan(
    set_name: SetArgument = "",
    rehearse: RehearseOption = False,  # noqa: FBT002 - typer's own way to a flag
    order: OrderOption = Order.GATED,
    output: OutputOption = Output.TEXT,
    config: ConfigOption = Path(DEFAULT_FILE),
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> int:
    """What a sync would do now, and what each step waits for.

    Nothing is written.
    """
    settings = settings_from(config, kubeconfig, context)
    chosen = chosen_set(settings, set_name)
    tools = build.tools_of(settings)
    syncer = build.syncer_of(settings, chosen, tools)
    answer = _rehearsal(settings, chosen, tools, order) if rehearse else None
    return show_plan(syncer.plan(order), output, Shown(observed=True, rehearsal=answer))


def _rehearsal(
    settings: Settings, chosen: SetConfig, tools: Tools, order: Order, ref: Ref | None = None
) -> Rehearsal:
    return rehearsed(script_from(settings, chosen, tools, order, ref))


def _of_snapshot(snapshot: Snapshot) -> Shown:
    taken = datetime.fromtimestamp(snapshot.taken, UTC)
    age = span(time.time() - snapshot.taken)
    note = f"the cluster as it was {age} ago ({taken:%Y-%m-%d %H:%M:%S} UTC), snapshot {snapshot.digest[:12]}"
    return Shown(observed=False, note=note, live={"taken": snapshot.taken, "digest": snapshot.digest})
