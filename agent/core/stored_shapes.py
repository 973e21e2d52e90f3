"""What objects in our own files must look like, before anything is made of them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent.core.model import Body


class _Metadata(BaseModel):
    model_config = ConfigDict(strict=True)
    name: str
    namespace: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class _Object(BaseModel):
    model_config = ConfigDict(strict=True)
    api_version: str = Field(alias="apiVersion")
    kind: str
    metadata: _Metadata


def checked_object(value: Any) -> Body:
    """The object as it stands, when it has the frame that every object of an API server has.

    Raises ValueError that says where it has not.
    """
    try:
        _Object.model_validate(value)
    except ValidationError as error:
        raise ValueError(f"no object: {where(error)}") from None
    body: Body = value
    return body


def where(error: ValidationError) -> str:
    """The first thing that is wrong, with its place; never the value, which may be anybody's."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    said = first["msg"][:1].lower() + first["msg"][1:]
    return f"{place}: {said}" if place else said
