"""A Deployment's selector and a binding's role change under requests: nothing is lost, there and back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.build import health_of, policy_of
from agent.core.promise import Verdict
from agent.core.serving import Routes
from agent.core.terms import Terms
from agent.shell.kube import connect
from agent.shell.recorder import Recorder, kinds_to_record
from agent.shell.recording import judge
from tests.e2e.judges import assert_in_service
from tests.e2e.releases import Files
from tests.e2e.results import note
from tests.e2e.site import Site, bodies
from tests.e2e.upgrade import CONNECTIONS, SAMPLES, SETTLE
from tests.rig.cluster import Cluster
from tests.rig.sampler import Result

RELEASE = """\
apiVersion: v1
kind: Namespace
metadata: {name: front}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: web, namespace: front}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: red, namespace: front}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: blue, namespace: front}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: red, namespace: front}
rules: [{apiGroups: [""], resources: [configmaps], resourceNames: [red], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: blue, namespace: front}
rules: [{apiGroups: [""], resources: [configmaps], resourceNames: [blue], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: web, namespace: front}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: COLOUR}
subjects: [{kind: ServiceAccount, name: web, namespace: front}]
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: front}
spec:
  selector: {colour: COLOUR}
  ports: [{port: 80, targetPort: 8080, protocol: TCP}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: front}
spec:
  replicas: 2
  selector: {matchLabels: {colour: COLOUR}}
  template:
    metadata: {labels: {colour: COLOUR}, annotations: {standin.dev/ready-after: "2"}}
    spec:
      serviceAccountName: web
      containers:
      - name: web
        image: standin/http:v1
        args: ["--need=/api/v1/namespaces/front/configmaps/COLOUR"]
        ports: [{containerPort: 8080, protocol: TCP}]
"""


def coloured(colour: str) -> Files:
    """The release whose pods read the ConfigMap of this colour, by the role of this colour."""
    return {"release.yaml": RELEASE.replace("COLOUR", colour)}


class Judge:
    """Samples through the Service and a recording of every state, of a block."""

    result: Result
    verdict: Verdict


@contextmanager
def watching(site: Site, old: Files, new: Files) -> Iterator[Judge]:
    """What happens in the block, seen from outside; judged when it has ended."""
    policy = policy_of(site.settings)
    routes = Routes(policy, health_of(site.settings))
    own = connect(str(site.cluster.kubeconfig), pool_size=CONNECTIONS)
    sampler = site.cluster.sampling(site.cluster.through_service("front", "web"))
    seen = Judge()
    with sampler, Recorder(own, kinds_to_record(own.discover(), policy)) as recorder:
        sampler.wait_samples(10)
        yield seen
        sampler.wait_samples(SAMPLES // 2)
    seen.result = sampler.result
    terms = Terms.between(bodies(old), bodies(new), routes, minimum=2)
    seen.verdict = judge(recorder.recording(), routes, terms)
    own.close()


@pytest.mark.cluster
def test_another_selector_and_another_role_lose_no_request_there_and_back(
    cluster: Cluster, tmp_path: Path
) -> None:
    site = Site(cluster, tmp_path, "front", settle=SETTLE)
    red, blue = coloured("red"), coloured("blue")
    site.start(red)
    for old, new, where in ((red, blue, "there"), (blue, red, "back")):
        with watching(site, old, new) as seen:
            site.commit(new, where)
            site.sync()
        note(f"selector and role {where}", seen.result, seen.verdict)
        assert seen.result.valid, str(seen.result)
        assert seen.result.lost == 0, str(seen.result)
        assert seen.verdict.is_kept, [*map(str, seen.verdict.broken), *seen.verdict.unseen]
        assert_in_service(site, new)
    keys = [outcome.step.key for outcome in site.outcomes if not outcome.error]
    assert keys.count("replace Deployment front/web") == 2
    assert keys.count("replace RoleBinding front/web") == 2
    sets = list(cluster.objects("apps/v1", "ReplicaSet", "front"))
    assert [len(row["metadata"].get("ownerReferences") or ()) for row in sets] == [1]
