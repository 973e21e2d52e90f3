"""The sampler sees an outage, and does not see one where there is none."""

import os
import signal
import time

from tests.rig.cluster import Cluster
from tests.rig.sampler import Probe, Result, Sample
from tests.rig.test_aggregated import aggregated
from tests.rig.test_pods import NAMESPACE, SERVICE, deployment


def test_rolling_update_loses_nothing_an_outage_does(cluster: Cluster) -> None:
    cluster.apply([NAMESPACE, deployment(), SERVICE])
    cluster.wait_ready("web", "web")
    with cluster.sampling(cluster.through_service("web", "web")) as sampler:
        sampler.wait_samples(5)
        cluster.apply(deployment(ready_after="1"))
        cluster.wait_ready("web", "web")
        before = sampler.so_far()
        cluster.turn("web", "app=web", never_ready="true")
        sampler.wait_samples(before.samples + 10)
    assert before.lost == 0, before
    assert sampler.result.valid, sampler.result
    assert sampler.result.lost >= 5, sampler.result
    assert sampler.result.by_probe == {"service:web": (sampler.result.samples, sampler.result.lost)}


def test_aggregated_server_moved_too_early_loses_samples(cluster: Cluster) -> None:
    cluster.apply(aggregated(cluster))
    cluster.wait_available("v3.example.dev")
    with cluster.sampling(cluster.through_aggregator("example.dev/v3", "widgets")) as sampler:
        good = sampler.wait_samples(20)
        path = "/apis/apiregistration.k8s.io/v1/apiservices/v3.example.dev"
        cluster.api.patch(path, {"spec": {"service": {"name": "nobody"}}})
        sampler.wait_samples(good.samples + 10)
    assert good.lost == 0, good
    assert sampler.result.lost >= 5, sampler.result


def test_sampler_that_was_stopped_says_that_its_result_is_not_valid(cluster: Cluster) -> None:
    with cluster.sampling(
        Probe("version", f"{cluster.api.server}/version", expect=("gitVersion",))
    ) as sampler:
        sampler.wait_samples(3)
        assert sampler.pid is not None
        os.kill(sampler.pid, signal.SIGSTOP)
        time.sleep(1.5)
        os.kill(sampler.pid, signal.SIGCONT)
        sampler.wait_samples(8)
    assert len(sampler.result.stalls) == 1
    assert not sampler.result.valid
    assert "NOT VALID" in str(sampler.result)


def test_result_without_a_sample_is_not_valid() -> None:
    assert not Result((), ("web",)).valid
    assert Result((Sample("web", 1.0, 1.0, 0.1, None),), ("web",)).valid
