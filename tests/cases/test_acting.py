"""Cases of pruning, order and health from bug reports of other tools, each played through on the model."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent.core.model import Body
from agent.core.render.text import printed, text
from agent.shell.report import State
from tests.shell.job import Job, reasons
from tests.shell.releases import CONFIG, ingress, namespace, server, web
from tests.shell.test_defining import DEFINITION

THING = DEFINITION.replace("Widget", "Thing").replace("widget", "thing")
PLAIN = THING[: THING.index("  conversion:")] + THING[THING.index("  versions:") :]
OURS = "apiVersion: example.test/v2\nkind: Thing\nmetadata: {name: ours, namespace: default}\n"
DEFINED = "CustomResourceDefinition things.example.test"


def text_of(body: Any) -> str:
    return json.dumps(body) + "\n"


def config(name: str, where: str = "default", **labels: str) -> Body:
    metadata = {"name": name, "namespace": where, "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public", "kube-node-lease"])
def test_34_namespace_of_the_cluster_itself_is_let_go_without_a_delete(name: str) -> None:
    job = Job(allow=frozenset({"Namespace"}))
    labelled = f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}, labels: {{team: a}}}}\n"
    job.release(labelled, CONFIG % "red")
    job.run()
    job.release(CONFIG % "red")
    assert job.run() == [f"let go of Namespace {name}"]
    live = job.get("Namespace", name)
    assert live is not None
    assert "team" not in (live["metadata"].get("labels") or {})


def test_37_only_members_go_whatever_labels_others_carry() -> None:
    job = Job()
    job.release(namespace("theirs"), text_of(config("gone")), CONFIG % "red")
    job.run()
    theirs = config("gone", "theirs", **{"trapeze.dev/set": "another", "trapeze.dev/generation": "1"})
    job.apply(theirs)
    job.apply(config("looks-like-ours", **{"trapeze.dev/set": "shop", "trapeze.dev/generation": "1"}))
    job.release(namespace("theirs"), CONFIG % "red")
    assert job.run() == ["delete ConfigMap default/gone"]
    assert job.get("ConfigMap", "theirs/gone") is not None
    assert job.get("ConfigMap", "default/looks-like-ours") is not None


def test_39_objects_then_their_operator_then_their_definition() -> None:
    job = Job(allow=frozenset({DEFINED}))
    job.release(PLAIN, OURS, web("operator", where="default"), CONFIG % "red")
    job.run()
    job.release(CONFIG % "red")
    written = job.run()
    kinds = [key.split()[1] for key in written if key.startswith("delete")]
    assert kinds.index("Thing.example.test") < kinds.index("Deployment")
    assert kinds[-1] == "CustomResourceDefinition"


def test_39_a_definition_stays_while_an_object_of_somebody_is_there() -> None:
    job = Job(allow=frozenset({DEFINED}))
    job.release(PLAIN, OURS, CONFIG % "red")
    job.run()
    job.apply(
        {"apiVersion": "example.test/v2", "kind": "Thing", "metadata": {"name": "x", "namespace": "default"}}
    )
    job.release(CONFIG % "red")
    job.hold()
    assert "default/x" in reasons(job.plan(), f"delete {DEFINED}")
    assert job.get("Thing.example.test", "default/x") is not None


GUARD = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: guard}
webhooks:
- name: guard.example.test
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {name: api, namespace: hooks, port: 443}}
  namespaceSelector: {matchLabels: {guarded: "yes"}}
  rules:
  - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}
"""


def test_40_webhook_comes_once_its_backend_serves() -> None:
    job = Job()
    job.release(namespace("hooks"), GUARD, server("hooks"), CONFIG % "red")
    job.tick()
    hook = "create ValidatingWebhookConfiguration guard"
    assert "0 of 2 endpoints ready" in reasons(job.plan(), hook)
    assert job.run()[-1] == hook


