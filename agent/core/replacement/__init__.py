"""Replacements: how a change is made that the API server refuses in place.

``ways`` finds by table which way a change takes, ``drafting`` the steps of it, ``gating`` what they wait for.
``bridges`` are the bindings that hold old rights meanwhile, ``orphans`` the ReplicaSets that go on serving.
A replacement needs no state but the ledger's and the cluster's: what was deleted and is wanted is made anew,
what is left over and is not wanted goes.
"""
