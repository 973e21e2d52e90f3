"""Where the binary comes from, and what is said when it cannot be had."""

import sys
from pathlib import Path

import pytest

from tests.rig import build, golang
from tests.rig.build import RigError
from tests.rig.tools import HELM_3, HELM_4, KUSTOMIZE


def test_binary_stands_outside_the_checkout_under_a_key_of_its_source(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    before = build.binary_path()
    monkeypatch.setattr(build, "KUBERNETES", "1.36.4")
    assert before.is_relative_to(tmp_path)
    assert build.binary_path() != before


def test_binary_not_built_is_told_with_the_way_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(RigError, match="make controlplane"):
        build.built_binary()


def test_other_system_than_linux_is_told_what_cannot_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(RigError, match=r"this is darwin: .*cannot run here, the rest can"):
        build.require_linux()


def test_programs_missing_are_all_named_with_their_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        build, "DEBIAN_PACKAGES", {"no-such-nft": "nftables", "no-such-ip": "iproute2", "sh": "dash"}
    )
    with pytest.raises(
        RigError, match="needs no-such-nft, no-such-ip: install the packages iproute2 nftables"
    ):
        build.require_programs()


def test_version_of_the_module_is_the_version_that_the_binary_tells() -> None:
    assert f"k8s.io/kubernetes v{build.KUBERNETES}" in (build.SOURCE / "go.mod").read_text()
    assert f"gitVersion=v{build.KUBERNETES}" in build.linker_flags()


FLAKY_GO = """#!/bin/sh
case "$1" in
env) echo go9.9.9 ;;
mod) echo asked >> calls; [ "$(wc -l < calls)" -ge 3 ] || { echo "proxy: no such host" >&2; exit 1; } ;;
build) while [ "$1" != -o ]; do shift; done; echo built > "$2" ;;
esac
"""


def test_modules_that_do_not_come_at_once_are_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    go = tmp_path / "bin" / "go"
    go.parent.mkdir()
    go.write_text(FLAKY_GO)
    go.chmod(0o755)
    monkeypatch.setenv("PATH", str(go.parent), prepend=":")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, text in (("go.mod", "module x\n\ngo 1.20\n"), ("go.sum", ""), ("main.go", "package main\n")):
        (tmp_path / name).write_text(text)
    assert golang.GoProgram("x", "the program", tmp_path).build().read_text() == "built\n"
    assert (tmp_path / "calls").read_text() == "asked\n" * 3


def test_programs_of_one_module_stand_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    paths = [tool.path() for tool in (HELM_3, HELM_4, KUSTOMIZE)]
    assert [path.name for path in paths] == ["helm-3", "helm-4", "kustomize"]
    assert len({path.parent for path in paths}) == 3


def test_tools_use_the_kubernetes_that_the_control_plane_is_built_of() -> None:
    minor = build.KUBERNETES.partition(".")[2]
    assert f"k8s.io/client-go v0.{minor} " in (Path(build.__file__).parent / "toolset/go.mod").read_text()
