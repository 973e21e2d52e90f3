"""The rehearsal: an upgrade in a model of the cluster, before anything is written to a real one.

Theory. A ``Scene`` is one state: a world of the model, the set's ledger, which release is wanted, and which
workloads have become ready. The agent's part is the real one: ``make_plan`` plans, ``agent/core/carrying.py``
says what comes next, the ledger moves by ``agent/core/handoff.py``. Everything else that can happen is a
move of the rehearsal's own: time goes on to the next thing that is due, a workload becomes ready or is lost,
a request fails or the agent dies at it, another revision comes. ``explore`` takes every move in every scene
that it has not seen before, and the promise (agent/core/promise.py) is judged after every single write.
"""
