"""Fixtures for all tests: the real control plane (tests.rig). Examples of hypothesis are not timed."""

from hypothesis import settings

pytest_plugins = ["tests.rig.plugin"]

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
