"""Tests of the core: values in, values out, no mocks."""
