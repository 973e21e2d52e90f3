"""What is put on every object that is written: whose it is, of which generation, from which commit."""

from __future__ import annotations

import hashlib
import json

from agent.core.model import COMMIT_ANNOTATION, GENERATION_LABEL, SET_LABEL, Body


def stamped(body: Body, set_name: str, generation: int, revision: str) -> Body:
    """``body`` with our labels and the commit annotation, on the object alone."""
    metadata = body.get("metadata") or {}
    labels = {**(metadata.get("labels") or {}), SET_LABEL: set_name, GENERATION_LABEL: str(generation)}
    annotations = {**(metadata.get("annotations") or {}), COMMIT_ANNOTATION: revision}
    return {**body, "metadata": {**metadata, "labels": labels, "annotations": annotations}}


def digest_of(body: Body) -> str:
    """A content hash of a body, stable over key order."""
    return hashlib.sha256(json.dumps(body, sort_keys=True, default=str).encode()).hexdigest()
