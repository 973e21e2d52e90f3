"""trapeze.yaml: what it may say, checked once and frozen.

Every error names file, line, key, value and what is allowed, and is a ``ConfigError``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, Any, Final, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from agent.core.refs import Ref
from agent.core.situation import Foreign, Rules
from agent.errors import ConfigError
from agent.settings_errors import nearest, said
from agent.settings_values import DURATION, ref_of, repo_path, seconds

DEFAULT_FILE: Final = "trapeze.yaml"

_DNS_LABEL: Final = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"
_OBJECT: Final = r"^[A-Z][A-Za-z0-9]*(\.[a-z0-9.-]+)? [a-z0-9.:-]+(/[a-z0-9.:-]+)?$"
_KIND_OR_OBJECT: Final = r"^[A-Z][A-Za-z0-9]*(\.[a-z0-9.-]+)?( [a-z0-9.:-]+(/[a-z0-9.:-]+)?)?$|^\*$"
_PATTERNS: Final = {
    _DNS_LABEL: "a DNS label: lower case letters, digits and -, at most 63",
    _OBJECT: 'an object like "Deployment shop/web"',
    _KIND_OR_OBJECT: 'a kind like Namespace, an object like "Namespace old", or * for an empty source',
}
_SCHEMES: Final = ("https", "ssh", "file")
_SCP: Final = re.compile(r"[\w.-]+@[\w.-]+:(?!//).+")


def _from_config(path: Path, info: ValidationInfo) -> Path:
    """Relative paths start at the folder of the config file."""
    base = (info.context or {}).get("base", Path())
    return Path(base) / path.expanduser()


def _path_or_paths(schema: dict[str, Any]) -> None:
    """A set says ``path`` where one is enough."""
    schema["properties"]["path"] = {"type": "string", "minLength": 1, "description": "A single one of paths."}
    schema["required"].remove("paths")
    schema["oneOf"] = [{"required": ["path"]}, {"required": ["paths"]}]


DnsLabel = Annotated[str, StringConstraints(pattern=_DNS_LABEL)]
Duration = Annotated[
    float,
    BeforeValidator(seconds),
    WithJsonSchema({"anyOf": [{"type": "string", "pattern": DURATION}, {"type": "number", "minimum": 0}]}),
]
RefValue = Annotated[
    InstanceOf[Ref],
    BeforeValidator(ref_of),
    WithJsonSchema(
        {
            "oneOf": [
                {"type": "string", "minLength": 1},
                *(
                    {
                        "type": "object",
                        "properties": {word: {"type": "string", "minLength": 1}},
                        "required": [word],
                        "additionalProperties": False,
                    }
                    for word in ("branch", "tag", "commit")
                ),
            ]
        }
    ),
]
RepoPath = Annotated[str, StringConstraints(min_length=1), AfterValidator(repo_path)]
ConfigPath = Annotated[Path, AfterValidator(_from_config)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Prune(_Table):
    """What may be pruned."""

    allow: tuple[Annotated[str, StringConstraints(pattern=_KIND_OR_OBJECT)], ...] = Field(
        default=(),
        description="Kinds (Namespace) or objects (Namespace old) that are pruned without approval; "
        "* where a source without an object shall take all away.",
    )


class SetConfig(_Table):
    """One set: a path of one Git ref, synced to one cluster. Durations are in seconds once read."""

    model_config = ConfigDict(json_schema_extra=_path_or_paths)

    name: DnsLabel = Field(description="Stands in the label trapeze.dev/set and in the field manager.")
    repo: str = Field(
        min_length=1,
        description="A local path (from this file), or a file, https or ssh URL.",
    )
    ref: RefValue = Field(description="A branch, tag or commit; a plain name that is both is refused.")
    paths: tuple[RepoPath, ...] = Field(
        min_length=1, description="Folders, files or globs within the repo; path for a single one."
    )
    namespace: DnsLabel = Field(
        default="default", description="For namespaced objects that name none; default is kubectl's own."
    )
    settle: Duration = Field(default=10.0, description="How long a cutover must be seen good.")
    prune: Prune = Field(default=Prune())
    take_over: tuple[str, ...] = Field(default=(), description="Field managers whose fields are taken over.")
    foreign_entries: Foreign = Field(
        default=Foreign.HOLD,
        description="Entries of shared lists that no Git version ever had: hold, keep or drop.",
    )
    allow_downtime: tuple[Annotated[str, StringConstraints(pattern=_OBJECT)], ...] = Field(
        default=(), description='Objects whose rollout may stop old pods first, like "Deployment shop/web".'
    )

    @model_validator(mode="before")
    @classmethod
    def _one_path_or_many(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        if "path" not in data:
            return data
        if "paths" in data:
            raise ValueError("say path or paths, not both")
        rest = {key: value for key, value in data.items() if key != "path"}
        return {**rest, "paths": [data["path"]]}

    @field_validator("repo")
    @classmethod
    def _known_transport(cls, repo: str, info: ValidationInfo) -> str:
        scheme, separator, _ = repo.partition("://")
        if separator and scheme in _SCHEMES:
            return repo
        if separator or repo.startswith("-") or "::" in repo:
            raise ValueError("a repo is a local path, or a URL of file, https or ssh")
        return repo if _SCP.fullmatch(repo) else str(_from_config(Path(repo), info))

    @property
    def manager(self) -> str:
        """The set's field manager."""
        return f"trapeze/{self.name}"

    @property
    def rules(self) -> Rules:
        """What the plan is told of this set."""
        return Rules(
            manager=self.manager,
            settle=self.settle,
            allow=frozenset(self.prune.allow),
            allow_downtime=frozenset(self.allow_downtime),
            foreign=self.foreign_entries,
            take_over=frozenset(self.take_over),
        )


class Settings(_Table):
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
        raise ConfigError("\n".join(said(error, data, path, Settings, _PATTERNS))) from None


def schema_text() -> str:
    """The JSON Schema of trapeze.yaml, as published in docs/config.schema.json."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Settings.model_json_schema()}
    return json.dumps(schema, indent=2) + "\n"
