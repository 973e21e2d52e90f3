"""The shipped table of defaults beside the schemas of the API server, for every built-in kind."""

from __future__ import annotations

from agent.core.model import Body
from agent.core.paths import parse_pattern
from agent.core.schemas import described
from tests.core.casefiles import shipped
from tests.rig.schemas import TABLE, unpacked


def documents() -> dict[str, Body]:
    """The shipped schemas as documents of group-versions."""
    table = unpacked(TABLE)
    found: dict[str, Body] = {}
    for key, name in table["kinds"].items():
        api_version, kind = key.split(" ")
        group, _, version = api_version.rpartition("/")
        marked = {
            **table["components"][name],
            "x-kubernetes-group-version-kind": [{"group": group, "version": version, "kind": kind}],
        }
        document = found.setdefault(api_version, {"components": {"schemas": dict(table["components"])}})
        document["components"]["schemas"][name] = marked
    return found


def test_tables_fill_in_what_the_server_fills_in() -> None:
    told = []
    looked = 0
    for api_version, document in documents().items():
        for kind, schema in described(document, api_version).items():
            rules = shipped().of(kind).rules
            for row in schema.defaults:
                rule = rules
                for part in parse_pattern(row.path):
                    rule = rule.child(part) if isinstance(part, str) else rule.of_item
                looked += 1
                if rule.default != row.value:
                    told.append(f"{kind} {row.path}: server {row.value!r}, tables {rule.default!r}")
    assert told == []
    assert looked > 100
