"""What a predecessor left goes with what Git no longer has (kubernetes/kubernetes#99003)."""

from __future__ import annotations

import json
from typing import Any

from agent.core.diff import three_way
from agent.core.model import ABSENT, LAST_APPLIED, FieldChange, Reason
from agent.core.predecessors import leftovers, with_leftovers
from tests.core.casefiles import live_object, manifest, shipped

KUBECTL = frozenset({"kubectl-client-side-apply"})


def config(**data: str) -> dict[str, Any]:
    """A ConfigMap's body."""
    metadata = {"name": "demo", "namespace": "app"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def made_by(manager: str, operation: str, **data: str) -> dict[str, Any]:
    """The same, live, with all of it owned by ``manager``."""
    body = config(**data)
    fields: dict[str, Any] = {"f:data": {".": {}, **{f"f:{key}": {} for key in data}}}
    entry = {"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsV1": fields}
    return {**body, "metadata": {**body["metadata"], "managedFields": [entry]}}


def declared(body: dict[str, Any], **data: str) -> dict[str, Any]:
    """With the annotation of ``kubectl apply`` that says so."""
    annotations = {LAST_APPLIED: json.dumps(config(**data))}
    return {**body, "metadata": {**body["metadata"], "annotations": annotations}}


def test_field_that_a_named_predecessor_owns_and_git_lacks_goes() -> None:
    body = made_by("kubectl-client-side-apply", "Update", keep="1", old="2", defaulted="3")
    live = live_object(declared(body, keep="1", old="2"))
    changes = three_way(manifest(config(keep="1")), live, [], shipped(), "trapeze/app", predecessors=KUBECTL)
    assert [(change.path, change.after) for change in changes] == [(("data", "old"), ABSENT)]
    assert leftovers(KUBECTL, live.body, changes) == (("data", "old"),)


def test_field_that_a_named_predecessor_applied_on_the_server_goes() -> None:
    live = live_object(made_by("argocd-controller", "Apply", keep="1", old="2"))
    argo = frozenset({"argocd-controller"})
    changes = three_way(manifest(config(keep="1")), live, [], shipped(), "trapeze/app", predecessors=argo)
    assert [(change.path, change.after) for change in changes] == [(("data", "old"), ABSENT)]


def test_annotation_that_is_no_manifest_takes_nothing_away() -> None:
    body = made_by("kubectl-client-side-apply", "Update", keep="1", old="2")
    body["metadata"]["annotations"] = {LAST_APPLIED: "{"}
    live = live_object(body)
    assert three_way(manifest(config(keep="1")), live, [], shipped(), "t", predecessors=KUBECTL) == ()


def test_field_of_somebody_whom_the_set_does_not_name_stays() -> None:
    live = live_object(made_by("an-operator", "Apply", keep="1", old="2"))
    assert (
        three_way(manifest(config(keep="1")), live, [], shipped(), "trapeze/app", predecessors=KUBECTL) == ()
    )


def test_servers_word_gets_the_leftovers_and_nothing_twice() -> None:
    live = made_by("kubectl-client-side-apply", "Update", keep="1", old="2")
    gone = FieldChange(("data", "old"), "2", ABSENT, Reason.GIT)
    kept = FieldChange(("data", "keep"), "1", "3", Reason.GIT)
    assert with_leftovers(KUBECTL, live, (kept,), (gone, kept)) == (kept, gone)
    assert with_leftovers(KUBECTL, live, (gone,), (gone,)) == (gone,)
