"""What is wrong with a config, in words: place, key, value, what is allowed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, get_args

from pydantic import BaseModel, ValidationError

from agent.core.nearest import nearest

_LONGEST_VALUE: Final = 60
_CREDENTIALS: Final = re.compile(r"(?<=://)[^/@\s]+(?=@)")


def said(
    error: ValidationError, data: Any, file: Path, model: type[BaseModel], patterns: Mapping[str, str]
) -> Iterator[str]:
    """One line for each thing that is wrong.

    ``data`` is the config with ruamel.yaml's places; ``patterns`` says in words what a pattern allows.
    """
    for detail in error.errors(include_url=False):
        location = tuple(part for part in detail["loc"] if not _is_machinery(part))
        if detail["type"] == "too_short" and detail["input"]:
            continue  # the list is short only because pydantic left its wrong entries out
        where = f"{file}:{_line(data, location)}: "
        key = _key_text(data, location)
        if detail["type"] == "extra_forbidden":
            known = _known_keys(model, location)
            hint = nearest(str(location[-1]), known)
            yield f"{where}unknown key {key}{hint}; allowed: {', '.join(known)}"
        elif detail["type"] == "missing":
            yield f"{where}{key} is missing"
        else:
            value = "" if isinstance(detail["input"], dict) else f" = {_shown(detail['input'])}"
            yield f"{where}{key}{value}: {_allowed(detail, patterns)}"


def _allowed(detail: Any, patterns: Mapping[str, str]) -> str:
    if detail["type"] == "string_pattern_mismatch":
        return f"allowed is {patterns[detail['ctx']['pattern']]}"
    if detail["type"] == "too_short":
        return "at least one is needed"
    message: str = detail["msg"].removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def _is_machinery(part: str | int) -> bool:
    """Whether pydantic's own validators put it among the keys."""
    return isinstance(part, str) and ("[" in part or "(" in part)


def _line(data: Any, location: tuple[str | int, ...]) -> int:
    """The line of the deepest key of ``location`` that is written, counted from 1."""
    line = 0
    for part in location:
        written = "path" if part == "paths" and isinstance(data, dict) and "path" in data else part
        if not hasattr(data, "lc") or (isinstance(data, dict) and written not in data):
            break
        line = (data.lc.item(part) if isinstance(part, int) else data.lc.key(written))[0]
        data = _child(data, written)
    return line + 1


def _key_text(data: Any, location: tuple[str | int, ...]) -> str:
    """``sets[web].ref``: entries are named where they have a name."""
    text = ""
    for part in location:
        data = _child(data, part)
        if isinstance(part, int):
            name = data.get("name") if isinstance(data, dict) else None
            text += f"[{name if isinstance(name, str) else part}]"
        else:
            text += f".{part}" if text else part
    return text or "the config"


def _child(data: Any, part: str | int) -> Any:
    try:
        return data[part]
    except (KeyError, IndexError, TypeError):
        return None


def _known_keys(model: type[BaseModel], location: tuple[str | int, ...]) -> list[str]:
    """The keys that may stand where the last part of ``location`` stands."""
    for part in location[:-1]:
        if isinstance(part, str):
            model = next(_models(model.model_fields[part].annotation))
    names = [field.alias or name for name, field in model.model_fields.items()]
    return [*names, *(["path"] if "paths" in model.model_fields else [])]


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)


def _shown(value: Any) -> str:
    text = _CREDENTIALS.sub("***", repr(value))
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."
