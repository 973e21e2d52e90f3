"""Builds the shell's objects from the settings and hands them down; nothing else does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from agent.core.acts import pinned_to
from agent.core.health import HealthRules
from agent.core.intents import Outcome
from agent.core.kinds import Kinds
from agent.core.model import Desired
from agent.core.policy import Policy
from agent.core.redact import SECRETS
from agent.core.refs import Ref
from agent.core.rehearsal.standing import Standing
from agent.core.serving import Routes
from agent.core.validation.structures import Structures
from agent.errors import ConfigError
from agent.settings import SetConfig, Settings
from agent.shell.cluster import Cluster
from agent.shell.embedded import shipped_model
from agent.shell.kube import connect
from agent.shell.observe import Observer
from agent.shell.policies import load_policy, load_structures, read_tables, shipped_tables
from agent.shell.recorded import Announcer
from agent.shell.recorder import Recorder, kinds_to_record
from agent.shell.rendering import Renderer
from agent.shell.repo import Repo
from agent.shell.set_source import AbsentSource, GitSource, SetSource
from agent.shell.snapshot import Snapshot
from agent.shell.snapshot_cluster import SnapshotCluster, secret_data
from agent.shell.source import Source
from agent.shell.store import LedgerStore
from agent.shell.tick import Syncer, Tools

_WATCHES: Final = 48
"""Connections of a recorder: one for each kind that it watches, and some for lists."""


def policy_of(settings: Settings) -> Policy:
    """The shipped tables and the user's. Raises ConfigError."""
    return load_policy(settings.policies)


def health_of(settings: Settings) -> HealthRules:
    """The readiness rules, shipped and the user's. Raises ConfigError."""
    return HealthRules.parse([*shipped_tables(), *read_tables(settings.policies)])


def routes_of(tables: Sequence[Path]) -> Routes:
    """What serving paths are found and judged by, with the user's ``tables``. Raises ConfigError."""
    return Routes(load_policy(tables), HealthRules.parse([*shipped_tables(), *read_tables(tables)]))


@cache
def kinds_of() -> Kinds:
    """The built-in kinds, for what no cluster says."""
    shipped = dict(shipped_tables())
    return Kinds.from_table(shipped["kinds.yaml"], shipped["moves.yaml"])


def structures_of(kubernetes: str = "") -> Structures:
    """The shipped schemas, for that version of Kubernetes in place of their own. Raises ConfigError."""
    shipped = load_structures()
    if not kubernetes:
        return shipped
    if not re.fullmatch(r"v?1\.\d+(\.\d+)?", kubernetes):
        raise ConfigError(f"--kubernetes {kubernetes}: write a version like 1.29")
    return replace(shipped, version=kubernetes)


def source_of(settings: Settings, config: SetConfig, ref: Ref | None = None) -> GitSource:
    """The Git side of one set, at ``ref`` in place of its own; the mirror is made at first use."""
    repo = Repo(config.repo, settings.cache_dir)
    renderer = Renderer(repo, config.rendering) if config.rendering else None
    return GitSource(Source(repo, settings.cache_dir, renderer), config, ref)


def synced_source_of(settings: Settings, config: SetConfig, ref: Ref | None = None) -> SetSource:
    """What a sync asks of Git for one set; a set that shall go asks nothing."""
    return AbsentSource(config.name) if config.is_absent else source_of(settings, config, ref)


def tools_of(settings: Settings) -> Tools:
    """What all sets share: the cluster by kubeconfig or the pod's credentials, ledger, tables, clock."""
    cluster = connect(_kubeconfig(settings), settings.context)
    store = LedgerStore(cluster, settings.ledger_namespace)
    sources = {one.name: synced_source_of(settings, one) for one in settings.sets}
    return Tools(cluster, store, policy_of(settings), health_of(settings), kinds_of(), cluster.now, sources)


def _kubeconfig(settings: Settings) -> str | None:
    return str(settings.kubeconfig) if settings.kubeconfig else None


@contextmanager
def recorded(
    settings: Settings, config: SetConfig, tools: Tools, file: Path | None
) -> Iterator[Callable[[], None]]:
    """Record into ``file`` what the cluster goes through inside; calls announce what the set gives up.

    Without a file nothing is recorded. Raises ClusterError, or SourceError where the file is there already.
    """
    if file is None:
        yield lambda: None
        return
    watched = watched_cluster_of(settings)
    with Recorder(watched, kinds_to_record(watched.discover(), tools.policy), file) as recorder:
        yield Announcer(recorder, tools, source_of(settings, config), config.name, config.rules).announce


def watched_cluster_of(settings: Settings) -> Cluster:
    """The cluster, with as many connections as a recorder needs."""
    return connect(_kubeconfig(settings), settings.context, pool_size=_WATCHES)


def snapshot_tools_of(settings: Settings, config: SetConfig, snapshot: Snapshot) -> Tools:
    """The tools of one set on a snapshot; values of its Secrets are taken as Git had them when applied.

    Raises SourceError, LedgerError.
    """
    store = LedgerStore(SnapshotCluster(snapshot), settings.ledger_namespace)
    entries = store.load(config.name)[0].entries.values()
    applied = source_of(settings, config).applied(e for e in entries if e.id.group_kind in SECRETS)
    known = {key: secret_data(bodies[-1]) for key, bodies in applied.bodies.items() if bodies}
    cluster = SnapshotCluster(snapshot, known)
    return Tools(cluster, store, policy_of(settings), health_of(settings), kinds_of(), lambda: snapshot.taken)


def standing_of(
    settings: Settings, config: SetConfig, tools: Tools, ref: Ref | None = None
) -> tuple[Standing, Desired | None, Desired]:
    """What stands of a set, the release in service by the ledger (or None), and the one that Git wants now.

    Raises SourceError, LedgerError, ClusterError.
    """
    ledger, _ = tools.store.load(config.name)
    discovery = tools.cluster.discover()
    kinds = tools.kinds.extended(discovery.kinds)
    source, last = synced_source_of(settings, config, ref), ledger.last_in_service
    head = source.desired(source.resolve(pinned_to(ledger.acts)), kinds)
    observer = Observer(tools.cluster, tools.policy, discovery, shipped_model()[0].also_read)
    live = observer.look(head, ledger)
    revisions = {generation.revision for generation in ledger.generations if generation.is_standing}
    commits = revisions | {base.commit for entry in ledger.entries.values() for base in entry.bases}
    releases = {commit: source.desired(commit, kinds) for commit in commits if source.has(commit)}
    standing = Standing(live, ledger, releases, tools.clock())
    return standing, releases.get(last.revision) if last else None, head


def syncer_of(
    settings: Settings,
    config: SetConfig,
    tools: Tools,
    told: Callable[[Outcome], None] = lambda _: None,
    ref: Ref | None = None,
) -> Syncer:
    """One set's syncer, at ``ref`` in place of the set's own."""
    return Syncer(
        tools,
        synced_source_of(settings, config, ref),
        settings.rules_of(config),
        set_name=config.name,
        take_over=frozenset(config.take_over),
        told=told,
    )
