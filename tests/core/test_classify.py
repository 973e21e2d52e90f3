"""Categories, facets and forms of in-place changes: one file a change in cases/classify."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from agent.core.classify import Facet, FacetKind, Target, classify, facets, pointers_of
from agent.core.diff import three_way, two_way
from agent.core.forms import final, widened
from agent.core.model import Body, Category, FieldChange, GroupKind, path_text
from tests.core.casefiles import case, live_object, manifest, names, shipped


def changes_of(given: dict[str, Any]) -> tuple[FieldChange, ...]:
    """Without an applied body everything that live has is compared (as a preview does)."""
    if not given["applied"]:
        return two_way(given["live"], given["desired"], shipped())
    desired, live = manifest(given["desired"]), live_object(given["live"])
    return three_way(desired, live, given["applied"], shipped(), "trapeze/none")


def parts_of(given: dict[str, Any]) -> tuple[Facet, ...]:
    applied = given["applied"] or [given["live"]]
    return facets(changes_of(given), given["desired"], given["live"], applied, shipped())


@pytest.mark.parametrize("name", names("classify"))
def test_facets_and_category(name: str) -> None:
    given = case("classify", name)
    parts = parts_of(given)
    told = [f"{p.kind.name} {p.category.value} {path_text(p.path)}: {p.reason}" for p in parts]
    assert told == given["facets"]
    category, reason = classify(parts)
    assert category.value == given["category"]
    assert reason == parts[0].reason


@pytest.mark.parametrize("name", names("classify"))
def test_every_difference_belongs_to_a_facet(name: str) -> None:
    given = case("classify", name)
    taken = {change for part in parts_of(given) for change in map(path_of, part.fields)}
    assert taken == set(map(path_of, changes_of(given)))


def path_of(change: FieldChange) -> str:
    return path_text(change.path)


def form_of(name: str, given: dict[str, Any]) -> Body:
    parts, live = parts_of(given), given["live"]
    match name:
        case "widened":
            return widened(given["desired"], live, parts, shipped(), moved=False)
        case "moved":
            return widened(given["desired"], live, parts, shipped(), moved=True)
        case _:
            keep = name == "final_with_foreign"
            return final(given["desired"], parts, shipped(), keep_foreign=keep)


FORMS = ("widened", "moved", "final", "final_with_foreign")


@pytest.mark.parametrize(
    ("name", "form"), [(n, f) for n in names("classify") for f in FORMS if f in case("classify", n)]
)
def test_form(name: str, form: str) -> None:
    given = case("classify", name)
    built = form_of(form, given)
    assert {key: built[key] for key in given[form]} == given[form]


@pytest.mark.parametrize("name", names("classify"))
def test_final_is_desired_where_nothing_is_foreign(name: str) -> None:
    given = case("classify", name)
    if any(part.foreign for part in parts_of(given)):
        given["applied"] = [*given["applied"], given["live"]]
    assert form_of("final_with_foreign", given) == given["desired"]


def test_no_change_no_facet_additive() -> None:
    body: Body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    assert facets((), body, body, [body], shipped()) == ()
    assert classify(()) == (Category.ADDITIVE, "")


def bundle(*certificates: str) -> str:
    blocks = (f"-----BEGIN CERTIFICATE-----\n{c}\n-----END CERTIFICATE-----\n" for c in certificates)
    return base64.b64encode("".join(blocks).encode()).decode()


def api_service(ca: str, service: str = "api") -> Body:
    spec = {"caBundle": ca, "service": {"name": service, "namespace": "n"}}
    return {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": "v1.example.test"},
        "spec": spec,
    }


def test_new_ca_same_backend_both_are_trusted_meanwhile() -> None:
    live, desired = api_service(bundle("old")), api_service(bundle("new"))
    parts = facets(two_way(live, desired, shipped()), desired, live, [live], shipped())
    assert [(part.kind, part.category) for part in parts] == [
        (FacetKind.UNION, Category.SHARED_SUBJECT_REWRITE)
    ]
    between = widened(desired, live, parts, shipped(), moved=False)
    assert between["spec"]["caBundle"] == bundle("new", "old")


def test_new_ca_new_backend_one_write() -> None:
    live, desired = api_service(bundle("old")), api_service(bundle("new"), "other")
    parts = facets(two_way(live, desired, shipped()), desired, live, [live], shipped())
    assert [part.kind for part in parts] == [FacetKind.POINTS]
    assert widened(desired, live, parts, shipped(), moved=False) == live


def test_pointers_of_new_objects() -> None:
    service = GroupKind("", "Service")
    assert [p.target for p in pointers_of(api_service(""), shipped())] == [Target(service, "n", "api")]
    selecting: Body = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "a", "namespace": "n"},
        "spec": {"selector": {"app": "web", "a": "b"}},
    }
    (pointer,) = pointers_of(selecting, shipped())
    assert path_text(pointer.path) == "spec.selector"
    assert str(pointer.target) == "pods a=b,app=web in n"
    assert pointer.target.id is None


def test_webhook_by_url_names_no_target() -> None:
    body: Body = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "a"},
        "webhooks": [{"name": "x", "clientConfig": {"url": "https://example.test"}}],
    }
    assert pointers_of(body, shipped()) == ()
