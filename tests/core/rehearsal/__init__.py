"""The rehearsal, on small releases whose every scene is visited."""
