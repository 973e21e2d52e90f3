"""``preview`` and ``plan``: what an upgrade would do; nothing is written."""

from __future__ import annotations

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
    settings_from,
)
from agent.cli.showing import show_plan
from agent.core.naive import naive_plan
from agent.core.plan import make_plan
from agent.core.preview import between
from agent.settings import DEFAULT_FILE, load_settings
from agent.shell.report import Order


@app.command()
def preview(
    set_name: SetArgument = "",
    base: Annotated[str, typer.Option(help="What is in service: a branch, tag or commit.")] = "",
    head: Annotated[str, typer.Option(help="What is wanted; the set's ref when not given.")] = "",
    repo: Annotated[str, typer.Option(help="A repo, in place of a configuration.")] = "",
    path: Annotated[list[str] | None, typer.Option(help="Paths or globs in --repo.")] = None,
    order: OrderOption = Order.GATED,
    output: OutputOption = Output.TEXT,
    config: ConfigOption = Path(DEFAULT_FILE),
) -> int:
    """The plan of an upgrade between two revisions, without a cluster.

    Refs are told apart by branch:NAME, tag:NAME and commit:ID where a plain name is not enough.
    """
    settings = ad_hoc(repo, path or ["."], head) if repo else load_settings(config)
    chosen = chosen_set(settings, set_name)
    kinds = build.kinds_of()
    head_source = build.source_of(settings, chosen, ref_named(head) if head else None)
    wanted = head_source.desired(head_source.resolve(), kinds)
    before = None
    if base:
        base_source = build.source_of(settings, chosen, ref_named(base))
        before = base_source.desired(base_source.resolve(), kinds)
    situation = between(before, wanted, build.policy_of(settings), build.health_of(settings), chosen.rules)
    make = make_plan if order is Order.GATED else naive_plan
    note = f"{base or 'nothing'} compared with {head or chosen.ref}; no cluster was looked at"
    return show_plan(make(situation), output, observed=False, note=note)


@app.command()
def plan(
    set_name: SetArgument = "",
    order: OrderOption = Order.GATED,
    output: OutputOption = Output.TEXT,
    config: ConfigOption = Path(DEFAULT_FILE),
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> int:
    """What a sync would do now, step by step, and what each step waits for; nothing is written."""
    settings = settings_from(config, kubeconfig, context)
    syncer = build.syncer_of(settings, chosen_set(settings, set_name), build.tools_of(settings))
    return show_plan(syncer.plan(order), output, observed=True)
