"""What a command's exit code says."""

from typing import Final

OK: Final = 0
"""Nothing to do, or in service."""
ERROR: Final = 1
CHANGES: Final = 2
NOT_SAFE: Final = 3
"""Held, or not without a person."""
INTERRUPTED: Final = 130
