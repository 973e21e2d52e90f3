"""What is told of objects that the API server would refuse, and that nothing is told of others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.core.model import Severity
from agent.core.validation.checks import Checked, validated
from agent.shell.policies import load_structures
from tests.core.casefiles import shipped
from tests.core.upgrades import release
from tests.core.validation.bad import BUILTIN, CONFIG, CUSTOM, DEFINITION, GOOD, LAMP, POD, SERVICE, Bad

STRUCTURES = load_structures()


def found(text: str, version: str = "") -> list[Checked]:
    structures = replace(STRUCTURES, version=version) if version else STRUCTURES
    return list(validated(release(text), shipped(), structures))


@pytest.mark.parametrize("bad", BUILTIN, ids=lambda bad: bad.path or "reading")
def test_a_bad_object_is_told_with_its_place(bad: Bad) -> None:
    told = found(bad.text)
    if not bad.rule:
        assert [one.rule for one in told] == ["reading"]
        return
    assert bad.rule in [one.rule for one in told], told
    message = next(str(one.finding) for one in told if one.rule == bad.rule)
    assert bad.path in message
    assert bad.says in message


@pytest.mark.parametrize("bad", CUSTOM, ids=lambda bad: bad.path)
def test_a_bad_custom_object_is_told_by_the_definition_beside_it(bad: Bad) -> None:
    (told,) = found(f"{DEFINITION}---\n{bad.text}")
    assert (told.rule, told.finding.severity) == (bad.rule, Severity.OBJECT)
    assert bad.path in str(told.finding)
    assert bad.says in str(told.finding)


@pytest.mark.parametrize("good", [*GOOD, f"{DEFINITION}---\n{LAMP}"])
def test_nothing_is_told_of_a_good_object(good: str) -> None:
    assert found(good) == []


def test_a_kind_that_nobody_knows_is_told_once_and_is_no_error() -> None:
    told = found(LAMP + "---\n" + LAMP.replace("name: one", "name: two"))
    (unknown,) = [one for one in told if one.rule == "unknown-kind"]
    assert unknown.finding.severity is Severity.WARNING
    assert "the fields of 2 objects are not checked" in unknown.finding.message


def test_a_removed_version_is_an_error_where_it_is_gone_and_a_warning_before() -> None:
    old = "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: a, namespace: b}\n"
    severities = {}
    for version in ("1.24", "1.25", ""):
        (told,) = [one for one in found(old, version) if one.rule == "removed-version"]
        assert "use policy/v1" in str(told.finding)
        severities[version] = told.finding.severity
    assert severities == {"1.24": Severity.WARNING, "1.25": Severity.OBJECT, "": Severity.OBJECT}


def test_without_a_cluster_a_field_that_lacks_may_be_another_managers() -> None:
    (told,) = found(f"{DEFINITION}---\n{LAMP.replace('watts: 5, ', '')}")
    assert told.finding.remedy == "add it, unless another field manager holds it in the cluster"


def test_a_pointer_at_a_service_of_nobody_is_a_warning() -> None:
    ingress = (
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web, namespace: default}\n"
        "spec: {defaultBackend: {service: {name: NAME, port: {number: 80}}}}\n"
    )
    assert found(f"{SERVICE}---\n{ingress.replace('NAME', 'web')}") == []
    (told,) = found(f"{SERVICE}---\n{ingress.replace('NAME', 'wbe')}")
    assert (told.rule, told.finding.severity) == ("dangling", Severity.WARNING)
    assert "points at Service default/wbe" in told.finding.message


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (CONFIG.replace("a: b", f"a: '{'x' * 1_572_865}'"), "the object has"),
        (
            CONFIG.replace("name: web,", f"name: web, annotations: {{a: '{'x' * 262_145}'}},"),
            "metadata.annotations",
        ),
    ],
)
def test_too_many_bytes_are_told(text: str, path: str) -> None:
    (told,) = found(text)
    assert told.rule == "size"
    assert path in told.finding.message


def test_values_of_a_secret_are_never_quoted() -> None:
    text = (
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: b}\ntype: [hunter2]\ndata: {a: aGk=}\n"
    )
    told = [str(one.finding) for one in found(text)]
    assert len(told) == 1
    assert "hunter2" not in told[0]


def test_null_is_an_absent_field() -> None:
    assert found(POD.replace("image: web", "image: web, env: null, livenessProbe: null")) == []


def test_a_definition_without_a_readable_schema_says_so() -> None:
    broken = DEFINITION.replace("minimum: 1", "minimum: one")
    told = {one.rule for one in found(f"{broken}---\n{LAMP}")}
    assert "no-schema" in told
