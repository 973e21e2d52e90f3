"""A set checked as it stands in Git: every finding with the line of its field."""

from __future__ import annotations

from collections.abc import Sequence

from agent.core.kinds import Kinds
from agent.core.policy import Policy
from agent.core.validation.checks import Checked, validated
from agent.core.validation.structures import Structures
from agent.core.yamlplaces import line_of
from agent.shell.cluster import Cluster
from agent.shell.set_source import GitSource


def validate(
    source: GitSource, kinds: Kinds, policy: Policy, structures: Structures
) -> tuple[Sequence[Checked], int]:
    """All that is wrong with the set at its ref, by file and line, and how many objects were checked.

    Raises:
        SourceError: the repo, the ref or the path cannot be had.
    """
    commit = source.resolve()
    desired = source.desired(commit, kinds)
    found = validated(desired, policy, structures)
    files = {one.file for one in found if one.problem is not None}
    texts = {file: data.decode("utf-8", "replace") for file, data in source.contents(commit, files).items()}
    lined = [_with_line(one, texts.get(one.file, "")) for one in found]
    return sorted(lined, key=lambda one: (one.file, one.line, one.rule)), len(desired.manifests)


def served_structures(cluster: Cluster, shipped: Structures) -> Structures:
    """The structures of all that a cluster serves, over the shipped ones. Raises ClusterError."""
    versions = {
        f"{resource.kind.group}/{version}" if resource.kind.group else version
        for resource in cluster.discover().resources.values()
        for version in resource.versions
    }
    structures = shipped
    for _, document in sorted(cluster.openapi(versions).items()):
        structures = structures.with_document(document.body)
    return structures


def _with_line(one: Checked, text: str) -> Checked:
    if one.problem is None or one.finding.origin is None:
        return one
    return one._replace(line=line_of(text, one.finding.origin.line, one.problem.path))
