"""Fixtures for all tests: the real control plane (tests.rig), a place for the command (tests.cli_place).

Examples of hypothesis are not timed.
"""

from hypothesis import settings

pytest_plugins = ["tests.rig.plugin", "tests.cli_place"]

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
