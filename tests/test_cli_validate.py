"""What ``validate`` prints: every finding with the line of its field, for people, programs and forges."""

from __future__ import annotations

import json

import jsonschema

from tests.cli_place import Place, Run

TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
PLACE = {
    "type": "object",
    "required": ["artifactLocation", "region"],
    "properties": {
        "artifactLocation": {
            "type": "object",
            "required": ["uri"],
            "properties": {"uri": {"type": "string", "pattern": "^[-A-Za-z0-9._~/%]+$"}},
        },
        "region": {
            "type": "object",
            "required": ["startLine"],
            "properties": {"startLine": {"type": "integer", "minimum": 1}},
        },
    },
}
RESULT = {
    "type": "object",
    "required": ["message", "ruleId"],
    "properties": {
        "level": {"enum": ["none", "note", "warning", "error"]},
        "ruleIndex": {"type": "integer", "minimum": -1},
        "message": TEXT,
        "locations": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"physicalLocation": PLACE},
                "additionalProperties": False,
            },
        },
    },
    "additionalProperties": {"type": "string"},
}
RULE = {"type": "object", "required": ["id"], "properties": {"shortDescription": TEXT}}
DRIVER = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "semanticVersion": {"type": "string"},
        "rules": {"type": "array", "items": RULE, "uniqueItems": True},
    },
    "additionalProperties": False,
}
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"enum": ["2.1.0"]},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool"],
                "properties": {
                    "tool": {"type": "object", "required": ["driver"], "properties": {"driver": DRIVER}},
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "results": {"type": "array", "items": RESULT},
                },
                "additionalProperties": False,
            },
        },
    },
    "additionalProperties": False,
}
"""What SARIF 2.1.0 asks of the properties that are written (docs.oasis-open.org/sarif/sarif/v2.1.0)."""

WEB = """\
# Two documents, three mistakes.
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  port: 80
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replica: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: web
          resources:
            limits:
              memory: 1GiB
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec:
  defaultBackend:
    service: {name: gone, port: {number: 80}}
"""


def test_every_mistake_is_a_line_with_file_and_line(place: Place, trapeze: Run) -> None:
    place.repo.commit({"web.yaml": WEB})
    ran = trapeze("validate")
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert [line.partition(" ")[0] for line in lines[:-1]] == [
        "web.yaml:7:",
        "web.yaml:14:",
        "web.yaml:24:",
        "web.yaml:30:",
    ]
    assert "spec.replica is no field of this kind; did you mean replicas? [unknown-field]" in lines[1]
    assert lines[-1] == "3 objects: 3 errors, 1 warning"


def test_a_set_with_warnings_alone_exits_0(place: Place, trapeze: Run) -> None:
    place.repo.commit({"web.yaml": WEB.rpartition("---\n")[2]})
    ran = trapeze("validate")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "1 object: 0 errors, 1 warning")


def test_a_repo_needs_no_configuration(place: Place, trapeze: Run) -> None:
    place.repo.commit({"web.yaml": WEB, "other/a.yaml": WEB.replace("replica:", "replicas:")})
    ran = trapeze("validate", "--repo", str(place.repo.folder), "--path", "other", "-o", "json")
    shown = json.loads(ran.out)
    assert {(one["file"], one["line"], one["path"]) for one in shown["findings"]} == {
        ("other/a.yaml", 7, "data.port"),
        ("other/a.yaml", 24, "spec.template.spec.containers[web].resources.limits.memory"),
        ("other/a.yaml", 30, "spec.defaultBackend"),
    }


def test_sarif_fits_its_schema_and_names_the_same_places(place: Place, trapeze: Run) -> None:
    place.repo.commit({"web.yaml": WEB})
    shown = json.loads(trapeze("validate", "-o", "sarif").out)
    jsonschema.validate(shown, SARIF)
    (run,) = shown["runs"]
    regions = [r["locations"][0]["physicalLocation"]["region"]["startLine"] for r in run["results"]]
    assert regions == [7, 14, 24, 30]
    assert {r["ruleId"] for r in run["results"]} == {r["id"] for r in run["tool"]["driver"]["rules"]}
    levels = [r["level"] for r in run["results"]]
    assert levels == ["error", "error", "error", "warning"]


def test_the_version_of_kubernetes_decides_on_removed_versions(place: Place, trapeze: Run) -> None:
    old = "apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: a}\n"
    place.repo.commit({"a.yaml": old})
    assert trapeze("validate", "--kubernetes", "1.24").code == 0
    assert trapeze("validate", "--kubernetes", "1.25").code == 1
    assert "write a version like 1.29" in trapeze("validate", "--kubernetes", "new").err


def test_a_preview_tells_what_another_server_may_refuse_as_a_warning(place: Place, trapeze: Run) -> None:
    first = place.repo.commit({"web.yaml": WEB.replace("replica:", "replicas:")})
    shown = json.loads(trapeze("preview", "--head", f"commit:{first}", "-o", "json").out)
    told = {(one["severity"], one["message"]) for one in shown["findings"]}
    assert ("warning", "ConfigMap default/settings: data.port is a number, not text") in told


def test_a_cluster_that_is_named_says_what_it_serves(place: Place, trapeze: Run) -> None:
    place.repo.commit({"web.yaml": WEB.rpartition("---\n")[2]})
    (place.folder / "kube").write_text("{}", encoding="utf-8")
    ran = trapeze("validate", "--kubeconfig", "kube")
    assert ran.out.splitlines()[-1] == "1 object: 0 errors, 1 warning"
