"""Generated and mutated files: kubectl's own code and ours must say the same of each."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.oracle.comparing import difference
from tests.oracle.grammar import FAMILIES, PIECES
from tests.oracle.kubectl import Kubectl

SEEDS = Path(__file__).parent / "seeds"
BESIDE = Path(__file__).parents[3] / "shared" / "yaml-oracle" / "docs"
SMALL = 3000
"""Bytes of a file that is mutated: larger ones say little more."""

QUICK = settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
MANY = settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))


def seeds() -> list[bytes]:
    """Our own files, and those of the oracle where it is beside the checkout."""
    files = [*sorted(SEEDS.glob("*.yaml")), *sorted(BESIDE.glob("*.yaml"))]
    return [data for file in files if len(data := file.read_bytes()) < SMALL]


edits = st.lists(
    st.tuples(
        st.floats(0, 1),
        st.one_of(
            st.sampled_from(PIECES).map(str.encode),
            st.sampled_from((b"\xff", b"\xef\xbb", b"\x00", b"1", b"_", b".", b"e5", b"+")),
            st.integers(1, 4),
        ),
    ),
    min_size=1,
    max_size=4,
)


def mutated(data: bytes, changes: list[tuple[float, bytes | int]]) -> bytes:
    """The file with pieces put in, or as many bytes taken out, at places between its start and end."""
    for place, change in changes:
        at = round(place * len(data))
        data = data[:at] + (data[at + change :] if isinstance(change, int) else change + data[at:])
    return data


mutations = st.builds(mutated, st.sampled_from(seeds()), edits)
EVERYTHING = {**FAMILIES, "mutations": mutations}


def check(kubectl: Kubectl, family: str, config: settings) -> None:
    @config
    @given(EVERYTHING[family])
    def all_agree(data: bytes) -> None:
        assert difference(kubectl, data) is None

    all_agree()


@pytest.mark.parametrize("family", EVERYTHING)
def test_some(kubectl: Kubectl, family: str) -> None:
    check(kubectl, family, QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("family", EVERYTHING)
def test_two_thousand_of_each(kubectl: Kubectl, family: str) -> None:
    """22,000 in all, others each time."""
    check(kubectl, family, MANY)
