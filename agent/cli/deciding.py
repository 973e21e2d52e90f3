"""What people decide: ``pin``, ``rollback``, ``suspend``, ``approve``, ``revoke`` and the like.

Each is written into the ledger with who, when and why; the next tick goes by it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

import typer

from agent import build
from agent.cli.app import app
from agent.cli.codes import OK
from agent.cli.options import ConfigOption, ContextOption, KubeconfigOption, settings_from
from agent.core import deciding
from agent.core.acts import Act
from agent.core.ledger import Ledger
from agent.core.levers import PRUNES, binding_of
from agent.core.render.history import act_words
from agent.core.render.words import printable
from agent.settings import DEFAULT_FILE
from agent.shell.deciding import Decider
from agent.shell.tick import Syncer

SetNamed = Annotated[str, typer.Argument(metavar="SET", help="A set of the configuration.")]
StepNamed = Annotated[str, typer.Argument(metavar="STEP", help='As the plan says: "delete Namespace old".')]
ReasonOption = Annotated[str, typer.Option("--reason", "-r", help="Why; it is kept in the ledger.")]
DEFAULT: Final = Path(DEFAULT_FILE)


@app.command()
def pin(
    set_name: SetNamed,
    generation: Annotated[int, typer.Option(help="Which one; the newest when not given.")] = 0,
    reason: ReasonOption = "",
    config: ConfigOption = DEFAULT,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> int:
    """Stay at a generation, whatever Git says, until `trapeze unpin`."""
    decider, _ = _decider(set_name, config, kubeconfig, context)
    return _told(set_name, decider.decide(lambda ledger: deciding.pin(ledger, generation, reason)))


@app.command()
def rollback(
    set_name: SetNamed,
    to: Annotated[int, typer.Option(help="Which generation; the last that served when not given.")] = 0,
    reason: ReasonOption = "",
    config: ConfigOption = DEFAULT,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> int:
    """Go back to an earlier generation, until `trapeze unpin`.

    The set stays there, also against newer commits.
    """
    decider, _ = _decider(set_name, config, kubeconfig, context)
    return _told(set_name, decider.decide(lambda ledger: deciding.rollback(ledger, to, reason)))


@app.command()
def abort(
    set_name: SetNamed,
    reason: ReasonOption = "",
    config: ConfigOption = DEFAULT,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> int:
    """Give up this handoff, until `trapeze unpin`.

    The set goes back to the generation in service.
    """
    return _simple(set_name, deciding.abort, reason, (config, kubeconfig, context))


@app.command()
def unpin(
    set_name: SetNamed,
    reason: ReasonOption = "",
    config: ConfigOption = DEFAULT,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> int:
    """Follow Git again: lifts a pin, a rollback or an abort."""
    return _simple(set_name, deciding.unpin, reason, (config, kubeconfig, context))


@app.command()
def suspend(
    set_name: SetNamed,
    reason: ReasonOption = "",
    config: ConfigOption = DEFAULT,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> int:
    """Write nothing more of this set until `trapeze resume`."""
    return _simple(set_name, deciding.suspend, reason, (config, kubeconfig, context))


@app.command()
def resume(
    set_name: SetNamed,
    reason: ReasonOption = "",
    config: ConfigOption = DEFAULT,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> int:
    """Go on with a set that was suspended."""
    return _simple(set_name, deciding.resume, reason, (config, kubeconfig, context))


@app.command()
def approve(
    set_name: SetNamed,
    step: StepNamed,
    reason: ReasonOption = "",
    config: ConfigOption = DEFAULT,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> int:
    """Let a step go that waits for approval.

    Bound to this very object and to what the step does to it.

    STEP `prunes` lets members be pruned that were adopted, or rebuilt after the ledger was lost.
    """
    decider, syncer = _decider(set_name, config, kubeconfig, context)
    if step == PRUNES:
        act = decider.decide(lambda ledger: deciding.agree(ledger, reason), deciding.agreed)
        return _told(set_name, act)
    situation, plan = syncer.considered()
    binding = binding_of(situation, deciding.step_named(plan, step))
    return _told(set_name, decider.decide(lambda _: deciding.approve(plan, step, binding, reason)))


@app.command()
def override(
    set_name: SetNamed,
    step: StepNamed,
    reason: Annotated[str, typer.Option("--reason", "-r", help="Why; it is kept in the ledger.")],
    gate: Annotated[str, typer.Option(help="Which gate, where more than one is closed.")] = "",
    config: ConfigOption = DEFAULT,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> int:
    """Open one gate of one step that you know better.

    Bound as an approval is.
    """
    decider, syncer = _decider(set_name, config, kubeconfig, context)
    situation, plan = syncer.considered()
    binding = binding_of(situation, deciding.step_named(plan, step))
    return _told(set_name, decider.decide(lambda _: deciding.override(plan, step, gate, binding, reason)))


@app.command()
def revoke(
    set_name: SetNamed,
    step: StepNamed,
    reason: ReasonOption = "",
    config: ConfigOption = DEFAULT,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> int:
    """Take back the approvals and overrides of a step.

    What was done by them stays done.
    """
    return _simple(
        set_name,
        lambda ledger, why: deciding.revoke(ledger, step, why),
        reason,
        (config, kubeconfig, context),
    )


_Where = tuple[Path, Path | None, str | None]


def _simple(set_name: str, choose: Callable[[Ledger, str], Act], reason: str, where: _Where) -> int:
    decider, _ = _decider(set_name, *where)
    return _told(set_name, decider.decide(lambda ledger: choose(ledger, reason)))


def _decider(
    set_name: str, config: Path, kubeconfig: Path | None, context: str | None
) -> tuple[Decider, Syncer]:
    settings = settings_from(config, kubeconfig, context)
    chosen, tools = settings.set_named(set_name), build.tools_of(settings)
    return Decider(tools, chosen.name), build.syncer_of(settings, chosen, tools)


def _told(set_name: str, act: Act) -> int:
    sys.stdout.write(f"set {set_name}: {printable(act_words(act))}, by {printable(act.by)}\n")
    return OK
