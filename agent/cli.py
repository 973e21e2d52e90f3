"""The command ``trapeze``: parses, builds the shell's objects, prints what the core's values say."""

from __future__ import annotations

import logging
import secrets
import sys
import time
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Final

import orjson
import typer
from rich.console import Console

from agent import __version__
from agent.build import health_of, kinds_of, policy_of, source_of, syncer_of, tools_of
from agent.core import render
from agent.core.model import Severity
from agent.core.naive import naive_plan
from agent.core.plan import make_plan
from agent.core.preview import between
from agent.core.refs import Ref, RefKind
from agent.core.steps import Plan
from agent.errors import ConfigError, TrapezeError
from agent.progress import Progress
from agent.settings import DEFAULT_FILE, SetConfig, Settings, load_settings, settings_of
from agent.shell.explaining import in_cluster, in_set
from agent.shell.report import Order, Report, State
from agent.shell.schedule import Schedule
from agent.shell.until import until_done

OK: Final = 0
ERROR: Final = 1
CHANGES: Final = 2
NOT_SAFE: Final = 3
INTERRUPTED: Final = 130
_PAUSE: Final = 1.0


class Output(Enum):
    """How a result is printed."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


app = typer.Typer(
    name="trapeze",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help=(
        "Moves a cluster between release generations in Git without dropping a request. "
        "Exit codes: 0 nothing to do or in service, 1 error, 2 changes, 3 not safe or held."
    ),
)

ConfigOption = Annotated[Path, typer.Option("--config", "-c", help="The configuration file.")]
SetArgument = Annotated[str, typer.Argument(metavar="[SET]", help="A set of the configuration.")]
OutputOption = Annotated[Output, typer.Option("--output", "-o", help="How the result is printed.")]
OrderOption = Annotated[
    Order,
    typer.Option(help="gated; or naive: apply, then prune, at once and without gates."),
]
KubeconfigOption = Annotated[Path | None, typer.Option(help="In place of the configuration's kubeconfig.")]
ContextOption = Annotated[str | None, typer.Option(help="In place of the configuration's context.")]


@app.callback(invoke_without_command=True)
def top(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:  # noqa: FBT002 - typer's own way to a flag
    """Exit codes: 0 nothing to do or in service, 1 error, 2 changes, 3 not safe or held."""
    if version:
        sys.stdout.write(f"trapeze {__version__}\n")


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
    settings = _ad_hoc(repo, path or ["."], head) if repo else load_settings(config)
    chosen = _chosen(settings, set_name)
    kinds = kinds_of()
    head_source = source_of(settings, chosen, _ref(head) if head else None)
    wanted = head_source.desired(head_source.resolve(), kinds)
    before = None
    if base:
        base_source = source_of(settings, chosen, _ref(base))
        before = base_source.desired(base_source.resolve(), kinds)
    situation = between(before, wanted, policy_of(settings), health_of(settings), chosen.rules)
    make = make_plan if order is Order.GATED else naive_plan
    note = f"{base or 'nothing'} compared with {head or chosen.ref}; no cluster was looked at"
    return _show(make(situation), output, observed=False, note=note)


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
    settings = _settings(config, kubeconfig, context)
    syncer = syncer_of(settings, _chosen(settings, set_name), tools_of(settings))
    return _show(syncer.plan(order), output, observed=True)


@app.command()
def sync(
    set_name: SetArgument = "",
    wait: Annotated[bool, typer.Option("--until-done", help="Tick until in service.")] = False,  # noqa: FBT002 - typer's own way to a flag
    timeout: Annotated[float, typer.Option(help="Seconds that --until-done waits.")] = 600.0,
    order: OrderOption = Order.GATED,
    output: OutputOption = Output.TEXT,
    config: ConfigOption = Path(DEFAULT_FILE),
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> int:
    """One tick: apply every step whose gates are open. Exits 3 while steps are held."""
    settings = _settings(config, kubeconfig, context)
    syncer = syncer_of(settings, _chosen(settings, set_name), tools_of(settings))
    progress = Progress(Console(stderr=output is not Output.TEXT))
    if wait:
        report = until_done(syncer, order, timeout=timeout, pause=_PAUSE, heard=progress.heard)
        if report.state is State.HELD:
            sys.stderr.write(f"still held after {timeout:g} s; `trapeze status` says why\n")
    else:
        report = syncer.tick(order)
        progress.heard(report)
    if output is not Output.TEXT:
        _print_report(report, output)
    for line in report.errors:
        _complain(line)
    if report.errors or report.state is State.REFUSED:
        return ERROR
    return OK if report.state is State.IN_SERVICE else NOT_SAFE


@app.command()
def status(
    set_name: SetArgument = "",
    output: OutputOption = Output.TEXT,
    config: ConfigOption = Path(DEFAULT_FILE),
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> int:
    """Where each set stands by its ledger: generation, what is held, since when and why."""
    settings = _settings(config, kubeconfig, context)
    sets = [settings.set_named(set_name)] if set_name else settings.sets
    store = tools_of(settings).store
    ledgers = [store.load(one.name)[0] for one in sets]
    if output is Output.JSON:
        _print_json(render.status_json(ledgers))
    elif output is Output.MARKDOWN:
        sys.stdout.write(render.status_markdown(ledgers, time.time()))
    else:
        Console().print(render.status(ledgers, time.time()))
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
    """What an object names, and who names it: in the cluster, or in a repo alone."""
    if repo:
        settings = _ad_hoc(repo, path or ["."], ref)
        source = source_of(settings, settings.sets[0], _ref(ref) if ref else None)
        desired = source.desired(source.resolve(), kinds_of())
        found = in_set(desired, policy_of(settings), kinds_of(), kind, name)
    else:
        tools = tools_of(_settings(config, kubeconfig, None))
        found = in_cluster(tools.cluster, tools.policy, kind, name)
    if output is Output.JSON:
        _print_json(render.explained_json(found))
    else:
        shown = render.explained if output is Output.TEXT else render.explained_markdown
        sys.stdout.write(shown(found))
    return OK


@app.command()
def run(
    config: ConfigOption = Path(DEFAULT_FILE),
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> int:
    """The agent: a tick of every set on the configured interval, until SIGTERM."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.getLogger("apscheduler").setLevel(logging.WARNING)
    settings = _settings(config, kubeconfig, context)
    tools = tools_of(settings)
    syncers = {one.name: syncer_of(settings, one, tools) for one in settings.sets}
    Schedule({name: syncer.tick for name, syncer in syncers.items()}, settings.interval).run()
    return OK


