"""The tables of lists beside the API server's own document, for every built-in kind."""

from __future__ import annotations

from agent.build import kinds_of
from agent.core.model import Body, GroupKind
from agent.core.paths import Pattern, parse_pattern
from agent.core.rules import Rule
from agent.core.schemas import Schema, described
from agent.shell.kube_discovery import discover
from agent.shell.openapi import OpenApi
from tests.core.casefiles import shipped
from tests.rig.cluster import Cluster


def served(cluster: Cluster) -> dict[GroupKind, Schema]:
    """The schemas of the built-in kinds in the versions that the server prefers."""
    found = discover(cluster.api.get).resources
    known = kinds_of()
    preferred = {
        kind: f"{kind.group}/{resource.versions[0]}" if kind.group else resource.versions[0]
        for kind, resource in found.items()
        if known.get(kind)
    }
    documents = OpenApi(cluster.api.get).documents(set(preferred.values()))
    schemas = {version: described(document.body, version) for version, document in documents.items()}
    return {kind: schemas[version][kind] for kind, version in preferred.items() if kind in schemas[version]}


def ruled(pattern: Pattern, rule: Rule) -> Rule:
    """The rule that the tables have at a path."""
    for part in pattern:
        rule = rule.child(part) if isinstance(part, str) else rule.of_item
    return rule


def differences(kind: GroupKind, schema: Schema) -> list[str]:
    """Where the tables say otherwise than the server, one line each."""
    rules = shipped().of(kind).rules
    told = []
    for row in schema.lists:
        rule = ruled(parse_pattern(row.path), rules)
        wanted = (row.type, tuple(sorted(row.keys)))
        if (rule.type, rule.keys) != wanted:
            told.append(f"{kind} {row.path}: server {wanted}, tables {(rule.type, rule.keys)}")
    return told


def test_tables_say_what_the_server_says(cluster: Cluster) -> None:
    found = served(cluster)
    assert len(found) > 50
    told = [line for kind, schema in sorted(found.items()) for line in differences(kind, schema)]
    assert told == [], "\n".join(told)


def test_a_document_is_fetched_once_for_each_hash(cluster: Cluster) -> None:
    asked: list[str] = []

    def get(path: str) -> Body:
        asked.append(path)
        body: Body = cluster.api.get(path)
        return body

    documents = OpenApi(get)
    first = documents.documents({"apps/v1", "nothing.example/v1"})
    again = documents.documents({"apps/v1"})
    assert first["apps/v1"] is again["apps/v1"]
    assert list(first) == ["apps/v1"]
    assert GroupKind("apps", "Deployment") in described(first["apps/v1"].body, "apps/v1")
    assert [path.partition("?")[0] for path in asked] == [
        "/openapi/v3",
        "/openapi/v3/apis/apps/v1",
        "/openapi/v3",
    ]
