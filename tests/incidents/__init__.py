"""Upgrades that went wrong in public, in the model: what the naive order breaks, and what ours does.

Each scenario is the incident reduced to what was rewritten, repointed or pruned; its number is told by the
issue or pull request that it comes from.
"""
