"""Every upgrade of the corpus is planned as a preview plans it, and classified as its index says."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agent.core.facet import Facet, FacetKind
from agent.core.model import Action, Category, Severity
from agent.core.plan import Maker
from agent.core.steps import Plan, Verb
from tests.corpus.index import Tag, index
from tests.corpus.releases import ARCHIVE, OTHER_PROFILES, UNNAMED, Pair, pairs, release, releases, upgrade

pytestmark = pytest.mark.skipif(not ARCHIVE.is_file(), reason="the corpus is not beside the checkout")

_STILL_THERE = "the key moved from data to stringData, it is still there"
OTHERWISE = {
    ("SUBJECT", "serviceAccountName"): (
        "old pods keep their account until they end, and the new account, its roles and bindings stand before"
        " the rollout: nothing that runs loses a right"
    ),
    ("SHARED", "keys dropped: ['alertmanager.yaml']"): _STILL_THERE,
    ("SHARED", "keys dropped: ['datasources.yaml']"): _STILL_THERE,
    ("RBAC-", "1 rule tuples withdrawn, e.g. [('', 'configmaps', 'get', ('config-logging'"): (
        "resourceNames are taken as one tuple there; each name of it is still granted"
    ),
    ("CRD-STORAGE", ""): (
        "another version is stored and both are served: nothing that is in service is taken away; where a"
        " webhook begins to convert, the flag waits for it (agent/core/forms.py)"
    ),
    (
        "IMMUTABLE",
        "Job template",
        "storage-version-migration-serving-",
    ): "a Job without a name is refused, not compared",
}
"""Where the index is not followed, by its word, the start of its text and the end of the name, and why."""

_SAYS: dict[str, Callable[[Facet], bool]] = {
    "REPOINT": lambda facet: facet.category is Category.REPOINT,
    "SUBJECT": lambda facet: facet.kind is FacetKind.UNION and facet.path == ("subjects",),
    "RBAC-": lambda facet: facet.kind is FacetKind.UNION and bool(facet.removed),
    "SHARED": lambda facet: facet.category is not Category.ADDITIVE,
    "IMMUTABLE": lambda facet: facet.kind is FacetKind.IMMUTABLE,
    "CRD-VERSION-": lambda facet: facet.kind is FacetKind.PART,
    "webhook-": lambda facet: facet.kind is FacetKind.PART,
    "CRD-STORAGE": lambda facet: facet.category is not Category.ADDITIVE and facet.path[-1] == "storage",
    "CONVERSION": lambda facet: facet.path == ("spec", "conversion"),
    "PORTS": lambda facet: any(change.path[:2] == ("spec", "ports") for change in facet.fields),
}
"""What a facet is like that says the same as a word of the index."""
_SAYS["REPOINT-eff"] = _SAYS["REPOINT"]


@pytest.mark.parametrize(("project", "version"), releases(), ids=" ".join)
def test_release_is_read_whole(project: str, version: str) -> None:
    found = release(project, version)
    errors = [str(finding) for finding in found.findings if finding.severity is not Severity.WARNING]
    assert [error for error in errors if UNNAMED.get(project, "no error is expected") not in error] == []
    assert found.manifests


@pytest.mark.parametrize(("project", "version"), sorted(OTHER_PROFILES), ids=" ".join)
def test_same_object_twice_in_two_files_refuses_the_release(project: str, version: str) -> None:
    found = release(project, version, whole=True)
    (finding,) = [f for f in found.findings if f.severity is Severity.SET]
    assert found.is_refused
    assert any(file in str(finding) for file in OTHER_PROFILES[project, version])


@pytest.mark.parametrize("pair", pairs(), ids=str)
def test_upgrade(pair: Pair) -> None:
    made = upgrade(pair)
    plan = made.plan()
    check_changes(pair, plan)
    check_departures(plan)
    entry = index().get(pair)
    if entry is not None:
        going = [change.id for change in plan.changes if change.action is Action.DELETE]
        assert [named for named in entry.removed if not any(map(named.names, going))] == []
        unmet = [tag for tag in entry.tags if not _is_met(tag, made)]
        assert unmet == [tag for tag in entry.tags if any(_fits(key, tag) for key in OTHERWISE)]


@pytest.mark.parametrize("pair", pairs(), ids=str)
def test_an_upgrade_to_the_same_release_has_nothing_to_do(pair: Pair) -> None:
    plan = upgrade(pair._replace(base=pair.head)).plan()
    assert (plan.changes, plan.steps) == ((), ())


def check_changes(pair: Pair, plan: Plan) -> None:
    """Every object is made, kept, changed or dropped; every change has its steps."""
    base, head = (release(pair.project, version).manifests for version in (pair.base, pair.head))
    by_action = {action: {c.id for c in plan.changes if c.action is action} for action in Action}
    assert by_action[Action.CREATE] == head.keys() - base.keys()
    assert by_action[Action.DELETE] == base.keys() - head.keys()
    assert by_action[Action.UPDATE] <= base.keys() & head.keys()
    assert plan.unchanged == len(base.keys() & head.keys()) - len(by_action[Action.UPDATE])
    assert {step.id for step in plan.steps} == {change.id for change in plan.changes}


def check_departures(plan: Plan) -> None:
    """What is dropped waits for the whole handoff; data goes only with approval."""
    deletes = [step for step in plan.steps if step.verb is Verb.DELETE]
    for step in deletes:
        assert step.category is Category.PRUNE
        assert "complete" in {gate.name for gate in step.gates}
        needs = step.id.kind in {"CustomResourceDefinition", "Namespace", "PersistentVolumeClaim"}
        assert needs == ("approved" in {gate.name for gate in step.closed_gates})


def _fits(key: tuple[str, ...], tag: Tag) -> bool:
    word, text, name = (*key, "")[:3]
    return tag.word == word and tag.text.startswith(text) and tag.object.path.endswith(name)


def _is_met(tag: Tag, made: Maker) -> bool:
    """Whether a facet of the object's change says what the tag says."""
    keys = [key for key in made.situation.desired.manifests if tag.object.names(key)]
    return any(_SAYS[tag.word](facet) for key in keys for facet in made.drafts[key].facets)
