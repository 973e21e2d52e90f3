"""No release of the corpus is told to be wrong: all of them were installed by somebody."""

from __future__ import annotations

from functools import cache

import pytest

from agent.core.model import Severity
from agent.core.validation.checks import validated
from agent.core.validation.structures import Structures
from agent.shell.policies import load_structures
from tests.core.casefiles import shipped
from tests.corpus.releases import ARCHIVE, UNNAMED, release, releases

pytestmark = pytest.mark.skipif(not ARCHIVE.is_file(), reason="the corpus is not beside the checkout")

TOLD_OF_OLD = "removed-version"
"""Releases of their time name API versions that a server of today does not serve."""


@cache
def structures() -> Structures:
    return load_structures()


@pytest.mark.parametrize(("project", "version"), releases())
def test_release_is_told_to_be_right(project: str, version: str) -> None:
    found = validated(release(project, version), shipped(), structures())
    errors = [
        str(one.finding)
        for one in found
        if one.finding.severity is not Severity.WARNING and one.rule != TOLD_OF_OLD
    ]
    assert [line for line in errors if UNNAMED.get(project, "\n") not in line] == []
    assert [one for one in found if one.rule == "no-schema"] == []
