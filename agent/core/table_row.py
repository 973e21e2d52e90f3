"""What the rows of all policy tables have in common: kinds, and a path in them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from agent.core.paths import parse_pattern


def _path(text: str) -> str:
    parse_pattern(text)
    return text


def _many(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


PathText = Annotated[str, AfterValidator(_path)]
KindText = Annotated[str, Field(pattern=r"^(\*|pods|[A-Z][A-Za-z0-9]*(\.[a-z0-9.-]+)?)$")]
Kinds = Annotated[tuple[KindText, ...], BeforeValidator(_many, json_schema_input_type=str | list[str])]
Texts = Annotated[tuple[str, ...], BeforeValidator(_many, json_schema_input_type=str | list[str])]


class Row(BaseModel):
    """What every row has: the kinds that it speaks of and, in most tables, a path in them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kinds
    path: PathText = ""

    @property
    def key(self) -> tuple[str, ...]:
        """A later row with the same key takes the place of this one."""
        return (*self.kind, self.path, str(getattr(self, "when", "")))
