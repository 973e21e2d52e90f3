"""``adopt``: a release that kubectl, Helm or an operator installed becomes a set's own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from agent import build
from agent.cli.app import app
from agent.cli.codes import NOT_SAFE, OK
from agent.cli.deciding import SetNamed
from agent.cli.options import (
    ConfigOption,
    ContextOption,
    KubeconfigOption,
    Output,
    OutputOption,
    ref_named,
    settings_from,
)
from agent.cli.showing import complain, print_json
from agent.core.adoption import Match
from agent.core.render.adoption import adoption_json, adoption_text
from agent.core.render.words import counted
from agent.settings import DEFAULT_FILE
from agent.shell.adopting import Adopter


@app.command()
def adopt(
    set_name: SetNamed,
    revision: Annotated[str, typer.Option(help="What stands in the cluster: a branch, tag or commit.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only compare.")] = False,  # noqa: FBT002 - typer's own way to a flag
    undo: Annotated[bool, typer.Option("--undo", help="Give back what was adopted.")] = False,  # noqa: FBT002 - typer's own way to a flag
    output: OutputOption = Output.TEXT,
    config: ConfigOption = Path(DEFAULT_FILE),
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> int:
    """Take over what stands as the revision has it.

    What differs is held and named.

    No field changes, and nothing is pruned until a person agrees. Exits 3 where not all was taken over.
    """
    settings = settings_from(config, kubeconfig, context)
    chosen, tools = settings.set_named(set_name), build.tools_of(settings)
    syncer = build.syncer_of(settings, chosen, tools, ref=ref_named(revision) if revision else None)
    adopter = Adopter(tools, syncer, chosen.name, chosen.manager)
    if undo:
        return _undone(adopter)
    found, outcomes = (adopter.compared()[2], []) if dry_run else adopter.adopt()
    if output is Output.JSON:
        print_json(adoption_json(found))
    else:
        sys.stdout.write(adoption_text(found))
    failed = [outcome for outcome in outcomes if outcome.error]
    for outcome in failed:
        complain(f"{outcome.step.id}: {outcome.error}")
    is_whole = all(one.match in (Match.MATCHES, Match.MEMBER) for one in found)
    return OK if is_whole and not failed else NOT_SAFE


def _undone(adopter: Adopter) -> int:
    kept, outcomes = adopter.undo()
    failed = [outcome for outcome in outcomes if outcome.error]
    sys.stdout.write(f"{counted(len(outcomes) - len(failed), 'object')} given back\n")
    for outcome in failed:
        complain(f"{outcome.step.id}: {outcome.error}")
    for key in kept:
        complain(f"{key} stays a member: it was written since, or is not the object that was adopted")
    return NOT_SAFE if kept or failed else OK
