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
    SetArgument,
    ad_hoc,
    chosen_set,
    ref_named,
    releases_named,
    settings_from,
)
from agent.cli.showing import show_plan
from agent.core.orders import Order, plan_in_order
from agent.core.preview import between
from agent.core.refs import Ref
from agent.core.render.words import span
from agent.core.validation.checks import with_refusals
from agent.errors import ConfigError
from agent.settings import DEFAULT_FILE, SetConfig, Settings, load_settings
from agent.shell.snapshot import read as read_snapshot


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
            raise ConfigError("say --base or --live, not both: a snapshot tells what is in service")
        return _on_snapshot(settings, chosen, live, ref_named(head) if head else None, order, output)
    before, wanted = releases_named(settings, chosen, base, head)
    policy = build.policy_of(settings)
    wanted, refused = with_refusals(wanted, policy, build.structures_of())
    situation = between(before, wanted, policy, build.health_of(settings), chosen.rules)
    situation = replace(situation, refused=refused)
    note = f"{base or 'nothing'} compared with {head or chosen.ref}; no cluster was looked at"
    return show_plan(plan_in_order(situation, order), output, observed=False, note=note)


@app.command()
def plan(
    set_name: SetArgument = "",
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
    syncer = build.syncer_of(settings, chosen_set(settings, set_name), build.tools_of(settings))
    return show_plan(syncer.plan(order), output, observed=True)


def _on_snapshot(
    settings: Settings, chosen: SetConfig, live: Path, head: Ref | None, order: Order, output: Output
) -> int:
    snapshot = read_snapshot(live)
    tools = build.snapshot_tools_of(settings, chosen, snapshot)
    syncer = build.syncer_of(settings, chosen, tools, ref=head)
    taken = datetime.fromtimestamp(snapshot.taken, UTC)
    age = span(time.time() - snapshot.taken)
    note = f"the cluster as it was {age} ago ({taken:%Y-%m-%d %H:%M:%S} UTC), snapshot {snapshot.digest[:12]}"
    told = {"taken": snapshot.taken, "digest": snapshot.digest}
    return show_plan(syncer.plan(order), output, observed=False, note=note, live=told)
