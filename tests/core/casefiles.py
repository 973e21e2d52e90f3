"""Case files of the core's table tests: one YAML file a case, found by folder."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from agent.core.model import Body, LiveObject, Manifest, Origin
from agent.core.policy import Policy, id_of
from agent.shell.policies import load_policy

CASES = Path(__file__).parent / "cases"


def names(folder: str) -> list[str]:
    """The cases of a folder, by name."""
    return sorted(file.stem for file in (CASES / folder).glob("*.yaml"))


def case(folder: str, name: str) -> dict[str, Any]:
    """One case, parsed."""
    parsed: dict[str, Any] = YAML(typ="safe").load((CASES / folder / f"{name}.yaml").read_text())
    return parsed


@cache
def shipped() -> Policy:
    """The shipped tables."""
    return load_policy()


def manifest(body: Body) -> Manifest:
    """A body as Git would have it."""
    return Manifest(id_of(body), body, Origin("case.yaml", 1, 1))


def live_object(body: Body) -> LiveObject:
    """A body as the server would give it."""
    return LiveObject(id_of(body), body)