def main() -> None:
    """The console script. Wrong usage exits 1: 2 would read as changes."""
    try:
        code = app(standalone_mode=False)
    except TrapezeError as error:
        _complain(str(error))
        code = ERROR
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception as error:
        # typer keeps the base class of its usage errors to itself; what it shows is what marks them.
        if not hasattr(error, "show"):
            raise
        error.show()
        code = ERROR
    sys.exit(code if isinstance(code, int) else OK)


def _ref(text: str) -> Ref:
    kind, separator, name = text.partition(":")
    kinds = {kind.value: kind for kind in RefKind if kind is not RefKind.ANY}
    return Ref(kinds[kind], name) if separator and kind in kinds else Ref(RefKind.ANY, text)


def _ad_hoc(repo: str, paths: list[str], head: str) -> Settings:
    """Settings of one set that stands on the command line."""
    one = {"name": "preview", "repo": repo, "ref": head or "HEAD", "paths": paths}
    return settings_of({"sets": [one]}, Path("command line"), Path.cwd())


def _settings(config: Path, kubeconfig: Path | None, context: str | None) -> Settings:
    flags = {"kubeconfig": kubeconfig, "context": context}
    return load_settings(config).model_copy(update={key: value for key, value in flags.items() if value})


def _chosen(settings: Settings, set_name: str) -> SetConfig:
    if set_name:
        return settings.set_named(set_name)
    if len(settings.sets) == 1:
        return settings.sets[0]
    names = ", ".join(one.name for one in settings.sets)
    raise ConfigError(f"the configuration has several sets; name one of: {names}")


def _show(plan: Plan, output: Output, *, observed: bool, note: str = "") -> int:
    key = secrets.token_bytes(32)
    if output is Output.JSON:
        _print_json(render.as_json(plan, key))
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


def _print_report(report: Report, output: Output) -> None:
    key = secrets.token_bytes(32)
    if output is Output.JSON:
        written = [{"step": o.step.key, "error": o.error} for o in report.outcomes]
        shown = render.as_json(report.plan, key) if report.plan else None
        _print_json({"state": report.state.value, "written": written, "plan": shown})
    elif report.plan:
        sys.stdout.write(render.markdown(report.plan, key, observed=True))


def _print_json(value: Any) -> None:
    sys.stdout.write(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() + "\n")


def _complain(text: str) -> None:
    sys.stderr.write(f"error: {text}\n")
