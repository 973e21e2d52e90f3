"""What becomes of the objects that a deleted object owns."""

from __future__ import annotations

from enum import Enum


class Propagation(Enum):
    """How a delete goes on to what the object owns; the values are the API server's words.

    Source: kubernetes.io/docs/concepts/architecture/garbage-collection (cascading deletion).
    """

    BACKGROUND = "Background"
    """The object goes at once, what it owned goes after it."""
    FOREGROUND = "Foreground"
    """What it owns goes first, and the object stays until then."""
    ORPHAN = "Orphan"
    """What it owns stays and loses its owner; the object goes after that."""
