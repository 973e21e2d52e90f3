"""Whatever changes in the cluster or in Git is named at its path, with its reason."""

from __future__ import annotations

from tests.corpus_live.conftest import IN_MAKE_TEST
from tests.corpus_live.install import Install
from tests.corpus_live.results import note_edits
from tests.corpus_live.search import GitSearch, LiveSearch, Tally

FEW, MANY = 18, 60
"""Edits of one release: 12 of 18 make 200 in make test, 60 of up to 60 more than 2,000 of them all."""


def number(install: Install) -> int:
    """How many edits the release is good for here; releases that always run stay quick."""
    return FEW if (install.project, install.version) in IN_MAKE_TEST else MANY


def assert_all_found(tally: Tally) -> None:
    """Every edit that took effect was named as it should be."""
    assert tally.missed == []
    assert tally.found > 0


def test_edits_of_live_are_named_as_drift(install: Install) -> None:
    tally = LiveSearch(install, f"live {install.project} {install.version}").run(number(install))
    note_edits(install, "live", tally)
    assert_all_found(tally)


def test_edits_in_git_are_named_as_git(install: Install) -> None:
    tally = GitSearch(install, f"git {install.project} {install.version}").run(number(install))
    note_edits(install, "Git", tally)
    assert_all_found(tally)
