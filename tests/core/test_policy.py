"""The policy tables: errors that name the place, overriding, look-ups, the published schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from agent.core.model import Body, GroupKind, ObjectId
from agent.core.policy import TABLES_OF_OTHERS, Policy, group_kind_of, id_of
from agent.core.table_schema import schema_text
from agent.errors import ConfigError
from agent.shell.policies import load_policy, read_tables, shipped_folder
from tests.core.casefiles import shipped

SCHEMA = Path(__file__).parents[2] / "docs" / "policy.schema.json"
POINTER = {"kind": "Door.example.test", "path": "spec.to", "target": {"kind": "Service", "name": "name"}}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (["x"], ["mine.yaml", "['x']", "holds tables by name"]),
        ({"pointrs": []}, ["mine.yaml", "pointrs", "allowed:", "pointers"]),
        ({"pointers": [POINTER, POINTER | {"kind": 3}]}, ["pointers row 2", "kind", "3"]),
        ({"pointers": [POINTER | {"path": "a..b"}]}, ["pointers row 1", "path", "a..b", "spec.ports[].name"]),
        (
            {"pointers": [POINTER | {"to": 1}]},
            ["pointers row 1", "to", "allowed: admits, arming, kind, later, path", "target, together"],
        ),
        ({"protection": [{"kind": "A", "prune": "no"}]}, ["row 1", "prune", "'no'", "'never' or 'approval'"]),
        (
            {"unblocking": [{"kind": "A", "when": "object.(", "says": "x"}]},
            ["mine.yaml", "unblocking row 1", "when", "object.("],
        ),
        ({"order": [{"kind": "A", "rank": "first"}]}, ["order row 1", "rank", "'first'"]),
    ],
)
def test_broken_table_names_file_row_key_value_and_what_is_allowed(content: Any, words: list[str]) -> None:
    with pytest.raises(ConfigError) as error:
        Policy.parse([("mine.yaml", content)])
    assert [word for word in words if word not in str(error.value)] == []


def test_tables_of_other_models_and_empty_files_are_left_alone() -> None:
    policy = Policy.parse([("a.yaml", None), ("kinds.yaml", {"kinds": 1, "readiness": 2})])
    assert policy.of(GroupKind("", "Pod")).pointers == ()


def test_later_row_of_same_kind_and_path_wins_others_stay() -> None:
    first = {"capacity": [{"kind": ["A", "B"], "path": "spec.n", "absent": 1}]}
    second = {"capacity": [{"kind": "A", "path": "spec.n", "absent": 2}, {"kind": "A", "path": "spec.m"}]}
    policy = Policy.parse([("a", first), ("b", second)])
    assert [(p.row.path, p.row.absent) for p in policy.of(GroupKind("", "A")).capacity] == [
        ("spec.n", 2),
        ("spec.m", None),
    ]
    assert [p.row.absent for p in policy.of(GroupKind("", "B")).capacity] == [1]


def test_rows_of_pods_stand_below_every_pod_template() -> None:
    cron_job = shipped().of(GroupKind("batch", "CronJob"))
    assert cron_job.pod_template == ("spec", "jobTemplate", "spec", "template")
    assert shipped().of(GroupKind("", "Service")).pod_template is None
    assert shipped().of(GroupKind("", "Pod")).pod_template == ()


@pytest.mark.parametrize(
    ("object_id", "never", "approval"),
    [
        (ObjectId("", "Namespace", "", "kube-system"), True, True),
        (ObjectId("", "Namespace", "", "shop"), False, True),
        (ObjectId("apiextensions.k8s.io", "CustomResourceDefinition", "", "a.b"), False, True),
        (ObjectId("", "PersistentVolumeClaim", "shop", "kube-system"), False, True),
        (ObjectId("", "ConfigMap", "kube-system", "default"), False, False),
    ],
)
def test_protection(object_id: ObjectId, *, never: bool, approval: bool) -> None:
    assert shipped().never_pruned(object_id) is never
    assert shipped().needs_approval(object_id) is approval


def test_order_uses_before_users() -> None:
    kinds = [
        GroupKind("", "Namespace"),
        GroupKind("apiextensions.k8s.io", "CustomResourceDefinition"),
        GroupKind("", "ServiceAccount"),
        GroupKind("", "ConfigMap"),
        GroupKind("rbac.authorization.k8s.io", "ClusterRole"),
        GroupKind("rbac.authorization.k8s.io", "ClusterRoleBinding"),
        GroupKind("", "Service"),
        GroupKind("apps", "Deployment"),
        GroupKind("networking.k8s.io", "Ingress"),
        GroupKind("apiregistration.k8s.io", "APIService"),
        GroupKind("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
        GroupKind("example.test", "Thing"),
    ]
    ranks = [shipped().rank(kind) for kind in kinds]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) == len(ranks)


def network_policy(api_version: str, **spec: Any) -> Body:
    return {"apiVersion": api_version, "kind": "NetworkPolicy", "metadata": {"name": "a"}, "spec": spec}


CALICO, KUBERNETES = "projectcalico.org/v3", "networking.k8s.io/v1"


@pytest.mark.parametrize(
    ("body", "unblocks"),
    [
        (network_policy(KUBERNETES, podSelector={}, policyTypes=["Ingress"]), True),
        (network_policy(KUBERNETES, podSelector={}, ingress=[], egress=[]), True),
        (network_policy(KUBERNETES, podSelector={}, ingress=[{}]), False),
        (network_policy(CALICO, tier="t", selector="all()", types=["Ingress", "Egress"]), True),
        (network_policy("crd.projectcalico.org/v1", ingress=[{"action": "Deny"}]), True),
        (network_policy(CALICO, ingress=[{"action": "Deny"}, {"action": "Allow"}]), False),
        (network_policy(CALICO, ingress=[{"action": "Pass"}]), False),
        (network_policy(CALICO, ingress=[{"protocol": "TCP"}]), False),
        (network_policy(CALICO, ingress="broken"), False),
        (network_policy("example.test/v1"), False),
        ({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "a"}}, True),
        ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}, False),
    ],
)
def test_only_what_only_constrains_may_go_first(body: Body, *, unblocks: bool) -> None:
    assert bool(shipped().unblocks(body)) is unblocks


def test_identity_of_bodies() -> None:
    body: Body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": "n"}}
    assert group_kind_of(body) == GroupKind("apps", "Deployment")
    assert id_of(body) == ObjectId("apps", "Deployment", "n", "a")
    assert id_of({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "x"}}) == ObjectId(
        "", "Node", "", "x"
    )


def test_published_schema_is_up_to_date_and_fits_the_shipped_tables() -> None:
    published = SCHEMA.read_text(encoding="utf-8")
    assert published == schema_text(), (
        "write agent.core.table_schema.schema_text() to docs/policy.schema.json"
    )
    for file in sorted(shipped_folder().glob("*.yaml")):
        content = YAML(typ="safe").load(file.read_text(encoding="utf-8"))
        if not TABLES_OF_OTHERS & content.keys():
            jsonschema.validate(content, json.loads(published))


def test_user_file_extends_the_shipped_tables(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text(
        "pointers:\n  - {kind: Door.example.test, path: spec.to, target: {kind: Service, name: name}}\n"
    )
    kind = load_policy([mine]).of(GroupKind("example.test", "Door"))
    assert [p.row.path for p in kind.pointers] == ["spec.to"]


@pytest.mark.parametrize("content", [b"a: [", b"\xff\xfe\x00", None])
def test_unreadable_user_file_is_named(tmp_path: Path, content: bytes | None) -> None:
    mine = tmp_path / "mine.yaml"
    if content is not None:
        mine.write_bytes(content)
    with pytest.raises(ConfigError, match=r"mine\.yaml"):
        list(read_tables([mine]))