def test_42_nothing_wanted_is_ready() -> None:
    job = Job()
    job.release(namespace("front"), web("blue", replicas=0))
    job.run()
    assert job.tick().state is State.IN_SERVICE


def test_44_an_address_from_outside_holds_nothing() -> None:
    job = Job()
    balanced = """\
apiVersion: v1
kind: Service
metadata: {name: outside, namespace: front}
spec: {type: LoadBalancer, selector: {app: blue}, ports: [{port: 80}]}
"""
    job.release(namespace("front"), web("blue"), ingress("front/blue"), balanced)
    job.run()
    for kind in ("Ingress.networking.k8s.io", "Service"):
        live = job.get(kind, "front/outside" if kind == "Service" else "front/front")
        assert live is not None
        assert not ((live.get("status") or {}).get("loadBalancer") or {}).get("ingress")


def test_46_conversion_moves_after_its_backend_and_a_dead_one_stops_no_other_kind() -> None:
    job = Job()
    hooks, more = namespace("hooks"), namespace("more")
    job.release(hooks, DEFINITION, server("hooks"), CONFIG % "red")
    job.run()
    moved = DEFINITION.replace("namespace: hooks", "namespace: more")
    dead = server("more", knobs="standin.dev/never-ready: ''")
    job.release(hooks, more, moved, dead, CONFIG % "blue")
    job.hold(10)
    live = job.get("ConfigMap", "default/settings")
    assert live is not None
    assert live["data"] == {"colour": "blue"}
    job.release(hooks, more, moved, server("more"), CONFIG % "blue")
    written = job.run()
    cutover = written.index("cutover CustomResourceDefinition widgets.example.test")
    assert cutover < written.index("delete Service hooks/api")


def test_49_address_that_the_server_gave_is_no_drift_and_headless_is_named_as_made_anew() -> None:
    job = Job()
    service: Body = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}], "clusterIP": ""},
    }
    job.release(text_of(service))
    job.run()
    live = job.get("Service", "default/web")
    assert live is not None
    assert live["spec"]["clusterIP"]
    assert job.plan().changes == ()
    job.release(text_of({**service, "spec": {**service["spec"], "clusterIP": "None"}}))
    report = job.hold(5)
    assert [outcome for outcome in report.outcomes if outcome.error] == []
    (change,) = job.plan().changes
    assert "refuses to change spec.clusterIP in place" in change.reason


def test_50_definition_larger_than_an_annotation_may_be() -> None:
    fields = {f"p{number}": {"type": "string", "description": "x" * 60} for number in range(4000)}
    schema = {
        "openAPIV3Schema": {
            "type": "object",
            "properties": {"spec": {"type": "object", "properties": fields}},
        }
    }
    body = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "larges.example.test"},
        "spec": {
            "group": "example.test",
            "scope": "Namespaced",
            "names": {"kind": "Large", "plural": "larges", "singular": "large"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }
    job = Job()
    job.release(text_of(body))
    assert len(text_of(body)) > 262_144
    assert job.run() == ["create CustomResourceDefinition larges.example.test"]
    live = job.get("CustomResourceDefinition.apiextensions.k8s.io", "larges.example.test")
    assert live is not None
    assert sum(map(len, live["metadata"]["annotations"].values())) < 1000
    assert job.plan().steps == ()


def test_56_a_secret_goes_to_the_server_whole_and_is_shown_by_digest() -> None:
    value = '{"auths": {"r.example.test": {"auth": "TUFSS0VSOnh4"}}}'
    metadata = {"name": "pull", "namespace": "default"}
    kind = "kubernetes.io/dockerconfigjson"
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": kind}
    job = Job()
    job.release(text_of({**secret, "stringData": {".dockerconfigjson": value}}), CONFIG % "red")
    shown = printed(text(job.plan(), b"a key of this run", observed=True), 200)
    assert "Secret default/pull" in shown
    assert "ConfigMap default/settings" in shown
    assert "TUFSS0VSOnh4" not in shown
    job.run()
    assert job.plan().steps == ()
