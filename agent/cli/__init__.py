"""The command ``trapeze``: parses, builds the shell's objects, prints what the core's values say.

One module for each group of commands; importing it registers them.
"""

from agent.cli import (
    adopting,
    deciding,
    looking,
    planning,
    rehearsing,
    snapshots,
    syncing,
    validating,
    verifying,
)
from agent.cli.app import app, main

__all__ = [
    "adopting",
    "app",
    "deciding",
    "looking",
    "main",
    "planning",
    "rehearsing",
    "snapshots",
    "syncing",
    "validating",
    "verifying",
]
