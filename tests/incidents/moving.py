"""Incidents in which a pointer, or what stands behind it, moves."""

from __future__ import annotations

from typing import Final

from tests.incidents.bodies import (
    READY,
    READY_LATE,
    Labels,
    api_server,
    api_service,
    book,
    cluster_binding,
    crd,
    deployment,
    injected_bundle,
    namespace,
    service,
    webhook,
)
from tests.incidents.incident import EARLY, PATH, RIGHTS, STORAGE, USED, Incident, Release, api, broken


def _calico(where: str, knobs: Labels = READY) -> Release:
    pointer = api_service("v1.projectcalico.example", f"{where}/api")
    server = api_server(where, "projectcalico.example", knobs)
    return (namespace(where), *STORAGE, *server, cluster_binding("books", "books", f"{where}/api"), pointer)


CALICO: Final = Incident(
    "an APIService moves its namespace while a binding changes its subject",
    "tigera/operator#5087, #5103",
    _calico("tigera-system"),
    _calico("calico-system", READY_LATE),
    broken(PATH, EARLY, RIGHTS, USED),
)


def _adapter(labels: Labels, knobs: Labels = READY) -> Release:
    server = api_server("monitoring", "metrics.example", knobs, labels)
    rights = cluster_binding("books", "books", "monitoring/api")
    return (
        namespace("monitoring"),
        *STORAGE,
        rights,
        *server,
        api_service("v1.metrics.example", "monitoring/api"),
    )


PROMETHEUS: Final = Incident(
    "a Service and the Deployment behind it change all their labels",
    "prometheus-operator/kube-prometheus v0.7 to v0.8",
    _adapter({"name": "adapter"}),
    _adapter({"part": "adapter"}, READY_LATE),
    broken(PATH),
)
ROLLOUTS: Final = Incident(
    "a Service selects pods that are not there yet",
    "argoproj/argo-rollouts#1731",
    (namespace("shop"), service("shop/web", {"app": "web"}), deployment("shop/web", {"app": "web"})),
    (
        namespace("shop"),
        service("shop/web", {"app": "web", "hash": "2"}),
        deployment("shop/web", {"app": "web"}),
        deployment("shop/web-2", {"app": "web", "hash": "2"}, knobs=READY_LATE),
    ),
    broken(PATH),
)
GATEWAY: Final = Incident(
    "pods get a label, and the Service asks for it at once",
    "envoyproxy/gateway#7309",
    (namespace("edge"), service("edge/proxy", {"app": "proxy"}), deployment("edge/proxy", {"app": "proxy"})),
    (
        namespace("edge"),
        service("edge/proxy", {"app": "proxy", "tier": "edge"}),
        deployment("edge/proxy", {"app": "proxy"}, pods={"app": "proxy", "tier": "edge"}, knobs=READY_LATE),
    ),
    broken(PATH),
)
RESULTS: Final = Incident(
    "the version stands in the selector of the Service and of the Deployment",
    "tektoncd/results 0.9 to 0.15",
    (
        namespace("results"),
        service("results/api", {"name": "api", "version": "v0.9"}),
        deployment("results/api", {"name": "api", "version": "v0.9"}),
    ),
    (
        namespace("results"),
        service("results/api", {"name": "api", "version": "v0.15"}),
        deployment("results/api", {"name": "api", "version": "v0.15"}, knobs=READY_LATE),
    ),
    broken(PATH),
)
CATCH_ALL: Final = Incident(
    "one apply brings a webhook that fails closed, and the server behind it",
    "kubernetes/kubernetes#109964, Kong/kong-operator#2544",
    (namespace("kong"),),
    (
        namespace("kong"),
        service("kong/hook", {"app": "hook"}),
        deployment("kong/hook", {"app": "hook"}, knobs=READY_LATE, replicas=1),
        webhook("kong", "kong/hook", "services pods"),
    ),
    broken(EARLY),
)
CONVERSION: Final = Incident(
    "a conversion webhook is repointed before its server runs",
    "operator-framework/operator-lifecycle-manager#3892",
    (
        namespace("lib"),
        service("lib/old", {"app": "old"}),
        deployment("lib/old", {"app": "old"}),
        crd("Book", "v1 v2", convert="lib/old"),
        book("lib/dune", "v2"),
    ),
    (
        namespace("lib"),
        service("lib/new", {"app": "new"}),
        deployment("lib/new", {"app": "new"}, knobs=READY_LATE),
        crd("Book", "v1 v2", convert="lib/new"),
        book("lib/dune", "v2"),
    ),
    broken(PATH, EARLY),
)


def _hooked(selector: Labels, knobs: Labels = READY) -> Release:
    server = (service("pipelines/hook", selector), deployment("pipelines/hook", selector, knobs=knobs))
    guards = webhook("config", "pipelines/hook", "endpoints")
    return (namespace("pipelines"), *server, guards, crd("Book", "v1 v2", convert="pipelines/hook"))


TEKTON: Final = Incident(
    "the server behind a webhook and a conversion changes its selector",
    "tektoncd/pipeline 0.12 to 0.13, tektoncd/operator 0becb4fc6",
    _hooked({"app": "hook", "role": "hook"}),
    _hooked({"app": "hook", "part": "hook"}, READY_LATE),
    broken(PATH),
)
BUNDLE: Final = Incident(
    "a webhook is applied again without the CA bundle that somebody else put in",
    "tigera/operator#5243, cert-manager/cert-manager#8771",
    (*api("mesh"), webhook("inject", "mesh/api", "endpoints", bundle="")),
    (*api("mesh"), webhook("inject", "mesh/api", "endpoints", bundle="", timeoutSeconds=5)),
    frozenset(),
    others=(injected_bundle("inject"),),
)


MOVING: Final = (CALICO, PROMETHEUS, ROLLOUTS, GATEWAY, RESULTS, CATCH_ALL, CONVERSION, TEKTON, BUNDLE)
