"""The tables of lists beside the API server's own document, for every built-in kind."""

from __future__ import annotations

from pathlib import Path

from agent.build import kinds_of
from agent.core.model import Body, GroupKind
from agent.core.paths import Pattern, parse_pattern
from agent.core.rules import Rule
from agent.core.schemas import Schema
from agent.shell.kube_discovery import discover
from agent.shell.openapi import OpenApi
from tests.core.casefiles import shipped
from tests.rig.cluster import Cluster

WITHOUT_PODS = GroupKind("", "PodTemplate")
"""No controller makes pods of it, so the rows of pods do not reach it; with a server its document does."""


def served(cluster: Cluster, folder: Path) -> dict[GroupKind, Schema]:
    """The schemas of the built-in kinds in the versions that the server prefers."""
    found = discover(cluster.api.get).resources
    versions = {kind: resource.versions[0] for kind, resource in found.items() if kinds_of().get(kind)}
    return dict(OpenApi(cluster.api.get, folder).schemas(versions))


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


def test_tables_say_what_the_server_says(cluster: Cluster, tmp_path: Path) -> None:
    found = served(cluster, tmp_path)
    assert len(found) > 50
    del found[WITHOUT_PODS]
    told = [line for kind, schema in sorted(found.items()) for line in differences(kind, schema)]
    assert told == [], "\n".join(told)


def test_a_document_is_fetched_once_for_each_hash(cluster: Cluster, tmp_path: Path) -> None:
    asked: list[str] = []

    def get(path: str) -> Body:
        asked.append(path)
        body: Body = cluster.api.get(path)
        return body

    versions = {GroupKind("apps", "Deployment"): "v1", GroupKind("apps", "Nothing"): "v1"}
    first = OpenApi(get, tmp_path).schemas(versions)
    again = OpenApi(get, tmp_path).schemas(versions)
    assert first == again
    assert list(first) == [GroupKind("apps", "Deployment")]
    assert [path.partition("?")[0] for path in asked] == [
        "/openapi/v3",
        "/openapi/v3/apis/apps/v1",
        "/openapi/v3",
    ]
