"""Incidents in which versions, their conversion, a webhook's own needs or a second owner stand in the way."""

from __future__ import annotations

from typing import Any, Final

from agent.core.model import SET_LABEL
from tests.incidents.bodies import (
    READY,
    READY_LATE,
    Labels,
    book,
    config,
    crd,
    deployment,
    doc,
    namespace,
    service,
    webhook,
)
from tests.incidents.incident import EARLY, PATH, Incident, Release, broken

APP: Final = {"app": "provider"}

LONGHORN: Final = Incident(
    "a definition gets a second version before anything converts to it",
    "longhorn/longhorn#3631",
    (namespace("lib"), crd("Book"), book("lib/dune")),
    (
        namespace("lib"),
        service("lib/convert", APP),
        deployment("lib/convert", APP, knobs=READY_LATE),
        crd("Book", "v1 v2", convert="lib/convert"),
        book("lib/dune"),
    ),
    broken(EARLY),
)
CLUSTER_API: Final = Incident(
    "the version in which everything is stored goes, and what converts it goes first",
    "kubernetes-sigs/cluster-api#5327, #6691",
    (
        namespace("lib"),
        service("lib/provider", APP),
        deployment("lib/provider", APP),
        crd("Book", "v2 v1", convert="lib/provider"),
        book("lib/dune", "v1"),
    ),
    (namespace("lib"), crd("Book", "v2"), book("lib/dune", "v2")),
    broken(PATH),
)


def _reading(name: str) -> dict[str, Any]:
    """A container that has its environment from a ConfigMap."""
    return {"envFrom": [{"configMapRef": {"name": name}}]}


def _guarded(selector: Labels, level: str, knobs: Labels = READY) -> Release:
    """A webhook that guards the very ConfigMap from which its server reads."""
    server = deployment("pipelines/hook", selector, container=_reading("logging"), knobs=knobs)
    guards = webhook("config", "pipelines/hook", "configmaps")
    settings = config("pipelines/logging", level=level)
    return (namespace("pipelines"), settings, service("pipelines/hook", selector), server, guards)


CYCLE: Final = Incident(
    "a webhook guards the configuration of its own server, and both change",
    "tektoncd/pipeline#4542, tektoncd/operator#592",
    _guarded({"app": "hook", "role": "hook"}, "info"),
    _guarded({"app": "hook", "part": "hook"}, "debug", READY_LATE),
    broken(PATH),
)
MOVED: Final = Incident(
    "an object is taken over by another set before the first one lets go of it",
    "argoproj/argo-cd#16721, fluxcd/kustomize-controller#338",
    (namespace("shop"), config("shop/shared", colour="red"), config("shop/own", size="1")),
    (namespace("shop"), config("shop/own", size="2")),
    # Not a matter of the order: whose label it carries decides, in each of them.
    frozenset(),
    others=(
        doc("v1", "ConfigMap", "shop/shared", data={"colour": "red"}, meta={"labels": {SET_LABEL: "orders"}}),
        deployment("shop/orders", {"app": "orders"}, container=_reading("shared")),
    ),
)

CONVERTING: Final = (LONGHORN, CLUSTER_API, CYCLE, MOVED)
