"""Golden files: what people read, kept as they read it."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parent
UPDATE = "TRAPEZE_UPDATE_GOLDEN"


def golden(name: str, text: str) -> str:
    """What the golden file ``name`` holds; where TRAPEZE_UPDATE_GOLDEN is set it is written first."""
    path = FOLDER / name
    if os.environ.get(UPDATE):
        path.write_text(text, encoding="utf-8")
    return path.read_text(encoding="utf-8")
