"""The control plane's parts as pure step functions: what each does when what it watches was written."""
