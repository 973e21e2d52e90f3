"""Fixtures for all tests: the real control plane (tests.rig)."""

pytest_plugins = ["tests.rig.plugin"]
