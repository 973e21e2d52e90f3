"""End to end: releases in Git, a real control plane, real requests; samples and states are the judges."""

import pytest

pytest.register_assert_rewrite("tests.e2e.judges")
