"""A Service whose pods are of one colour or of another: a release in which selectors and a role change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from agent.build import health_of, policy_of
from agent.core.promise import Verdict
from agent.core.serving import Routes
from agent.core.terms import Terms
from agent.shell.kube import connect
from agent.shell.recorder import Recorder, kinds_to_record
from agent.shell.recording import judge
from tests.e2e.releases import Files
from tests.e2e.site import Site, bodies
from tests.e2e.upgrade import CONNECTIONS, SAMPLES
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
def watching(site: Site, old: Files, new: Files, namespace: str = "front") -> Iterator[Judge]:
    """What happens in the block, with requests to Service ``web``; judged when it has ended."""
    policy = policy_of(site.settings)
    routes = Routes(policy, health_of(site.settings))
    own = connect(str(site.cluster.kubeconfig), pool_size=CONNECTIONS)
    sampler = site.cluster.sampling(site.cluster.through_service(namespace, "web"))
    seen = Judge()
    with sampler, Recorder(own, kinds_to_record(own.discover(), policy)) as recorder:
        sampler.wait_samples(10)
        yield seen
        sampler.wait_samples(SAMPLES // 2)
    seen.result = sampler.result
    terms = Terms.between(bodies(old), bodies(new), routes, minimum=2)
    seen.verdict = judge(recorder.recording(), routes, terms)
    own.close()


def assert_nothing_lost(seen: Judge) -> None:
    """Every sample was answered, and every state was seen and kept the promise."""
    assert seen.result.valid, str(seen.result)
    assert seen.result.lost == 0, str(seen.result)
    assert seen.verdict.is_kept, [*map(str, seen.verdict.broken), *seen.verdict.unseen]
