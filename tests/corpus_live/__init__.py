"""Every release of the corpus on the real API server: synced, compared, changed by hand and compared again.

Images of the releases are nowhere here: their pods are ready without doing anything (tests/rig: the node's
annotation `standin.dev/stands-in-for-all`), and one server answers every webhook, conversion and aggregated
API (tests/corpus_live/backends.py).
"""
