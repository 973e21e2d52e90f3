"""Scenarios of the model cluster; each names the page or source that says how Kubernetes behaves."""
