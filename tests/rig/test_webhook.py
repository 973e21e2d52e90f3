"""The webhook server's stand-in admits, refuses, mutates and converts."""

from pathlib import Path
from typing import Any

import pytest

from tests.rig.api import ApiError
from tests.rig.cluster import Cluster

MANIFESTS = Path(__file__).parent / "manifests"


def client(cluster: Cluster, path: str) -> dict[str, Any]:
    """A webhook's clientConfig."""
    return {
        "caBundle": cluster.ca_bundle,
        "service": {"namespace": "hooks", "name": "hook", "path": path},
    }


def guarding_config_maps(cluster: Cluster) -> dict[str, Any]:
    """A mutating webhook for the ConfigMaps of one namespace, failing closed."""
    hook = {
        "name": "hook.example.dev",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Fail",
        "timeoutSeconds": 3,
        "clientConfig": client(cluster, "/admit"),
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "guarded"}},
        "rules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
        ],
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "hook"},
        "webhooks": [hook],
    }


def config_map(name: str, **labels: str) -> dict[str, Any]:
    """A ConfigMap in the guarded namespace."""
    meta = {"name": name, "namespace": "guarded", "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}


def test_admission_annotates_good_objects_and_refuses_bad_ones(cluster: Cluster) -> None:
    cluster.apply(MANIFESTS / "webhook.yaml")
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "guarded"}})
    cluster.wait_ready("hooks", "hook")
    cluster.apply(guarding_config_maps(cluster))
    cluster.wait("the webhook in force", lambda: is_annotated(cluster))
    with pytest.raises(ApiError, match="not in this house"):
        cluster.apply(config_map("bad", bad="true"))
    cluster.api.delete("/apis/apps/v1/namespaces/hooks/deployments/hook")

    def refused() -> bool:
        try:
            cluster.api.create("/api/v1/namespaces/guarded/configmaps?dryRun=All", config_map("good"))
        except ApiError as error:
            return "failed calling webhook" in error.text
        return False

    cluster.wait("a refusal without the webhook's pods", refused)


def test_rollout_of_the_webhook_refuses_no_write(cluster: Cluster) -> None:
    cluster.apply(MANIFESTS / "webhook.yaml")
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "guarded"}})
    cluster.wait_ready("hooks", "hook")
    cluster.apply(guarding_config_maps(cluster))
    probe = cluster.through_webhook(config_map("sample"), expect="example.dev/seen")
    cluster.wait("the webhook in force", lambda: is_annotated(cluster))
    with cluster.sampling(probe) as sampler:
        sampler.wait_samples(5)
        path = "/apis/apps/v1/namespaces/hooks/deployments/hook"
        cluster.api.patch(path, {"spec": {"template": {"metadata": {"labels": {"again": "yes"}}}}})
        cluster.wait_ready("hooks", "hook")
        cluster.wait("the old pod gone", lambda: len(cluster.pods("hooks")) == 1)
        sampler.wait_samples(sampler.so_far().samples + 10)
    assert sampler.result.valid, str(sampler.result)
    assert sampler.result.lost == 0, str(sampler.result)


def is_annotated(cluster: Cluster) -> bool:
    """Whether the webhook sees the ConfigMaps of the guarded namespace."""
    body = cluster.api.create("/api/v1/namespaces/guarded/configmaps?dryRun=All", config_map("good"))
    return bool(body["metadata"].get("annotations") == {"example.dev/seen": "yes"})


def test_conversion_moves_the_field_that_was_renamed(cluster: Cluster) -> None:
    cluster.apply(MANIFESTS / "webhook.yaml")
    cluster.wait_ready("hooks", "hook")
    webhook = {"clientConfig": client(cluster, "/convert"), "conversionReviewVersions": ["v1"]}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [
        {"name": name, "served": True, "storage": name == "v1", "schema": schema} for name in ("v1", "v2")
    ]
    cluster.apply(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "ropes.example.dev"},
            "spec": {
                "group": "example.dev",
                "names": {"kind": "Rope", "plural": "ropes"},
                "scope": "Cluster",
                "versions": versions,
                "conversion": {"strategy": "Webhook", "webhook": webhook},
            },
        }
    )
    rope = {"apiVersion": "example.dev/v1", "kind": "Rope", "metadata": {"name": "r"}, "spec": {"size": 3}}
    cluster.apply(rope)
    found = cluster.wait("the rope in v2", lambda: cluster.api.get("/apis/example.dev/v2/ropes/r"))
    assert found["spec"] == {"length": 3}
