"""What makes two documents the same object: group and kind as the server stores them, without a version."""

from __future__ import annotations

import pytest

from agent.core.model import Action, Category, ObjectId, Severity
from tests.core.upgrades import release, upgrade

INGRESS = ObjectId("networking.k8s.io", "Ingress", "shop", "web")


def document(api_version: str, kind: str, spec: str = "{}") -> str:
    return (
        f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: web, namespace: shop}}\nspec: {spec}\n"
    )


@pytest.mark.parametrize(
    ("old", "new", "kind", "group"),
    [
        ("apps/v1beta1", "apps/v1", "Deployment", "apps"),
        ("extensions/v1beta1", "apps/v1", "Deployment", "apps"),
        ("extensions/v1beta1", "apps/v1", "DaemonSet", "apps"),
        ("extensions/v1beta1", "networking.k8s.io/v1", "Ingress", "networking.k8s.io"),
        ("extensions/v1beta1", "networking.k8s.io/v1", "NetworkPolicy", "networking.k8s.io"),
        ("events.k8s.io/v1", "v1", "Event", ""),
    ],
)
def test_other_version_or_group_of_one_stored_object_is_a_change_and_never_a_prune(
    old: str, new: str, kind: str, group: str
) -> None:
    """An inventory by group deleted what it had just updated (kubernetes/kubernetes#98723)."""
    base, head = document(old, kind), document(new, kind)
    assert (
        list(release(base).manifests)
        == list(release(head).manifests)
        == [ObjectId(group, kind, "shop", "web")]
    )
    plan = upgrade(base, head).plan()
    assert not [change for change in plan.changes if change.action in (Action.DELETE, Action.CREATE)]


def test_backend_keeps_being_the_same_in_the_words_of_the_next_version() -> None:
    rule = "{host: a.example.test, http: {paths: [{path: /, %s}]}}"
    old = rule % "backend: {serviceName: web, servicePort: 80}"
    new = rule % "pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}"
    base = document("extensions/v1beta1", "Ingress", f"{{rules: [{old}]}}")
    head = document("networking.k8s.io/v1", "Ingress", f"{{rules: [{new}]}}")
    (change,) = upgrade(base, head).plan().changes
    assert (change.id, change.action) == (INGRESS, Action.UPDATE)


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("networking.k8s.io/v1", "traefik.io/v1alpha1", "Ingress"),
        ("serving.knative.dev/v1", "v1", "Service"),
        ("extensions.example.test/v1", "apps/v1", "Deployment"),
    ],
)
def test_same_kind_of_another_group_is_another_object(old: str, new: str, kind: str) -> None:
    plan = upgrade(document(old, kind), document(new, kind)).plan()
    assert {change.action for change in plan.changes} == {Action.CREATE, Action.DELETE}
    gone = next(change for change in plan.changes if change.action is Action.DELETE)
    assert gone.category is Category.PRUNE


def test_one_object_by_two_names_in_one_release_is_refused_when_they_differ() -> None:
    twice = document("extensions/v1beta1", "Deployment") + "---\n" + document("apps/v1", "Deployment")
    (finding,) = [f for f in release(twice).findings if f.severity is Severity.SET]
    assert "Deployment shop/web stands here and, different, at release.yaml:1" in finding.message
