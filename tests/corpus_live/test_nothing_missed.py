"""Whatever changes in the cluster or in Git is named at its path, with its reason."""

from __future__ import annotations

from collections.abc import Callable

from tests.corpus_live.conftest import IN_MAKE_TEST
from tests.corpus_live.install import Install
from tests.corpus_live.search import GitSearch, LiveSearch, Tally

FEW, MANY = 18, 36
"""Edits of one release: 12 releases of 18 make 200 in make test, 72 of 36 make 2,000 of them all."""


def number(install: Install) -> int:
    """How many edits the release is good for here; releases that always run stay quick."""
    return FEW if (install.project, install.version) in IN_MAKE_TEST else MANY


def assert_all_found(tally: Tally, record_property: Callable[[str, object], None]) -> None:
    """Every edit that took effect was named as it should be."""
    for what, count in tally.counts.items():
        record_property(what, count)
    assert tally.missed == []
    assert tally.found > 0


def test_edits_of_live_are_named_as_drift(
    install: Install, record_property: Callable[[str, object], None]
) -> None:
    search = LiveSearch(install, f"live {install.project} {install.version}")
    assert_all_found(search.run(number(install)), record_property)


def test_edits_in_git_are_named_as_git(
    install: Install, record_property: Callable[[str, object], None]
) -> None:
    search = GitSearch(install, f"git {install.project} {install.version}")
    assert_all_found(search.run(number(install)), record_property)
