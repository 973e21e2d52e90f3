"""How a command prints what the core says: for a terminal, a pull request or a program."""

from __future__ import annotations

import secrets
import sys
from typing import Any, NamedTuple

import orjson
from rich.console import Console

from agent.cli.codes import CHANGES, ERROR, NOT_SAFE, OK
from agent.cli.options import Output
from agent.core import render
from agent.core.model import Body, Severity
from agent.core.rehearsal.answer import Rehearsal
from agent.core.steps import Plan
from agent.shell.report import Report


class Shown(NamedTuple):
    """What is shown with a plan.

    ``note`` says what was compared with what, ``live`` tells of the snapshot that the plan is made from,
    ``rehearsal`` what the upgrade does in a model. ``observed``: the plan is of a live cluster.
    """

    observed: bool
    note: str = ""
    live: Body | None = None
    rehearsal: Rehearsal | None = None


def show_plan(plan: Plan, output: Output, shown: Shown) -> int:
    """Print a plan; answers its exit code: also that a rehearsal found it not safe."""
    key = secrets.token_bytes(32)
    observed, note, live, rehearsal = shown
    if output is Output.JSON:
        more = {"live": live} if live else {}
        more |= {"rehearsal": render.rehearsal_json(rehearsal)} if rehearsal else {}
        print_json(render.as_json(plan, key) | more)
    elif output is Output.MARKDOWN:
        sys.stdout.write(render.markdown(plan, key, observed=observed, note=note, rehearsal=rehearsal))
    else:
        console = Console()
        told = render.text(plan, key, observed=observed, note=note)
        sys.stdout.write(render.printed(told, console.width, colour=console.color_system is not None))
        if rehearsal:
            sys.stdout.write("\n" + render.rehearsal_text(rehearsal))
    errors = [finding for finding in plan.findings if finding.severity is not Severity.WARNING]
    if errors:
        return ERROR
    if not plan.changes and not plan.steps:
        return OK
    is_safe = not plan.needs_a_person and (rehearsal is None or rehearsal.is_safe)
    return CHANGES if is_safe else NOT_SAFE


def print_report(report: Report, output: Output) -> None:
    """Print what one tick did, for a pull request or a program."""
    key = secrets.token_bytes(32)
    if output is Output.JSON:
        written = [{"step": o.step.key, "error": o.error} for o in report.outcomes]
        shown = render.as_json(report.plan, key) if report.plan else None
        print_json({"state": report.state.value, "written": written, "plan": shown})
    elif report.plan:
        sys.stdout.write(render.markdown(report.plan, key, observed=True))


def print_json(value: Any) -> None:
    """Print JSON, indented."""
    sys.stdout.write(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() + "\n")


def complain(text: str) -> None:
    """Print an error to stderr."""
    sys.stderr.write(f"error: {text}\n")
