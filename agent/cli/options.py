"""Flags that several commands share, and what they stand for."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from agent import build
from agent.core.model import Desired
from agent.core.orders import Order
from agent.core.refs import Ref, RefKind
from agent.errors import ConfigError
from agent.settings import SetConfig, Settings, load_settings, settings_of


class Output(Enum):
    """How a result is printed."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


ConfigOption = Annotated[Path, typer.Option("--config", "-c", help="The configuration file.")]
SetArgument = Annotated[str, typer.Argument(metavar="[SET]", help="A set of the configuration.")]
OutputOption = Annotated[Output, typer.Option("--output", "-o", help="How the result is printed.")]
OrderOption = Annotated[
    Order,
    typer.Option(
        help="gated; naive: apply, then prune, without gates; kubectl, helm, flux: in theirs, to compare."
    ),
]
RehearseOption = Annotated[
    bool, typer.Option("--rehearse", help="Rehearse the upgrade in a model too; 3 if it is not safe.")
]
KubeconfigOption = Annotated[Path | None, typer.Option(help="In place of the configuration's kubeconfig.")]
ContextOption = Annotated[str | None, typer.Option(help="In place of the configuration's context.")]

RecordOption = Annotated[
    Path | None, typer.Option(help="Record into a new file, for `trapeze verify`; .gz packs it.")
]


def ref_named(text: str) -> Ref:
    """A ref of the command line: ``branch:NAME``, ``tag:NAME``, ``commit:ID`` or a plain name."""
    kind, separator, name = text.partition(":")
    kinds = {kind.value: kind for kind in RefKind if kind is not RefKind.ANY}
    return Ref(kinds[kind], name) if separator and kind in kinds else Ref(RefKind.ANY, text)


def ad_hoc(repo: str, paths: list[str], head: str) -> Settings:
    """Settings of one set that stands on the command line."""
    one = {"name": "preview", "repo": repo, "ref": head or "HEAD", "paths": paths}
    return settings_of({"sets": [one]}, Path("command line"), Path.cwd())


def settings_from(config: Path, kubeconfig: Path | None, context: str | None) -> Settings:
    """The configuration, with what the flags say in its place. Raises ConfigError."""
    flags = {"kubeconfig": kubeconfig, "context": context}
    return load_settings(config).model_copy(update={key: value for key, value in flags.items() if value})


def chosen_set(settings: Settings, set_name: str) -> SetConfig:
    """The set of that name, or the only one. Raises ConfigError."""
    if set_name:
        return settings.set_named(set_name)
    if len(settings.sets) == 1:
        return settings.sets[0]
    names = ", ".join(one.name for one in settings.sets)
    raise ConfigError(f"the configuration has several sets; name one of: {names}")


def releases_named(
    settings: Settings, chosen: SetConfig, base: str, head: str
) -> tuple[Desired | None, Desired]:
    """What a set wants at two refs of the command line: ``base`` empty is nothing, ``head`` the set's own.

    Raises SourceError, ConfigError.
    """
    kinds = build.kinds_of()

    def wanted(ref: str) -> Desired:
        source = build.source_of(settings, chosen, ref_named(ref) if ref else None)
        return source.desired(source.resolve(), kinds)

    return wanted(base) if base else None, wanted(head)
