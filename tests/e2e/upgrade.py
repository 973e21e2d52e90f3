"""An upgrade of Calico's API server on a real cluster, watched from outside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from agent.build import health_of, policy_of
from agent.core.orders import Order
from agent.core.prediction import Prediction
from agent.core.promise import Verdict
from agent.core.serving import Routes
from agent.core.terms import Terms
from agent.shell.kube import connect
from agent.shell.recorder import Recorder, kinds_to_record
from agent.shell.recording import Recording, judge
from tests.e2e.command import foretold
from tests.e2e.objects import STORED_POLICY
from tests.e2e.releases import CORE, Files, Layout
from tests.e2e.site import Site, bodies
from tests.rig.cluster import Cluster
from tests.rig.sampler import Probe, Result, Sampler

API = "projectcalico.org/v3"
SAMPLES = 300
SETTLE = "3s"
CONNECTIONS = 40


@dataclass
class Watch:
    """What watched an upgrade from outside; ``result`` and ``recording`` are there when it has ended."""

    sampler: Sampler
    recording: Recording = field(init=False)

    @property
    def result(self) -> Result:
        """The samples."""
        return self.sampler.result


class Upgrade(Site):
    """The set of Calico's API server; ``cluster`` gets what stands before its first release."""

    def __init__(self, cluster: Cluster, folder: Path, layout: Layout, *, by_cluster_ip: bool) -> None:
        super().__init__(
            cluster,
            folder,
            "calico",
            settle=SETTLE,
            prune={"allow": [f"Namespace {layout.old.namespace}"]},
        )
        self.layout = layout
        self._suffix = ", requests by ClusterIP" if by_cluster_ip else ""
        cluster.apply(CORE, manager="installer")

    def named(self, scenario: str) -> str:
        """The scenario's name in the table of results."""
        return f"{self.layout.name} {scenario}{self._suffix}"

    @property
    def routes(self) -> Routes:
        """The tables that serving paths are found and judged by."""
        return Routes(policy_of(self.settings), health_of(self.settings))

    def terms(self, old: Files, new: Files) -> Terms:
        """What the upgrade announces that it gives up; a path that had two ready endpoints keeps two."""
        return Terms.between(bodies(old), bodies(new), self.routes, minimum=2)

    @contextmanager
    def watching(self, *more: Probe) -> Iterator[Watch]:
        """Samples through the aggregator and a recording; goes on after the block until there are enough."""
        probe = self.cluster.through_aggregator(API, "networkpolicies")
        own = connect(str(self.cluster.kubeconfig), pool_size=CONNECTIONS)
        resources = kinds_to_record(own.discover(), policy_of(self.settings), [STORED_POLICY])
        sampler = self.cluster.sampling(probe, *more)
        with sampler, Recorder(own, resources) as recorder:
            watch = Watch(sampler)
            sampler.wait_samples(10)
            yield watch
            sampler.wait_samples(SAMPLES)
        watch.recording = recorder.recording()
        own.close()

    def foretold(self, base: str, order: Order = Order.GATED) -> Prediction:
        """What a rehearsal of the way from ``base`` to what Git has now says, by the command."""
        return foretold(self.config, base, self.head, "--order", order.value)

    def judged(self, watch: Watch, old: Files, new: Files) -> Verdict:
        """The promise on every state that was recorded."""
        return judge(watch.recording, self.routes, self.terms(old, new))
