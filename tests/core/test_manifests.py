"""Documents as desired objects: identity, scope, and what is refused."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from agent.core.kinds import KindInfo, Kinds, crd_kinds
from agent.core.manifests import load
from agent.core.model import Desired, GroupKind, ObjectId, Severity
from agent.core.yamlread import read_documents
from agent.errors import ConfigError

TABLE = Path(__file__).parents[2] / "policies" / "kinds.yaml"
KINDS = Kinds.from_table(read_documents(TABLE.read_bytes(), TABLE.name).documents[0].body)
HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata: "


def desired(*texts: str, files: Mapping[str, str] | None = None, namespace: str = "app") -> Desired:
    named = files or {f"{number}.yaml": text for number, text in enumerate(texts, 1)}
    readings = {file: read_documents(text.encode(), file) for file, text in named.items()}
    return load(readings, KINDS, set_name="web", revision="c0ffee", namespace=namespace)


def findings(*texts: str) -> list[tuple[Severity, str]]:
    return [(f.severity, f.message) for f in desired(*texts).findings]


def only_id(text: str, namespace: str = "app") -> ObjectId:
    (object_id,) = desired(text, namespace=namespace).manifests
    return object_id


def test_identity_has_no_version() -> None:
    text = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\n"
    assert only_id(text) == only_id(text.replace("v2", "v1"))
    assert only_id(text) == ObjectId("autoscaling", "HorizontalPodAutoscaler", "app", "a")


def test_a_missing_namespace_is_the_sets_and_stands_in_the_body() -> None:
    (manifest,) = desired(HEAD + "{name: a}\n").manifests.values()
    assert manifest.id.namespace == "app"
    assert manifest.body["metadata"] == {"name": "a", "namespace": "app"}
    assert only_id(HEAD + "{name: a, namespace: other}\n").namespace == "other"
    assert only_id(HEAD + "{name: a}\n", namespace="").namespace == "default"


def test_a_namespace_on_a_cluster_scoped_kind_is_dropped() -> None:
    text = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a, namespace: x}\n"
    (manifest,) = desired(text).manifests.values()
    assert manifest.id.namespace == ""
    assert manifest.body["metadata"] == {"name": "a"}


CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tiers.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Tier, plural: tiers}
"""
TIER = "apiVersion: example.com/v1\nkind: Tier\nmetadata: {name: a, namespace: x}\n"


def test_scope_comes_from_a_crd_of_the_set() -> None:
    result = desired(TIER, CRD)
    assert result.findings == ()
    assert ObjectId("example.com", "Tier", "", "a") in result.manifests


def test_scope_comes_from_discovery() -> None:
    tier = GroupKind("example.com", "Tier")
    readings = {"a.yaml": read_documents(TIER.encode(), "a.yaml")}
    kinds = KINDS.extended({tier: KindInfo("tiers", is_namespaced=False)})
    result = load(readings, kinds, set_name="web", revision="c0ffee", namespace="app")
    assert result.findings == ()
    assert [object_id.namespace for object_id in result.manifests] == [""]
    assert kinds.is_namespaced(tier) is False
    assert KINDS.get(tier) is None


def test_an_unknown_kind_is_a_warning() -> None:
    result = desired(TIER, TIER.replace(", namespace: x", ""))
    assert [object_id.namespace for object_id in result.manifests] == ["x", ""]
    assert [f.severity for f in result.findings] == [Severity.WARNING] * 2
    assert "nobody has said how Tier.example.com is served" in result.findings[0].message
    assert result.is_complete


def test_equal_copies_are_one_object() -> None:
    result = desired(HEAD + "{name: a, namespace: app}\n", HEAD + "{name: a}\nstatus: {}\n")
    assert len(result.manifests) == 1
    assert result.findings == ()


def test_different_copies_refuse_the_set_in_any_order_of_files() -> None:
    one, two = HEAD + '{name: a}\ndata: {on: "1"}\n', HEAD + "{name: a}\ndata: {on: 1}\n"
    result = desired(files={"b.yaml": two, "a.yaml": one})
    assert result == desired(files={"a.yaml": one, "b.yaml": two})
    assert result.is_refused
    assert str(result.findings[0]) == (
        "b.yaml:1 (document 1): ConfigMap app/a stands here and, different, at a.yaml:1 (document 1); "
        "keep one of the two"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind: A\nmetadata: {name: a}\n", "apiVersion is missing"),
        ("apiVersion: v1\nmetadata: {name: a}\n", "kind is missing"),
        ("apiVersion: v1\nkind: 5\n", "kind is not text"),
        ("apiVersion: a/b/c\nkind: A\n", "apiVersion a/b/c is not group/version"),
        ("apiVersion: v1\nkind: Pod\n", "Pod: metadata.name is missing"),
        ("apiVersion: v1\nkind: Pod\nmetadata: a\n", "Pod: metadata is not a map"),
        (HEAD + "{name: 12}\n", "ConfigMap: metadata.name is not text"),
        (HEAD + "{name: ../a}\n", "ConfigMap: metadata.name cannot stand in an API path"),
        (HEAD + "{name: a, namespace: b/c}\n", "ConfigMap: metadata.namespace cannot stand in an API path"),
        (
            HEAD + "{name: a, labels: {b.c: yes}}\n",
            "ConfigMap a: metadata.labels['b.c'] is a boolean, not text",
        ),
        (
            HEAD + "{name: a, annotations: {b: 0123}}\n",
            "ConfigMap a: metadata.annotations['b'] is a number, not text",
        ),
        (HEAD + "{name: a, labels: []}\n", "a: metadata.labels is not a map"),
        (HEAD + "{generateName: a-}\n", "ConfigMap a-...: generateName gives a new object at each sync"),
        (
            "sops: {mac: x}\n" + HEAD + "{name: a}\n",
            "the document is encrypted by SOPS, and no key is at hand to read it",
        ),
    ],
)
def test_object_refused(text: str, message: str) -> None:
    result = desired(text, HEAD + "{name: other}\n")
    assert [(f.severity, f.message) for f in result.findings] == [(Severity.OBJECT, message)]
    assert result.findings[0].remedy
    assert [object_id.name for object_id in result.manifests] == ["other"]
    assert not result.is_complete
    assert not result.is_refused


