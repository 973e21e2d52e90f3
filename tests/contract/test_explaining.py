"""Who names whom, asked of a cluster."""

from __future__ import annotations

import pytest

from agent.errors import ConfigError
from agent.shell.explaining import in_cluster
from tests.contract.bench import Bench, named
from tests.core.casefiles import shipped


def test_both_directions_are_read_from_the_cluster(bench: Bench) -> None:
    service = {"selector": {"app": "web"}, "ports": [{"port": 80}]}
    bench.apply(named("v1", "Service", "web", "shop") | {"spec": service})
    containers = [{"name": "web", "image": "web", "envFrom": [{"configMapRef": {"name": "settings"}}]}]
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers}}
    spec = {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    bench.apply(named("apps/v1", "Deployment", "web", "shop") | {"spec": spec})
    found = in_cluster(bench.cluster, shipped(), "deployments", "shop/web")
    assert ("ConfigMap shop/settings", False) in {(link.says, link.is_there) for link in found.names}
    by_labels = [link for link in found.named_by if link.field == "spec.selector"]
    assert [str(link.holder) for link in by_labels] == ["Service shop/web"]
    # A ReplicaSet that a controller has made by then names its owner; nothing else names the workload.
    others = [link for link in found.named_by if link not in by_labels]
    assert {link.path[:2] for link in others} <= {("metadata", "ownerReferences")}


def test_what_the_cluster_lacks_is_an_error(bench: Bench) -> None:
    with pytest.raises(ConfigError, match="there is no such object"):
        in_cluster(bench.cluster, shipped(), "Deployment", "shop/nothing")
