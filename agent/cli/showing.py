"""How a command prints what the core says: for a terminal, a pull request or a program."""

from __future__ import annotations

import secrets
import sys
from typing import Any

import orjson
from rich.console import Console

from agent.cli.codes import CHANGES, ERROR, NOT_SAFE, OK
from agent.cli.options import Output
from agent.core import render
from agent.core.model import Body, Severity
from agent.core.steps import Plan
from agent.shell.report import Report


def show_plan(plan: Plan, output: Output, *, observed: bool, note: str = "", live: Body | None = None) -> int:
    """Print a plan; answers its exit code. ``live`` tells of the snapshot it is made from."""
    key = secrets.token_bytes(32)
    if output is Output.JSON:
        print_json(render.as_json(plan, key) | ({"live": live} if live else {}))
    elif output is Output.MARKDOWN:
        sys.stdout.write(render.markdown(plan, key, observed=observed, note=note))
    else:
        console = Console()
        shown = render.text(plan, key, observed=observed, note=note)
        sys.stdout.write(render.printed(shown, console.width, colour=console.color_system is not None))
    errors = [finding for finding in plan.findings if finding.severity is not Severity.WARNING]
    if errors:
        return ERROR
    if not plan.changes and not plan.steps:
        return OK
    return NOT_SAFE if plan.needs_a_person else CHANGES


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
