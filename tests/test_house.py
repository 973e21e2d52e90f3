"""The rules of the house that no linter knows: sizes, markers, places, and tests that can fail."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

import pytest

ROOT: Final = Path(__file__).parents[1]
FILE_LINES: Final = 300
FUNCTION_LINES: Final = 60
ARGUMENTS: Final = 6
FLAGS_ARE_PARAMETERS: Final = "agent/cli/"
"""typer makes a command's parameters its flags: capping them would cap what a command can be told."""

MARKERS: Final = re.compile(r"\b(?:TO[D]O|FI[X]ME|X[X]X|HA[C]K)\b")
PLACES: Final = re.compile(r"(?<![\w.$}])/(?:(?:work|tmp|root|Users)/|home/(?!trapeze))\w")
REGISTRIES: Final = re.compile(
    r"pypi[.]org|pythonhosted[.]org|proxy[.]golang[.]org|npmjs[.]|crates[.]io|maven[.]|debian[.]org"
)
CHECKS: Final = frozenset({"raises", "fail", "check_schema", "validate"})
"""Calls that fail by themselves where what they are given is wrong."""

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def tracked(*patterns: str) -> list[Path]:
    """Files that Git holds here, by pattern, that were not just taken away."""
    found = subprocess.run(
        ["git", "-C", ROOT, "ls-files", *patterns], capture_output=True, text=True, check=True
    )
    files = (ROOT / name for name in found.stdout.splitlines())
    return [file for file in files if file.is_file() and not file.is_symlink()]


SOURCES: Final = tracked("*.py")


def name_of(file: Path) -> str:
    return str(file.relative_to(ROOT))


def functions(file: Path) -> Iterator[Function]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, Function):
            yield node


def arguments(function: Function) -> list[str]:
    """Every parameter but the object's own."""
    spec = function.args
    plain = [arg.arg for arg in (*spec.posonlyargs, *spec.args)]
    own = [arg for arg in plain[:1] if arg in ("self", "cls")]
    others = (*spec.kwonlyargs, *(arg for arg in (spec.vararg, spec.kwarg) if arg))
    return [*plain[len(own) :], *(arg.arg for arg in others)]


def lines_that_match(pattern: re.Pattern[str]) -> list[str]:
    """``file:line`` of every line in a tracked file of text that the pattern finds."""
    found = []
    for file in tracked():
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [
            f"{name_of(file)}:{number}: {line.strip()}"
            for number, line in enumerate(text.splitlines(), 1)
            if pattern.search(line)
        ]
    return found


def test_every_file_has_up_to_300_lines() -> None:
    sizes = {name_of(file): len(file.read_text(encoding="utf-8").splitlines()) for file in SOURCES}
    assert {name: size for name, size in sizes.items() if size > FILE_LINES} == {}


def test_every_function_has_up_to_60_lines() -> None:
    long = [
        f"{name_of(file)}: {function.name}"
        for file in SOURCES
        for function in functions(file)
        if (function.end_lineno or 0) - function.lineno + 1 > FUNCTION_LINES
    ]
    assert long == []


def test_every_function_has_up_to_6_parameters() -> None:
    many = [
        f"{name_of(file)}: {function.name}"
        for file in SOURCES
        if not name_of(file).startswith(FLAGS_ARE_PARAMETERS)
        for function in functions(file)
        if len(arguments(function)) > ARGUMENTS
    ]
    assert many == []


@pytest.mark.parametrize(
    "pattern", [MARKERS, PLACES, REGISTRIES], ids=["unfinished", "machine-places", "registries"]
)
def test_no_line_says(pattern: re.Pattern[str]) -> None:
    assert lines_that_match(pattern) == []


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (MARKERS, "# TO" + "DO: later"),
        (PLACES, 'open("/' + 'tmp/x")'),
        (PLACES, "see /" + "home/me/notes"),
        (REGISTRIES, "https://pypi." + "org/simple"),
    ],
)
def test_a_bad_line_would_be_found(pattern: re.Pattern[str], text: str) -> None:
    assert pattern.search(text)


def test_every_module_imports_alone() -> None:
    """A fresh interpreter forks one child for each module, which finds no other of ours imported.

    Packages of others are imported once, before: they take most of the time and are not what is asked.
    """
    modules = [name_of(file)[:-3].replace("/", ".") for file in SOURCES if name_of(file).startswith("agent/")]
    wanted = [name.removesuffix(".__init__") for name in modules if not name.endswith("__main__")]
    program = """
import importlib, os, sys
import agent.cli
for name in [name for name in sys.modules if name.partition(".")[0] == "agent"]:
    del sys.modules[name]
for name in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        importlib.import_module(name)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print(name)
"""
    command = [sys.executable, "-W", "error", "-c", program, *wanted]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("", 0), done.stderr
    assert len(wanted) > 80


def called(function: Function) -> set[str]:
    """Names of what a function calls, methods by their last part; ``assert`` counts as a call of its own."""
    names = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            called_by = node.func
            if isinstance(called_by, ast.Attribute):
                names.add(called_by.attr)
            elif isinstance(called_by, ast.Name):
                names.add(called_by.id)
        elif isinstance(node, ast.Assert | ast.Raise):
            names.add("assert")
    return names


def test_every_test_can_fail() -> None:
    """It asserts, or calls a helper of the tests that does."""
    calls: dict[str, set[str]] = {}
    tests = []
    for file in SOURCES:
        if not name_of(file).startswith("tests/"):
            continue
        for function in functions(file):
            names = called(function)
            if function.name.startswith("test_") and file.name.startswith("test_"):
                tests.append((f"{name_of(file)}: {function.name}", names))
            else:
                calls[function.name] = calls.get(function.name, set()) | names
    able = {"assert", *CHECKS}
    while more := {name for name, names in calls.items() if names & able} - able:
        able |= more
    assert [name for name, names in tests if not names & able] == []
    assert len(tests) > 500
