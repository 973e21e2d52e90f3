"""``validate``: all that the API server would refuse of a set, with its places; nothing is written."""

from __future__ import annotations

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from agent import __version__, build
from agent.cli.app import app
from agent.cli.codes import ERROR, OK
from agent.cli.options import (
    ConfigOption,
    ContextOption,
    KubeconfigOption,
    SetArgument,
    ad_hoc,
    chosen_set,
    ref_named,
)
from agent.cli.showing import print_json
from agent.core import render
from agent.core.model import Severity
from agent.settings import DEFAULT_FILE, load_settings
from agent.shell.validating import served_structures
from agent.shell.validating import validate as validate_set


class Report(Enum):
    """How the findings are printed."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


@app.command()
def validate(
    set_name: SetArgument = "",
    repo: Annotated[str, typer.Option(help="A repo, in place of a configuration.")] = "",
    path: Annotated[list[str] | None, typer.Option(help="Paths or globs in --repo.")] = None,
    ref: Annotated[str, typer.Option(help="A branch, tag or commit; the set's own when not given.")] = "",
    kubernetes: Annotated[
        str,
        typer.Option(help="The version that it shall run on, like 1.29; decides on removed API versions."),
    ] = "",
    output: Annotated[
        Report, typer.Option("--output", "-o", help="How the findings are printed.")
    ] = Report.TEXT,
    config: ConfigOption = Path(DEFAULT_FILE),
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> int:
    """Everything that the API server would refuse, with file and line.

    Nothing is written. Exits 1 on errors.

    Schemas are those of the server that --kubeconfig or --context names, of the set's own
    CustomResourceDefinitions, and the shipped ones.
    """
    settings = ad_hoc(repo, path or ["."], ref) if repo else load_settings(config)
    chosen = chosen_set(settings, set_name)
    source = build.source_of(settings, chosen, ref_named(ref) if ref else None)
    structures = build.structures_of(kubernetes)
    if kubeconfig or context:
        flags = {"kubeconfig": kubeconfig, "context": context}
        asked = settings.model_copy(update={key: value for key, value in flags.items() if value})
        structures = served_structures(build.tools_of(asked).cluster, structures)
    found, objects = validate_set(source, build.kinds_of(), build.policy_of(settings), structures)
    if output is Report.SARIF:
        print_json(render.findings_sarif(found, __version__))
    elif output is Report.JSON:
        print_json(render.findings_json(found, objects))
    else:
        sys.stdout.write(render.findings_text(found, objects))
    return ERROR if any(one.finding.severity is not Severity.WARNING for one in found) else OK
