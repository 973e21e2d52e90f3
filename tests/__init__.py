"""The tests: the core by values, the shell against servers, the whole on a real control plane (tests.rig)."""
