"""Trapeze: a GitOps agent that lets go of one generation only when the next carries the load.

The map of the house:

- ``agent.core``: values in, values out. Manifests, three-way diff, categories, gates, plan, promise.
- ``agent.shell``: one outside thing per module. Git, the API server, the ledger's store, the scheduler.
- ``agent.demo``: the main job on ``sample-repo``, shown tick by tick.
- ``agent.cli``: the command ``trapeze``; the only place that builds shell objects and hands them down.
"""

__version__ = "0.1.0"
