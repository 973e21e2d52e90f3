"""Builds the shell's objects from the settings and hands them down; nothing else does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from agent.core.handoff import Outcome
from agent.core.health import HealthRules
from agent.core.kinds import Kinds
from agent.core.policy import Policy
from agent.core.refs import Ref
from agent.settings import SetConfig, Settings
from agent.shell.kube import connect
from agent.shell.policies import load_policy, read_tables, shipped_folder
from agent.shell.repo import Repo
from agent.shell.set_source import GitSource
from agent.shell.source import Source
from agent.shell.store import LedgerStore
from agent.shell.tick import Syncer, Tools


def policy_of(settings: Settings) -> Policy:
    """The shipped tables and the user's. Raises ConfigError."""
    return load_policy(settings.policies)


def health_of(settings: Settings) -> HealthRules:
    """The readiness rules, shipped and the user's. Raises ConfigError."""
    return HealthRules.parse([*_shipped(), *read_tables(settings.policies)])


def kinds_of() -> Kinds:
    """The built-in kinds, for what no cluster says."""
    shipped = dict(_shipped())
    return Kinds.from_table(shipped["kinds.yaml"], shipped["moves.yaml"])


def _shipped() -> list[tuple[str, Any]]:
    return list(read_tables(sorted(shipped_folder().glob("*.yaml"))))


def source_of(settings: Settings, config: SetConfig, ref: Ref | None = None) -> GitSource:
    """The Git side of one set, at ``ref`` in place of its own; the mirror is made at first use."""
    repo = Repo(config.repo, settings.cache_dir)
    return GitSource(Source(repo, settings.cache_dir), config, ref)


def tools_of(settings: Settings) -> Tools:
    """What all sets share: the cluster by kubeconfig or the pod's credentials, ledger, tables, clock."""
    kubeconfig = str(settings.kubeconfig) if settings.kubeconfig else None
    cluster = connect(kubeconfig, settings.context)
    store = LedgerStore(cluster, settings.ledger_namespace)
    return Tools(cluster, store, policy_of(settings), health_of(settings), kinds_of(), time.time)


def syncer_of(
    settings: Settings, config: SetConfig, tools: Tools, told: Callable[[Outcome], None] = lambda _: None
) -> Syncer:
    """One set's syncer."""
    return Syncer(
        tools,
        source_of(settings, config),
        config.rules,
        set_name=config.name,
        take_over=frozenset(config.take_over),
        told=told,
    )
