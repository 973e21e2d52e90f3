"""The pure core: values in, values out; no I/O, clock, randomness or logging (held by import-linter)."""
