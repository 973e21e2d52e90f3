"""A handoff to watch: the sample releases taken up one after another, and the same done naively beside it.

``python -m agent.demo`` plays it in a model cluster inside the process, whose time the demo moves;
``--kubeconfig FILE`` plays it on a real API server, in real time.
"""
