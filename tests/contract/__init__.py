"""The contract of the port to a cluster: the same tests for the API server and for the embedded model."""
