"""``sync`` and ``run``: one tick, ticks until done, or the agent."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from agent import build
from agent.cli.app import app
from agent.cli.codes import ERROR, NOT_SAFE, OK
from agent.cli.options import (
    ConfigOption,
    ContextOption,
    KubeconfigOption,
    OrderOption,
    Output,
    OutputOption,
    SetArgument,
    chosen_set,
    settings_from,
)
from agent.cli.showing import complain, print_report
from agent.core.orders import Order
from agent.core.render.words import printable
from agent.core.waiting import for_a_person
from agent.errors import ClusterError
from agent.progress import Progress
from agent.settings import DEFAULT_FILE
from agent.shell.report import Report, State
from agent.shell.schedule import Schedule
from agent.shell.until import is_for_a_person, until_done

PAUSE: Final = 1.0


@app.command()
def sync(
    set_name: SetArgument = "",
    wait: Annotated[bool, typer.Option("--until-done", help="Tick until in service.")] = False,  # noqa: FBT002 - typer's own way to a flag
    timeout: Annotated[float, typer.Option(help="Seconds that --until-done waits.")] = 600.0,
    order: OrderOption = Order.GATED,
    record: Annotated[
        Path | None, typer.Option(help="A new file for `trapeze verify`; .gz packs it.")
    ] = None,
    output: OutputOption = Output.TEXT,
    config: ConfigOption = Path(DEFAULT_FILE),
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> int:
    """One tick: apply every step whose gates are open. Exits 3 while steps are held."""
    settings = settings_from(config, kubeconfig, context)
    chosen, tools = chosen_set(settings, set_name), build.tools_of(settings)
    syncer = build.syncer_of(settings, chosen, tools)
    progress = Progress(Console(stderr=output is not Output.TEXT))
    with build.recorded(settings, chosen, tools, record) as announce:

        def heard(report: Report | ClusterError) -> None:
            announce()
            progress.heard(report)

        announce()
        if wait:
            report = until_done(syncer, order, timeout=timeout, pause=PAUSE, heard=heard)
            if report.plan is not None and is_for_a_person(report):
                for line in for_a_person(report.plan):
                    sys.stderr.write(f"only a person can act: {printable(line)}\n")
            elif report.state is State.HELD:
                sys.stderr.write(f"still held after {timeout:g} s; `trapeze status` says why\n")
        else:
            report = syncer.tick(order)
            progress.heard(report)
    if output is not Output.TEXT:
        print_report(report, output)
    for line in report.errors:
        complain(line)
    if report.errors or report.state is State.REFUSED:
        return ERROR
    return OK if report.state in (State.IN_SERVICE, State.ABSENT) else NOT_SAFE


@app.command()
def run(
    config: ConfigOption = Path(DEFAULT_FILE),
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> int:
    """The agent: a tick of every set on an interval, until SIGTERM."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.getLogger("apscheduler").setLevel(logging.WARNING)
    settings = settings_from(config, kubeconfig, context)
    tools = build.tools_of(settings)
    syncers = {one.name: build.syncer_of(settings, one, tools) for one in settings.sets}
    Schedule({name: syncer.tick for name, syncer in syncers.items()}, settings.interval).run()
    return OK
