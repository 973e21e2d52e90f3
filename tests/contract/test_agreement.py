"""The model against the API server, object by object: what stands after one apply, and who owns it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agent.core.model import Body
from agent.shell.embedded import EmbeddedCluster
from tests.contract.bench import (
    MANAGER,
    Bench,
    binding,
    config_map,
    crd,
    deployment,
    named,
    namespace,
    service,
)

CONTAINER = {"name": "web", "image": "standin/http:v1", "env": [{"name": "A", "value": "b"}]}
POD = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [CONTAINER]}}
ENDING = {"metadata": POD["metadata"], "spec": {"containers": [CONTAINER], "restartPolicy": "Never"}}
SELECTOR = {"matchLabels": {"app": "web"}}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
CLAIMS = [{"metadata": {"name": "data"}, "spec": CLAIM}]
BACKEND = {"service": {"name": "web", "port": {"number": 80}}}
RULE = {"apiGroups": ["x"], "apiVersions": ["v1"], "resources": ["ys"], "operations": ["CREATE"]}
HOOK = {
    "name": "hook.example.dev",
    "admissionReviewVersions": ["v1"],
    "sideEffects": "None",
    "rules": [RULE],
    "clientConfig": {"service": {"name": "web", "namespace": "shop"}},
}
GROUP = {
    "group": "nobody.dev",
    "version": "v1",
    "groupPriorityMinimum": 1,
    "versionPriority": 1,
    "service": {"name": "web", "namespace": "shop"},
}
TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
NODE_NAME = "spec.nodeName"
RICH: Body = {
    "serviceAccountName": "default",
    "imagePullSecrets": [{"name": "pull"}],
    "nodeSelector": {"disk": "fast"},
    "tolerations": [{"key": "a", "operator": "Exists"}],
    "volumes": [
        {"name": "maps", "configMap": {"name": "web", "items": [{"key": "a", "path": "a"}]}},
        {"name": "keys", "secret": {"secretName": "web", "optional": True}},
        {"name": "empty", "emptyDir": {}},
    ],
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "zone",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
    ],
    "initContainers": [{"name": "before", "image": "standin/http:v1"}],
    "containers": [
        {
            **CONTAINER,
            "livenessProbe": {"tcpSocket": {"port": 8080}},
            "args": ["--a", "--b"],
            "ports": [{"name": "http", "containerPort": 8080}, {"containerPort": 53, "protocol": "UDP"}],
            "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}},
            "resources": {"requests": {"cpu": "100m"}, "limits": {"memory": "64Mi"}},
            "volumeMounts": [{"name": "maps", "mountPath": "/maps"}],
            "envFrom": [{"configMapRef": {"name": "web", "optional": True}}],
            "env": [
                {
                    "name": "NODE",
                    "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}},
                },
                {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "web", "key": "a", "optional": True}}},
            ],
        }
    ],
}


def workload(kind: str, **spec: Any) -> Body:
    return named("apps/v1", kind, "web", "shop", spec={"selector": SELECTOR, "template": POD, **spec})


YEARLY = {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": {"template": ENDING}}}
ADMISSION = "admissionregistration.k8s.io/v1"
SCALED = {"scaleTargetRef": TARGET, "maxReplicas": 3}
BODIES = [
    config_map(a="1"),
    named("v1", "Secret", "web", "shop", stringData={"a": "b"}),
    named("v1", "ServiceAccount", "web", "shop", secrets=[{"name": "a"}], imagePullSecrets=[{"name": "b"}]),
    named("v1", "PersistentVolumeClaim", "web", "shop", spec=CLAIM),
    service(),
    deployment(replicas=2),
    workload("Deployment", strategy={"type": "Recreate"}),
    workload("Deployment", template={**POD, "spec": RICH}),
    workload("StatefulSet", serviceName="web", volumeClaimTemplates=CLAIMS),
    workload("DaemonSet"),
    named("batch/v1", "Job", "web", "shop", spec={"template": ENDING, "suspend": True}),
    named("batch/v1", "CronJob", "web", "shop", spec=YEARLY),
    named("autoscaling/v2", "HorizontalPodAutoscaler", "web", "shop", spec=SCALED),
    named(
        "policy/v1", "PodDisruptionBudget", "web", "shop", spec={"maxUnavailable": 1, "selector": SELECTOR}
    ),
    named("networking.k8s.io/v1", "NetworkPolicy", "web", "shop", spec={"podSelector": {}, "ingress": []}),
    named("networking.k8s.io/v1", "Ingress", "web", "shop", spec={"defaultBackend": BACKEND}),
    named("rbac.authorization.k8s.io/v1", "ClusterRole", "web", rules=[]),
    binding("ann", "bob"),
    named(ADMISSION, "ValidatingWebhookConfiguration", "web", webhooks=[HOOK]),
    named(ADMISSION, "MutatingWebhookConfiguration", "web", webhooks=[HOOK]),
    named("apiregistration.k8s.io/v1", "APIService", "v1.nobody.dev", spec=GROUP),
    crd(),
    namespace("other"),
]
IDS = [f"{number}-{body['kind']}" for number, body in enumerate(BODIES)]

GIVEN_BY_EACH = frozenset({"uid", "resourceVersion", "creationTimestamp", "time", "clusterIP", "clusterIPs"})
"""What every cluster gives in its own way."""

WRITTEN_LATER = frozenset({"status", "finalizers", "generation", "volumeName", "annotations"})
"""What controllers write beside the request; the contract tests of controllers look at that."""


@pytest.mark.cluster
@pytest.mark.parametrize("body", BODIES, ids=IDS)
def test_the_same_apply_stores_the_same(kube_bench: Bench, body: Body) -> None:
    model = EmbeddedCluster()
    stored = []
    for bench in (kube_bench, Bench(model, model.advance, model.acting_as, ca_bundle="")):
        bench.apply(namespace())
        stored.append(dict(fields(bench.apply(body))))
    real, modelled = stored
    differing = {path for path in real.keys() | modelled.keys() if real.get(path) != modelled.get(path)}
    assert {path: (real.get(path), modelled.get(path)) for path in differing} == {}


def fields(body: Body) -> Iterator[tuple[str, str]]:
    """Path and value of each field, without what each cluster gives by itself; of the managers ours stays."""
    metadata = body["metadata"]
    owned = [row for row in metadata.get("managedFields", ()) if row["manager"] == MANAGER]
    own = {**body, "metadata": {**metadata, "managedFields": owned}}
    for path, value in flat(own, ""):
        yield path, str(value).replace(metadata["uid"], "UID")


def flat(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            if key not in GIVEN_BY_EACH | WRITTEN_LATER:
                yield from flat(inner, f"{path}.{key}")
    elif isinstance(value, list) and value:
        for number, inner in enumerate(value):
            yield from flat(inner, f"{path}[{number}]")
    else:
        yield path, value
