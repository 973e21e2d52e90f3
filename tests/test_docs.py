"""What the pages name is there: links, files, modules, commands, make targets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agent.cli import app

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "CONTRIBUTING.md", "docs/architecture.md")
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
NAMED = re.compile(r"`((?:agent|policies|tests|docs|sample-repo)(?:/[\w.-]+)*)`")
TARGET = re.compile(r"(?:^\$ |`)make ([a-z-]+)", re.MULTILINE)
COMMAND = re.compile(r"(?:^\$ |`)trapeze ([a-z]+)", re.MULTILINE)


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    links = LINK.findall(read(page))
    assert links
    assert [link for link in links if not ((ROOT / page).parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_files_that_are_named_exist(page: str) -> None:
    named = NAMED.findall(read(page))
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_core_modules_on_the_map_exist() -> None:
    table = read("docs/architecture.md").partition("| modules of `agent/core` |")[2].partition("\n\n")[0]
    cells = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `")]
    modules = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
    assert len(modules) > 40
    core = ROOT / "agent" / "core"
    assert [m for m in modules if not ((core / f"{m}.py").exists() or (core / m).is_dir())] == []


@pytest.mark.parametrize("page", PAGES)
def test_make_targets_exist(page: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))
    assert set(TARGET.findall(read(page))) <= targets


def test_commands_that_the_readme_names_exist() -> None:
    commands = {command.callback.__name__ for command in app.registered_commands if command.callback}
    named = set(COMMAND.findall(read("README.md")))
    assert named
    assert named <= commands
