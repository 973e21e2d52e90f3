"""Where in a file a field stands: its line, for findings that name one."""

from __future__ import annotations

from typing import Any, Final

import yaml

from agent.core.validation.problem import RawPath

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def line_of(text: str, first_line: int, path: RawPath) -> int:
    """The line of a field in the document that starts at ``first_line``; that of what is nearest around it.

    Answers ``first_line`` where the document is written in a way that does not say (a List, JSON).
    """
    line = first_line
    node = _document(text, first_line)
    for part in path:
        found = _child(node, part)
        if found is None:
            break
        line, node = found
    return line


def _document(text: str, first_line: int) -> Any:
    """The last document that starts at this line or before."""
    found = None
    try:
        for node in yaml.compose_all(text, Loader=_LOADER):
            if node is not None and node.start_mark.line + 1 <= first_line:
                found = node
    except yaml.YAMLError:
        # The documents before the broken one have their lines all the same.
        return found
    return found


def _child(node: Any, part: str | int) -> tuple[int, Any] | None:
    if isinstance(node, yaml.MappingNode) and isinstance(part, str):
        for key, value in node.value:
            if key.value == part:
                return key.start_mark.line + 1, value
    elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part].start_mark.line + 1, node.value[part]
    return None
