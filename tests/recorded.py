"""What the README shows as output is what the program printed: blocks between markers, checked or renewed."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tests.core.golden import UPDATE

README = Path(__file__).parents[1] / "README.md"


def recorded(name: str, output: str) -> str:
    """The README's block ``name``; where TRAPEZE_UPDATE_GOLDEN is set it becomes ``output`` first.

    A block is a fence that follows the line ``<!-- recorded: name -->``. Raises LookupError where the
    README has none of that name.
    """
    readme = README.read_text(encoding="utf-8")
    block = re.compile(
        rf"(<!-- recorded: {re.escape(name)} -->\n```\w*\n)(.*?)(^```$)", re.DOTALL | re.MULTILINE
    )
    found = block.search(readme)
    if found is None:
        raise LookupError(f"README.md has no block <!-- recorded: {name} -->")
    if os.environ.get(UPDATE):
        README.write_text(f"{readme[: found.start(2)]}{output}{readme[found.end(2) :]}", encoding="utf-8")
        return output
    return found.group(2)


def names() -> set[str]:
    """Every recorded block of the README."""
    return set(re.findall(r"<!-- recorded: (\S+) -->", README.read_text(encoding="utf-8")))


def stripped(text: str) -> str:
    """``text`` without blanks at the ends of lines."""
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())
