"""``snapshot``: what a preview needs to know of a live cluster, for those who have no access to it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from agent import build
from agent.cli.app import app
from agent.cli.codes import OK
from agent.cli.options import ConfigOption, ContextOption, KubeconfigOption, SetArgument, settings_from
from agent.core.render.words import counted
from agent.settings import DEFAULT_FILE
from agent.shell.snapshot import take, write


@app.command()
def snapshot(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to put it; .gz packs it.")],
    set_name: SetArgument = "",
    config: ConfigOption = Path(DEFAULT_FILE),
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> int:
    """Write what a plan looks at now, for `preview --live FILE`.

    Values of Secrets are masked.
    """
    settings = settings_from(config, kubeconfig, context)
    sets = [settings.set_named(set_name)] if set_name else settings.sets
    sources = {one.name: build.source_of(settings, one) for one in sets}
    taken = take(build.tools_of(settings), sources, settings.ledger_namespace)
    write(taken, file)
    objects = sum(len(read.items) for read in taken.reads.values())
    sys.stdout.write(f"{file}: {counted(objects, 'object')} of {counted(len(sets), 'set')}\n")
    return OK
