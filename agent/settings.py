"""trapeze.yaml: what it may say, checked once and frozen.

Every error names file, line, key, value and what is allowed, and is a ``ConfigError``.
"""

from __future__ import annotations

import json
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, Final, Self

from pydantic import Field, ValidationError, model_validator
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from agent.core.nearest import nearest
from agent.core.situation import Rules
from agent.errors import ConfigError
from agent.settings_errors import said
from agent.settings_parts import PATTERNS, DnsLabel, Duration, Table
from agent.settings_set import ConfigPath, SetConfig

__all__ = ["DEFAULT_FILE", "SetConfig", "Settings", "load_settings", "schema_text", "settings_of"]

DEFAULT_FILE: Final = "trapeze.yaml"


class Settings(Table):
    """The whole of trapeze.yaml. Durations are in seconds once read."""

    sets: tuple[SetConfig, ...] = Field(min_length=1)
    ledger_namespace: DnsLabel = Field(default="trapeze-system", description="Where the ledgers live.")
    policies: tuple[ConfigPath, ...] = Field(
        default=(), description="Policy tables that extend the shipped ones."
    )
    cache_dir: ConfigPath = Field(
        default=Path("~/.cache/trapeze"),
        validate_default=True,
        description="Mirrors of the repos and parsed manifests.",
    )
    kubeconfig: ConfigPath | None = Field(
        default=None, description="Else KUBECONFIG, ~/.kube/config, or the pod's own credentials."
    )
    context: str | None = Field(
        default=None, description="A context of the kubeconfig, else its current one."
    )
    interval: Duration = Field(default=60.0, description="How often `trapeze run` looks.")

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        names = [one.name for one in self.sets]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"set names are unique, and {', '.join(twice)} stands twice")
        return self

    @model_validator(mode="after")
    def _names_of_others(self) -> Self:
        names = [one.name for one in self.sets]
        for one in self.sets:
            for other in one.depends_on:
                if other not in names:
                    raise ValueError(
                        f"set {one.name} depends on {other}, which is no set{nearest(other, names)}"
                    )
            for name in one.formerly:
                if name in names:
                    raise ValueError(f"set {one.name} was formerly {name}, and {name} is a set of its own")
        try:
            TopologicalSorter({one.name: one.depends_on for one in self.sets}).prepare()
        except CycleError as error:
            circle = " -> ".join(reversed(error.args[1]))
            raise ValueError(f"sets depend on each other in a circle: {circle}") from None
        return self

    def rules_of(self, config: SetConfig) -> Rules:
        """What the plan is told of one set beside the others."""
        dependents = tuple(one.name for one in self.sets if config.name in one.depends_on)
        return replace(config.rules, ledger_namespace=self.ledger_namespace, dependents=dependents)

    def set_named(self, name: str) -> SetConfig:
        """The set of that name.

        Raises:
            ConfigError: there is none; the nearest name is told.
        """
        by_name = {one.name: one for one in self.sets}
        if name not in by_name:
            raise ConfigError(f"no set is called {name}{nearest(name, by_name)}; sets: {', '.join(by_name)}")
        return by_name[name]


def load_settings(path: Path) -> Settings:
    """Read ``trapeze.yaml``; relative paths in it start at its folder.

    Raises:
        ConfigError: the file cannot be read, is no YAML, or says something that is not allowed.
    """
    try:
        data = YAML(typ="rt", pure=True).load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError(f"reading the config {path}: {reason}; name another with --config") from None
    except MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ConfigError(f"{path}{line}: {error.problem or error.context}") from None
    except YAMLError as error:
        raise ConfigError(f"{path}: {error}") from None
    return settings_of(data, path, path.absolute().parent)


def settings_of(data: Any, path: Path, base: Path) -> Settings:
    """Settings of parsed content; errors name ``path``, relative paths start at ``base``.

    Raises:
        ConfigError: it says something that is not allowed.
    """
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: a config is a map that names sets, see docs/config.schema.json")
    try:
        return Settings.model_validate(data, context={"base": base})
    except ValidationError as error:
        raise ConfigError("\n".join(said(error, data, path, Settings, PATTERNS))) from None


def schema_text() -> str:
    """The JSON Schema of trapeze.yaml, as published in docs/config.schema.json."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Settings.model_json_schema()}
    return json.dumps(schema, indent=2) + "\n"