@pytest.mark.parametrize(
    ("file", "text", "remedy"),
    [
        ("kustomization.yaml", "resources: [a.yaml]\n", "kustomize build"),
        ("x.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n", "kustomize build"),
        ("chart/Chart.yaml", "apiVersion: v2\nname: a\nversion: 1.0.0\n", "helm template"),
    ],
)
def test_files_of_other_tools_refuse_the_set(file: str, text: str, remedy: str) -> None:
    result = desired(files={file: text})
    assert result.is_refused
    assert remedy in result.findings[0].remedy


def test_a_custom_resource_named_kustomization_is_an_object() -> None:
    text = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\n"
    assert only_id(text).kind == "Kustomization"


HIDDEN = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"
MARKER = "marker-5c1d!"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'stringData: {{pw: "{MARKER}", port: 5432}}\n', "Secret app/s stringData.port is not a string"),
        (f'data: {{pw: "{MARKER}"}}\n', "Secret app/s data.pw is not base64"),
        (f'data: {{pw: ["{MARKER}"]}}\n', "Secret app/s data.pw is not a string"),
        (f'data: "{MARKER}"\n', "Secret app/s data is not a map"),
        (f'stringData: {{a: b}}\n---\nkind: Secret\nstringData: {{pw: "{MARKER}}}\n', ""),
        (
            f'stringData:\n  pw: "{MARKER}"\n  pw: {MARKER}\n',
            "key stringData.pw stands twice, in lines 5 and 6; the last counts",
        ),
    ],
)
def test_findings_tell_no_secret(text: str, message: str) -> None:
    found = desired(HIDDEN + text).findings
    assert message in [f.message for f in found] or not message
    assert found
    assert not any(MARKER in repr(f) for f in found)


def test_a_secret_with_null_and_wrapped_base64_is_taken() -> None:
    assert findings(HIDDEN + "data:\n  a: |\n    YWJj\n    ZGVm\n  b:\n  c: ''\nstringData: {d: }\n") == []


def test_what_the_server_owns_is_left_out() -> None:
    text = """
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  creationTimestamp: null
  uid: 1-2-3
  resourceVersion: "5"
  labels: {a: b, gone: null}
  annotations: {gone: null}
spec: {replicas: null}
status: {replicas: 1}
"""
    result = desired(text)
    (manifest,) = result.manifests.values()
    assert manifest.body == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "labels": {"a": "b"}, "namespace": "app"},
        "spec": {"replicas": None},
    }
    assert [(f.severity, f.message) for f in result.findings] == [
        (
            Severity.WARNING,
            "Deployment app/web: metadata.uid, metadata.resourceVersion left out: the server's own",
        ),
    ]


def test_findings_of_the_reader_come_along() -> None:
    result = desired("a: [\n", HEAD + "{name: a}\n")
    assert [str(f.origin) for f in result.findings] == ["1.yaml:2 (document 1)"]
    assert len(result.manifests) == 1
    assert (result.set_name, result.revision) == ("web", "c0ffee")


def test_the_table_knows_built_in_kinds() -> None:
    assert KINDS.get(GroupKind("apps", "Deployment")) == KindInfo("deployments", is_namespaced=True)
    assert KINDS.get(GroupKind("apiregistration.k8s.io", "APIService")) == KindInfo(
        "apiservices", is_namespaced=False
    )
    assert KINDS.is_namespaced(GroupKind("networking.k8s.io", "Ingress"))


@pytest.mark.parametrize("table", [None, [], {"kinds": [{"kind": "A"}]}, {"kinds": [3]}])
def test_a_broken_table_is_told(table: object) -> None:
    with pytest.raises(ConfigError, match="needs group, kind, plural, namespaced"):
        Kinds.from_table(table)


def test_half_written_crds_define_nothing() -> None:
    crd = {"kind": "CustomResourceDefinition"}
    assert crd_kinds([crd, {**crd, "spec": {"names": {}}}, {**crd, "spec": {"names": {"kind": "A"}}}]) == {}
