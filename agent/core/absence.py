"""When "not found" is evidence of absence: an error, or a kind that is not served, is none by itself."""

from __future__ import annotations

from typing import Final

from agent.core.health import health
from agent.core.model import GroupKind
from agent.core.policy import PODS
from agent.core.situation import Situation

CRD: Final = GroupKind("apiextensions.k8s.io", "CustomResourceDefinition")
APISERVICE: Final = GroupKind("apiregistration.k8s.io", "APIService")
EVIDENCE: Final = frozenset(
    {
        PODS,
        GroupKind("", "Service"),
        GroupKind("", "Namespace"),
        GroupKind("discovery.k8s.io", "EndpointSlice"),
        APISERVICE,
        CRD,
    }
)
"""What every plan depends on, whatever the set is made of."""


def is_readable(situation: Situation, kind: GroupKind) -> bool:
    """Whether an object of the kind that was not seen is absent.

    A kind that is not served is gone only where its CustomResourceDefinition is gone too and every APIService
    answers.
    """
    live = situation.live
    if kind not in live.unserved:
        return kind not in live.unknown
    if live.why_unknown((CRD, APISERVICE)):
        return False
    specs = [crd.body.get("spec") or {} for crd in live.of_kind(*CRD)]
    if any((spec.get("group"), (spec.get("names") or {}).get("kind")) == kind for spec in specs):
        return False
    return all(health(obj, situation.health).is_ready for obj in live.of_kind(*APISERVICE))
