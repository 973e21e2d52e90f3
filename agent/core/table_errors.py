"""What is wrong with a policy table, in words: place, field, value, what is allowed."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel

from agent.core import tables


def in_words(error: Any) -> str:
    """One error of pydantic about ``tables.Tables``."""
    where = tables.place_of(error)
    if error["type"] == "extra_forbidden":
        return f"{where}: not known; allowed: {', '.join(sorted(_model_at(error['loc'][:-1]).model_fields))}"
    return f"{where}: {error['msg'].removeprefix('Value error, ')}, not {error['input']!r}"


def _model_at(place: tuple[str | int, ...]) -> type[BaseModel]:
    """The model whose fields stand at a place of the tables."""
    model: type[BaseModel] = tables.Tables
    for part in place:
        if isinstance(part, str):
            annotation = model.model_fields[part].annotation
            inner = [one for one in (annotation, *get_args(annotation)) if isinstance(one, type)]
            model = next(one for one in inner if issubclass(one, BaseModel))
    return model
