"""One set of trapeze.yaml: what it may say, as values.

Patterns and what they allow stand here for the whole file.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Final, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from agent.core.budget import Budget
from agent.core.gates import EVERYTHING
from agent.core.refs import Ref
from agent.core.render_tool import Rendering, Tool
from agent.core.situation import AfterDeadline, ConfigChanges, Foreign, Rules
from agent.settings_parts import OBJECT, DnsLabel, Duration, HintConfig, Prune, SetState, Table, WindowConfig
from agent.settings_values import ref_of, repo_path

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


class SetConfig(Table):
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
    render: Tool | None = Field(
        default=None,
        description="The tool that renders path, which must be installed: kustomize (or kubectl), or helm.",
    )
    values: tuple[RepoPath, ...] = Field(default=(), description="Helm's files of values within the repo.")
    release: DnsLabel | None = Field(default=None, description="Helm's name of the release, else the set's.")
    state: SetState = Field(
        default=SetState.PRESENT,
        description="absent: the whole set goes, in reverse order; neither repo nor ref is read for it.",
    )
    depends_on: tuple[DnsLabel, ...] = Field(
        default=(),
        alias="dependsOn",
        description="Sets that must be in service before anything of this one is written.",
    )
    formerly: tuple[DnsLabel, ...] = Field(
        default=(), description="Names that this set had: what stands under them is its own."
    )
    settle: Duration = Field(default=10.0, description="How long a cutover must be seen good.")
    prune: Prune = Field(default=Prune())
    take_over: tuple[str, ...] = Field(
        default=(),
        description="Field managers whose fields are taken over (kubectl-client-side-apply, helm). What they "
        "declared and Git lacks goes: by kubectl's annotation, by Helm's record of its release.",
    )
    foreign_entries: Foreign = Field(
        default=Foreign.HOLD,
        description="Entries of shared lists that no Git version ever had: hold, keep or drop.",
    )
    config_changes: ConfigChanges = Field(
        default=ConfigChanges.WRITE,
        description="Changed values of ConfigMaps and Secrets that pods of the generation before read. "
        "write: at once, and the plan says who reads them; hold: when no such pod is left. "
        "trapeze.dev/config-changes on the object goes first.",
    )
    allow_downtime: tuple[Annotated[str, StringConstraints(pattern=OBJECT)], ...] = Field(
        default=(), description='Objects whose rollout may stop old pods first, like "Deployment shop/web".'
    )

    deadline: Duration = Field(
        default=0.0, description="How long a handoff may take before after_deadline counts; 0 for ever."
    )
    after_deadline: AfterDeadline = Field(
        default=AfterDeadline.HOLD,
        description="hold: go on waiting; point-back: pointers that moved go back, none moves any more; "
        "revert: back to the generation in service, until unpinned.",
    )
    windows: tuple[WindowConfig, ...] = Field(
        default=(), description="When pointers may move and things may be taken away; always, without any."
    )
    windows_for_all: bool = Field(
        default=False, description="Whether additive changes wait for a window too."
    )

    hints: tuple[HintConfig, ...] = Field(
        default=(), description="What manifests alone cannot tell; a rehearsal lists it as assumed."
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

    @model_validator(mode="after")
    def _render_fits(self) -> Self:
        if self.render is not None and len(self.paths) != 1:
            raise ValueError("render takes one path")
        if self.render is not Tool.HELM and (self.values or self.release):
            raise ValueError("values and release are for render: helm")
        return self

    @property
    def rendering(self) -> Rendering | None:
        """How the set is rendered; None where its files are manifests."""
        if self.render is None:
            return None
        return Rendering(self.render, self.paths[0], self.release or self.name, self.namespace, self.values)

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
    def is_absent(self) -> bool:
        """Whether the whole set shall go."""
        return self.state is SetState.ABSENT

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
            allow=frozenset(self.prune.allow) | ({EVERYTHING} if self.is_absent else set()),
            allow_downtime=frozenset(self.allow_downtime),
            foreign=self.foreign_entries,
            take_over=frozenset(self.take_over),
            config_changes=self.config_changes,
            budget=Budget(self.prune.budget.count, self.prune.budget.percent),
            deadline=self.deadline,
            after_deadline=self.after_deadline,
            windows=tuple(one.window for one in self.windows),
            windows_for_all=self.windows_for_all,
            formerly=frozenset(self.formerly),
            depends_on=self.depends_on,
            is_absent=self.is_absent,
            hints=tuple(one.hint for one in self.hints),
        )
