"""Fields that somebody added by hand: told with who did it, and kept."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.model import Body
from tests.core.upgrades import MANAGER, told, upgrade

GIT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web, env: [{name: KNOWN, value: a}]}]}
"""
CONTAINER = 'k:{"name":"web"}'
GHOST: Any = {"f:env": {'k:{"name":"GHOST"}': {".": {}, "f:name": {}, "f:value": {}}}}


def live(owned: Any, manager: str = "kubectl-edit", **entry: Any) -> Body:
    """The workload with an env variable by hand; ``owned`` of its container is ``manager``'s."""
    env = [{"name": "KNOWN", "value": "a"}, {"name": "GHOST", "value": "boo"}]
    fields = {"f:spec": {"f:template": {"f:spec": {"f:containers": {CONTAINER: owned}}}}}
    spec = {"containers": [{"name": "web", "image": "web", "terminationMessagePolicy": "File", "env": env}]}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": spec}
    managed = [{"manager": manager, "operation": "Update", "fieldsV1": fields, **entry}]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "labels": {"trapeze.dev/set": "shop"},
            "managedFields": managed,
        },
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template},
    }


def test_variable_added_by_hand_is_told_and_kept() -> None:
    plan = upgrade(GIT, GIT, live(GHOST)).plan()
    (warning,) = plan.warnings
    path = "spec.template.spec.containers[web].env[GHOST]"
    assert warning == f"Deployment shop/web: not in Git, and kept: {path} (kubectl-edit)"
    assert told(plan) == []


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(live(GHOST, MANAGER), id="our own manager"),
        pytest.param(live(GHOST, "kube-controller-manager"), id="a controller of the cluster"),
        pytest.param(live(GHOST, "kubectl", subresource="scale"), id="a subresource"),
        pytest.param(live({"f:env": {'k:{"name":"KNOWN"}': {"f:value": {}}}}), id="what Git has too"),
        pytest.param(live({"f:terminationMessagePolicy": {}}), id="a default of the server"),
        pytest.param(live({"f:livenessProbe": {"f:periodSeconds": {}}}), id="what is gone meanwhile"),
    ],
)
def test_what_is_no_stranger(body: Body) -> None:
    assert upgrade(GIT, GIT, body).plan().warnings == ()


def test_selector_label_added_by_hand_is_a_repoint_and_no_stranger() -> None:
    """A selector belongs to one manager as a whole: what stands beside Git in it sends requests elsewhere."""
    git = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}}"
    body: Body = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "labels": {"trapeze.dev/set": "shop"},
            "managedFields": [
                {"manager": "kubectl-edit", "operation": "Update", "fieldsV1": {"f:spec": {"f:selector": {}}}}
            ],
        },
        "spec": {"selector": {"app": "web", "track": "hand"}},
    }
    plan = upgrade(git, git, body).plan()
    assert plan.warnings == ()
    (change,) = plan.changes
    assert change.category.value == "repoint"
    assert "track=hand" in change.reason
    assert [field.reason.value for field in change.fields] == ["drift"]
