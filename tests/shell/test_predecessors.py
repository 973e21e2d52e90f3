"""Objects that somebody else applied first, taken over to the end."""

from __future__ import annotations

from dataclasses import replace

from tests.shell.job import Job

HELM = "helm"


def config(labels: dict[str, str], **data: str) -> dict[str, object]:
    metadata = {"name": "settings", "namespace": "default", "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def test_labels_and_keys_of_a_predecessor_go_in_one_take_over() -> None:
    """A label is taken off at once and a key at the end: the first half waited for ever to be done."""
    job = Job(take_over=frozenset({HELM}))
    job.rules = replace(job.rules, take_over=frozenset({HELM}))
    job.restart()
    job.apply(config({"app.kubernetes.io/managed-by": "Helm", "team": "a"}, keep="1", old="2"), HELM)
    job.apply(config({"team": "a"}, theirs="3"), "somebody")
    job.release(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: default}\ndata: {keep: '1'}\n"
    )
    assert job.run() == ["widen ConfigMap default/settings", "narrow ConfigMap default/settings"]
    live = job.get("ConfigMap", "default/settings")
    assert live is not None
    assert live["data"] == {"keep": "1", "theirs": "3"}
    assert "app.kubernetes.io/managed-by" not in live["metadata"]["labels"]
    assert job.plan().steps == ()
