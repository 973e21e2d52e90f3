"""``status``, ``history`` and ``explain``: where things stand, how they came there, and who names whom."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from agent import build
from agent.cli.app import app
from agent.cli.codes import OK
from agent.cli.options import (
    ConfigOption,
    ContextOption,
    KubeconfigOption,
    Output,
    OutputOption,
    SetArgument,
    ad_hoc,
    ref_named,
    settings_from,
)
from agent.cli.showing import print_json
from agent.core import render
from agent.settings import DEFAULT_FILE
from agent.shell.explaining import in_cluster, in_set


@app.command()
def status(
    set_name: SetArgument = "",
    output: OutputOption = Output.TEXT,
    config: ConfigOption = Path(DEFAULT_FILE),
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> int:
    """Where each set stands, what is held, since when and why."""
    settings = settings_from(config, kubeconfig, context)
    sets = [settings.set_named(set_name)] if set_name else settings.sets
    store = build.tools_of(settings).store
    ledgers = [store.load(one.name)[0] for one in sets]
    if output is Output.JSON:
        print_json(render.status_json(ledgers))
    elif output is Output.MARKDOWN:
        sys.stdout.write(render.status_markdown(ledgers, time.time()))
    else:
        Console().print(render.status(ledgers, time.time()))
    return OK


@app.command()
def history(
    set_name: SetArgument = "",
    output: OutputOption = Output.TEXT,
    config: ConfigOption = Path(DEFAULT_FILE),
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> int:
    """Generations of each set, what people decided, what was pruned."""
    settings = settings_from(config, kubeconfig, context)
    sets = [settings.set_named(set_name)] if set_name else settings.sets
    store = build.tools_of(settings).store
    ledgers = [store.load(one.name)[0] for one in sets]
    if output is Output.JSON:
        print_json(render.history_json(ledgers))
    else:
        shown = render.history if output is Output.TEXT else render.history_markdown
        sys.stdout.write(shown(ledgers))
    return OK


@app.command("explain")
def explain_command(
    kind: Annotated[str, typer.Argument(help="Deployment, deployments or Kind.group.")],
    name: Annotated[str, typer.Argument(help="namespace/name, or name.")],
    repo: Annotated[str, typer.Option(help="A repo, in place of the cluster.")] = "",
    path: Annotated[list[str] | None, typer.Option(help="Paths or globs in --repo.")] = None,
    ref: Annotated[str, typer.Option(help="A branch, tag or commit of --repo.")] = "",
    output: OutputOption = Output.TEXT,
    config: ConfigOption = Path(DEFAULT_FILE),
    kubeconfig: KubeconfigOption = None,
) -> int:
    """What an object names, and who names it.

    In the cluster, or in a repo alone.
    """
    if repo:
        settings = ad_hoc(repo, path or ["."], ref)
        source = build.source_of(settings, settings.sets[0], ref_named(ref) if ref else None)
        desired = source.desired(source.resolve(), build.kinds_of())
        found = in_set(desired, build.policy_of(settings), build.kinds_of(), kind, name)
    else:
        tools = build.tools_of(settings_from(config, kubeconfig, None))
        found = in_cluster(tools.cluster, tools.policy, kind, name)
    if output is Output.JSON:
        print_json(render.explained_json(found))
    else:
        shown = render.explained if output is Output.TEXT else render.explained_markdown
        sys.stdout.write(shown(found))
    return OK
