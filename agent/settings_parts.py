"""What a set of trapeze.yaml is made of: tables in it, with the patterns of their values."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Final, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from agent.core.hints import Hint
from agent.core.situation import Window
from agent.settings_values import DURATION, seconds
from agent.shell.windows import trigger_of

DNS_LABEL: Final = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"
OBJECT: Final = r"^[A-Z][A-Za-z0-9]*(\.[a-z0-9.-]+)? [a-z0-9.:-]+(/[a-z0-9.:-]+)?$"
KIND_OR_OBJECT: Final = r"^[A-Z][A-Za-z0-9]*(\.[a-z0-9.-]+)?( [a-z0-9.:-]+(/[a-z0-9.:-]+)?)?$|^\*$"
PATTERNS: Final = {
    DNS_LABEL: "a DNS label: lower case letters, digits and -, at most 63",
    OBJECT: 'an object like "Deployment shop/web"',
    KIND_OR_OBJECT: 'a kind like Namespace, an object like "Namespace old", or * for an empty source',
}

DnsLabel = Annotated[str, StringConstraints(pattern=DNS_LABEL)]
Duration = Annotated[
    float,
    BeforeValidator(seconds),
    WithJsonSchema({"anyOf": [{"type": "string", "pattern": DURATION}, {"type": "number", "minimum": 0}]}),
]


class Table(BaseModel):
    """A map of trapeze.yaml: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SetState(Enum):
    """Whether a set shall stand."""

    PRESENT = "present"
    ABSENT = "absent"


class Limits(Table):
    """How much may be pruned at once."""

    count: int | None = Field(default=None, ge=0, description="So many objects.")
    percent: float | None = Field(
        default=None, ge=0, le=100, description="Such a share of all objects that were and are wanted."
    )


class Prune(Table):
    """What may be pruned."""

    allow: tuple[Annotated[str, StringConstraints(pattern=KIND_OR_OBJECT)], ...] = Field(
        default=(),
        description="Kinds (Namespace) or objects (Namespace old) that are pruned without approval; "
        "* where a source without an object shall take all away.",
    )
    budget: Limits = Field(
        default=Limits(),
        description="A revision that would prune more prunes nothing, and says so. "
        "Where nothing is said, more than 20 objects that are also more than half of all are too many.",
    )


class WindowConfig(Table):
    """A maintenance window of a set."""

    cron: str = Field(description="When it opens: minute, hour, day, month, weekday by name, as 0 2 * * sat.")
    lasts: Duration = Field(description="How long it stays open.")
    timezone: str = Field(default="UTC", description="The time zone of cron, as Europe/Berlin.")

    @model_validator(mode="after")
    def _is_known(self) -> Self:
        trigger_of(self.window)
        return self

    @property
    def window(self) -> Window:
        """The window as a value."""
        return Window(self.cron, self.lasts, self.timezone)


class HintConfig(Table):
    """What the manifests of one object cannot tell; the same as annotations on the object."""

    object: str = Field(pattern=OBJECT, description='The object, like "Deployment shop/web".')
    ready_once_gone: str = Field(
        default="", pattern=OBJECT, description="An object: its pods become ready only when that is gone."
    )
    ready_once_done: str = Field(
        default="",
        pattern=OBJECT,
        description="A Job: its pods become ready only when that has completed.",
    )
    tokens_outside: bool = Field(
        default=False, description="Tokens of this ServiceAccount are used outside the cluster."
    )

    @property
    def hint(self) -> Hint:
        """The hint as a value."""
        return Hint(self.ready_once_gone, self.ready_once_done, self.tokens_outside, self.object)
