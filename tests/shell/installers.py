"""Releases as other tools leave them in a cluster: the same bodies, other managers and marks.

Sources: kubectl apply (client-side and server-side) in kubernetes.io/docs/reference/kubectl, Helm 3's
``pkg/kube/client.go`` (creates, then three-way patches, as the manager ``helm``) and its
``pkg/action/validate.go`` (label and annotations).
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Final

from agent.core.model import LAST_APPLIED, Body

CLIENT_SIDE: Final = "kubectl-client-side-apply"
SERVER_SIDE: Final = "kubectl"
HELM: Final = "helm"
INSTALLERS: Final = (CLIENT_SIDE, SERVER_SIDE, HELM)


def as_installed(body: Body, installer: str) -> Body:
    """What this tool sends for ``body``."""
    sent = deepcopy(body)
    metadata = sent["metadata"]
    if installer == CLIENT_SIDE:
        metadata.setdefault("annotations", {})[LAST_APPLIED] = json.dumps(body, separators=(",", ":")) + "\n"
    if installer == HELM:
        metadata.setdefault("labels", {})["app.kubernetes.io/managed-by"] = "Helm"
        marks = {"meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": "default"}
        metadata.setdefault("annotations", {}).update(marks)
    return sent
