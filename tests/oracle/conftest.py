"""kubectl's reader, once for a run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.oracle import kubectl as program
from tests.oracle.kubectl import Kubectl


@pytest.fixture(scope="session")
def kubectl() -> Iterator[Kubectl]:
    with program.running() as process:
        yield process
