"""Incidents in which something goes that is still in use: rights, objects, kinds, namespaces."""

from __future__ import annotations

from typing import Final

from tests.incidents.bodies import (
    READY_LATE,
    account,
    api_service,
    book,
    cluster_binding,
    cluster_role,
    config,
    crd,
    daemon_set,
    deployment,
    namespace,
    webhook,
)
from tests.incidents.incident import FOREIGN, PATH, PEERS, READ, RIGHTS, USED, Incident, api, broken

CILIUM: Final = Incident(
    "a ClusterRole loses rules while pods of the old version wait for their turn",
    "cilium/cilium#45802",
    (
        namespace("net"),
        account("net/agent"),
        cluster_role("agent", READ, PEERS),
        cluster_binding("agent", "agent", "net/agent"),
        daemon_set("net/agent", {"app": "agent"}, "OnDelete", account_name="agent"),
    ),
    (
        namespace("net"),
        account("net/agent"),
        cluster_role("agent", READ),
        cluster_binding("agent", "agent", "net/agent"),
        daemon_set(
            "net/agent",
            {"app": "agent"},
            "OnDelete",
            account_name="agent",
            container={"image": "example.org/app:2"},
        ),
    ),
    broken(RIGHTS),
    announced="strategy OnDelete replaces pods only when somebody deletes them",
)


HASHES: Final = Incident(
    "a ConfigMap with a hash in its name goes while old pods still need it",
    "argoproj/argo-cd#5080, fluxcd/kustomize-controller#1180",
    (
        namespace("shop"),
        config("shop/app-1", a="1"),
        deployment("shop/web", {"app": "web"}, container={"envFrom": [{"configMapRef": {"name": "app-1"}}]}),
    ),
    (
        namespace("shop"),
        config("shop/app-2", a="2"),
        deployment(
            "shop/web",
            {"app": "web"},
            knobs=READY_LATE,
            container={"envFrom": [{"configMapRef": {"name": "app-2"}}]},
        ),
    ),
    broken(USED),
)
ISTIO: Final = Incident(
    "a revision goes while a webhook that fails closed still points at it",
    "istio/istio#28880, #43227",
    (*api("mesh-a"), *api("mesh-b"), webhook("validator", "mesh-b/api", "endpoints")),
    (*api("mesh-a"), webhook("validator", "mesh-a/api", "endpoints")),
    broken(USED),
)
ORPHANED: Final = Incident(
    "a revision goes, and a webhook of somebody else still points at it",
    "istio/istio#37512",
    (*api("mesh-a"), *api("mesh-b")),
    api("mesh-a"),
    broken(PATH, USED),
    announced="used by ValidatingWebhookConfiguration theirs",
    others=(webhook("theirs", "mesh-b/api", "endpoints"),),
)
UNREGISTERED: Final = Incident(
    "a CustomResourceDefinition leaves the set, and would take every object along",
    "helm/helm#8163, tektoncd/pipeline 0.58 to 1.2",
    (namespace("lib"), crd("Book"), book("lib/dune")),
    (namespace("lib"),),
    broken(FOREIGN),
    announced="delete CustomResourceDefinition books.library.example: approved",
    others=(book("lib/emma"),),
)
SCOPES: Final = Incident(
    "cluster-wide objects are written with a namespace, then without",
    "prometheus-operator/kube-prometheus v0.9 to v0.10, tektoncd/pipeline 0.44 to 0.58",
    (
        namespace("monitoring"),
        account("monitoring/node"),
        cluster_role("node", READ),
        cluster_binding("node", "node", "monitoring/node"),
        deployment("monitoring/node", {"app": "node"}, account_name="node"),
    ),
    (
        namespace("monitoring"),
        account("monitoring/node"),
        cluster_role("node", READ, namespace="monitoring"),
        cluster_binding("node", "node", "monitoring/node", namespace="monitoring"),
        deployment("monitoring/node", {"app": "node"}, account_name="node"),
    ),
    frozenset(),
)

OPERATOR: Final = Incident(
    "a new version of an operator brings nearly the same manifests, and one fewer",
    "tektoncd/operator#3922",
    (*api("pipelines"), config("pipelines/flags", a="1"), config("pipelines/gone", a="1")),
    (*api("pipelines"), config("pipelines/flags", a="2")),
    frozenset(),
)


STALE_GROUP: Final = Incident(
    "a Namespace goes while an APIService of somebody else is down",
    "tigera/operator#4103, kubernetes/kubernetes#60807",
    (namespace("kept"), namespace("gone"), config("gone/settings", a="1")),
    (namespace("kept"),),
    frozenset(),
    announced="APIService v1.stale.example",
    others=(api_service("v1.stale.example", "kept/nobody"),),
)

LEAVING: Final = (CILIUM, HASHES, ISTIO, ORPHANED, UNREGISTERED, SCOPES, OPERATOR, STALE_GROUP)
