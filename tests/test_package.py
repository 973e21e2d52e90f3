"""What a user installs: the wheel is whole, finds its tables, and both ways to the command are one."""

from __future__ import annotations

import configparser
import os
import subprocess
import sys
import sysconfig
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from agent import __version__

ROOT = Path(__file__).parents[1]
TABLES = sorted(file.name for file in (ROOT / "policies").glob("*.yaml"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this checkout without a network."""
    folder = tmp_path_factory.mktemp("dist")
    return Path(next(WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])))


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as an installer lays it out."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_the_wheel_holds_the_package_its_tables_and_its_types_and_nothing_else(unpacked: Path) -> None:
    assert sorted(file.name for file in (unpacked / "agent" / "policies").glob("*.yaml")) == TABLES
    assert (unpacked / "agent" / "py.typed").is_file()
    assert sorted(folder.name for folder in unpacked.iterdir()) == [
        "agent",
        f"trapeze_agent-{__version__}.dist-info",
    ]
    sources = {file.relative_to(ROOT) for file in (ROOT / "agent").rglob("*.py")}
    assert {file.relative_to(unpacked) for file in unpacked.rglob("*.py")} == sources


def test_the_wheel_says_its_name_licence_and_command(unpacked: Path) -> None:
    info = unpacked / f"trapeze_agent-{__version__}.dist-info"
    commands = configparser.ConfigParser()
    commands.read(info / "entry_points.txt")
    assert dict(commands["console_scripts"]) == {"trapeze": "agent.cli:main"}
    metadata = Parser().parsestr((info / "METADATA").read_text(encoding="utf-8"))
    assert (metadata["Name"], metadata["License-Expression"]) == ("trapeze-agent", "Apache-2.0")
    assert metadata["Requires-Python"] == ">=3.11"
    assert (info / "licenses" / "LICENSE").is_file()


def test_tables_are_found_inside_the_installed_package(unpacked: Path) -> None:
    program = (
        "from agent.shell.policies import load_policy, shipped_folder\n"
        "load_policy()\n"
        "print(shipped_folder())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=unpacked,
        env=os.environ | {"PYTHONPATH": str(unpacked)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(done.stdout.strip()) == unpacked / "agent" / "policies"


def test_the_command_and_the_module_are_the_same_program() -> None:
    command = Path(sysconfig.get_path("scripts")) / "trapeze"
    said = [
        subprocess.run([*words, "--version"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for words in ([command], [sys.executable, "-m", "agent"])
    ]
    assert said == [f"trapeze {__version__}\n"] * 2
