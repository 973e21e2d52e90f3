"""An explanation as text, Markdown and JSON: names only, no value of any field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from agent.core.explain import Explanation, Link
from agent.core.render.escape import code
from agent.core.render.words import printable

EXPLANATION_FORMAT: Final = "trapeze.dev/explanation/v1"


def explained(found: Explanation) -> str:
    """Plain text: two blocks, a line for each field."""
    lines = [f"{found.id}{'' if found.is_there else ' (is not there)'}"]
    lines += ["", "names", *_rows(found.names, outward=True)]
    lines += ["", "named by", *_rows(found.named_by, outward=False)]
    return "\n".join(map(printable, lines)) + "\n"


def explained_markdown(found: Explanation) -> str:
    """The same as two Markdown tables."""
    lines = [f"### {code(str(found.id))}{'' if found.is_there else ' (is not there)'}"]
    for title, links, outward in (("Names", found.names, True), ("Named by", found.named_by, False)):
        lines += ["", f"**{title}**", ""]
        if links:
            lines += ["| object | field | note |", "| --- | --- | --- |"]
            lines += [f"| {code(_other(one, outward))} | {code(one.field)} | {_note(one)} |" for one in links]
        else:
            lines.append("nothing")
    return "\n".join(lines) + "\n"


def explained_json(found: Explanation) -> Any:
    """The same for programs (docs/explanation.schema.json)."""

    def shown(link: Link) -> dict[str, Any]:
        return {
            "holder": link.holder._asdict(),
            "field": link.field,
            "says": link.says,
            "objects": [key._asdict() for key in link.ids],
            "there": link.is_there,
            "grants": link.grants,
        }

    return {
        "format": EXPLANATION_FORMAT,
        "id": found.id._asdict(),
        "there": found.is_there,
        "names": [shown(link) for link in found.names],
        "namedBy": [shown(link) for link in found.named_by],
    }


def _rows(links: Sequence[Link], *, outward: bool) -> Iterator[str]:
    if not links:
        yield "  nothing"
    for link in links:
        note = _note(link)
        yield f"  {_other(link, outward)}  {link.field}" + (f"  ({note})" if note else "")


def _other(link: Link, outward: bool) -> str:  # noqa: FBT001 - the two blocks of one page
    if not outward:
        return str(link.holder)
    by_labels = [str(key) for key in link.ids if str(key) != link.says]
    return f"{link.says}: {', '.join(by_labels)}" if by_labels else link.says


def _note(link: Link) -> str:
    notes = ["makes or serves it"] if link.grants else []
    return ", ".join([*notes, *([] if link.is_there else ["is not there"])])
