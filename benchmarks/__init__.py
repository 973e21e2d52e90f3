"""Measurements with peers side by side; they print and judge nothing."""
