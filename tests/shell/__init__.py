"""The shell against servers in this process, and the adapters at the wire."""
