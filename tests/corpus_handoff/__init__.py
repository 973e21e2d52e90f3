"""Upgrades between real releases on the real control plane, forward and back, judged on every state.

The releases of the corpus stand beside the checkout; without them these tests are skipped. What stands
behind their Services is that of tests/corpus_live.
"""
