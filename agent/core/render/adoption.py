"""How a release that others installed compares with a revision: text and JSON. No value is shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from agent.core.adoption import Adoptee, Match
from agent.core.model import Body, path_text
from agent.core.render.words import counted, printable

ADOPTION_FORMAT: Final = "trapeze.dev/adoption/v1"


def adoption_text(found: Sequence[Adoptee]) -> str:
    """A line for each object with its fields' managers, one below for each field that differs."""
    lines = [line for adoptee in found for line in _lines(adoptee)]
    counts = Counter(adoptee.match for adoptee in found)
    told = ", ".join(f"{counts[match]} {match.value}" for match in Match if counts[match])
    return "\n".join([*lines, f"{counted(len(found), 'object')}: {told}"]) + "\n"


def adoption_json(found: Sequence[Adoptee]) -> Body:
    """Each object, and each declared field that has a manager (docs/adoption.schema.json)."""
    return {
        "format": ADOPTION_FORMAT,
        "objects": [
            {
                "kind": str(adoptee.id.group_kind),
                "namespace": adoptee.id.namespace,
                "name": adoptee.id.name,
                "match": adoptee.match.value,
                "reason": adoptee.reason,
                "differs": [path_text(path) for path in adoptee.differs],
                "managers": {path_text(path): list(names) for path, names in adoptee.owners.items()},
            }
            for adoptee in found
        ],
    }


def _lines(adoptee: Adoptee) -> Iterator[str]:
    fields = Counter(name for names in adoptee.owners.values() for name in names)
    owners = ", ".join(f"{name} ({counted(number, 'field')})" for name, number in fields.most_common())
    reason = f": {adoptee.reason}" if adoptee.reason else ""
    managed = f"; managed by {owners}" if owners else ""
    yield printable(f"{adoptee.match.value:8} {adoptee.id}{managed}{reason}")
    for path in adoptee.differs:
        names = adoptee.owners.get(path)
        yield printable(f"         {path_text(path)}" + (f" ({', '.join(names)})" if names else ""))
