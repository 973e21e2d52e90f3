"""``verify``: the promise, judged on every state of a recorded upgrade."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import orjson
import typer
from rich.console import Console

from agent import build
from agent.cli.app import app
from agent.cli.codes import NOT_SAFE, OK
from agent.cli.options import Output, OutputOption
from agent.cli.showing import print_json
from agent.core import render
from agent.core.prediction import Prediction, prediction_of
from agent.errors import SourceError
from agent.settings import DEFAULT_FILE, load_settings
from agent.shell.recording import judge, read


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `trapeze sync --record FILE` wrote.")],
    minimum: Annotated[
        int, typer.Option(min=0, help="Ready endpoints that a path keeps; 0: what was recorded.")
    ] = 0,
    predicted: Annotated[
        Path | None, typer.Option(help="What `trapeze rehearse -o json` printed of it, to be compared.")
    ] = None,
    output: OutputOption = Output.TEXT,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="Whose tables are used; trapeze.yaml if it is here.")
    ] = None,
) -> int:
    """Whether every serving path held in every recorded state.

    Exits 3 where one did not.

    No cluster and no repo are asked.
    """
    foretold = _foretold(predicted) if predicted else None
    found = read(file)
    terms = replace(found.terms, minimum=minimum) if minimum else found.terms
    verdict = judge(found, build.routes_of(_tables(config)), terms)
    if output is Output.JSON:
        print_json(render.verdict_json(verdict, foretold))
    elif output is Output.MARKDOWN:
        sys.stdout.write(render.verdict_markdown(verdict, foretold))
    else:
        Console().print(render.verdict_text(verdict, foretold))
    return OK if verdict.is_kept else NOT_SAFE


def _tables(config: Path | None) -> Sequence[Path]:
    """The user's tables: a file that is named must be there, the usual one need not."""
    usual = Path(DEFAULT_FILE)
    if config is None and not usual.exists():
        return ()
    return load_settings(config or usual).policies


def _foretold(file: Path) -> Prediction:
    """What the file foretells; SourceError where it is no rehearsal."""
    try:
        return prediction_of(orjson.loads(file.read_bytes()))
    except (OSError, ValueError, AttributeError) as error:
        raise SourceError(f"--predicted {file}: {error}") from error
