"""What a test does with its control plane: apply, wait, look, turn knobs, sample."""

import base64
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from tests.rig.api import APPLY, Api, ApiError, NotFoundError
from tests.rig.controlplane import ControlPlane
from tests.rig.kubelet.knobs import PREFIX
from tests.rig.resources import Object, Resource, Resources, load
from tests.rig.sampler import Probe, Sampler

T = TypeVar("T")
POLL = 0.1


class Cluster:
    """One control plane in the hands of one test."""

    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane
        self.resources = Resources(plane.api)

    @property
    def api(self) -> Api:
        """The API as admin."""
        return self.plane.api

    @property
    def kubeconfig(self) -> Path:
        """A kubeconfig file for the admin."""
        return self.plane.kubeconfig

    @property
    def ca_bundle(self) -> str:
        """What verifies the stand-ins' certificates, for caBundle fields (base64 of PEM)."""
        return self.plane.serving_ca.bundle

    def apply(
        self,
        source: str | Path | Object | Iterable[Object],
        *,
        manager: str = "rig",
        namespace: str = "default",
    ) -> list[Object]:
        """Server-side apply objects in the order given, forcing conflicts; return what came of them.

        Waits for what the next object may need: a CRD is established, a namespace has its ServiceAccount.
        `namespace` is for namespaced objects that name none.
        """
        return [self._apply(body, manager, namespace) for body in load(source)]

    def _apply(self, body: Object, manager: str, namespace: str) -> Object:
        path = self.path(body, namespace)
        query = f"?fieldManager={manager}&force=true"
        done: Object = self.api.request("PATCH", path + query, body, APPLY)
        if body["kind"] == "CustomResourceDefinition":
            self.wait(
                f"{body['metadata']['name']} established", lambda: _has(self.api.get(path), "Established")
            )
            self.resources.forget(body["spec"]["group"])
        if body["kind"] == "Namespace":
            account = f"/api/v1/namespaces/{body['metadata']['name']}/serviceaccounts/default"
            self.wait(account, lambda: self.api.find(account))
        return done

    def path(self, body: Object, namespace: str = "default") -> str:
        """Return the path of a manifest's object, waiting up to 5 s for a kind that has just been defined."""
        meta = body["metadata"]

        def known() -> Resource | None:
            try:
                return self.resources.of_object(body)
            except LookupError:
                return None

        resource = self.wait(f"{body['apiVersion']} {body['kind']} served", known, timeout=5)
        return resource.path(meta["name"], meta.get("namespace", namespace))

    def delete(self, source: str | Path | Object | Iterable[Object], *, namespace: str = "default") -> None:
        """Delete objects in the order given; what is gone already is no error."""
        for body in load(source):
            self.api.delete(self.path(body, namespace), propagationPolicy="Background")

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
        """Return a live object, or None when the server says 404."""
        found: Object | None = self.api.find(self.resources.of(api_version, kind).path(name, namespace))
        return found

    def objects(
        self, api_version: str, kind: str, namespace: str | None = None, selector: str = ""
    ) -> list[Object]:
        """Return live objects, of one namespace or all, by label selector."""
        path = self.resources.of(api_version, kind).collection(namespace)
        items: list[Object] = self.api.get(f"{path}?labelSelector={selector}")["items"]
        return items

    def pods(self, namespace: str, selector: str = "") -> list[Object]:
        """Return the live pods of a namespace, by label selector."""
        return self.objects("v1", "Pod", namespace, selector)

    def wait(self, what: str, look: Callable[[], T | None], timeout: float = 30) -> T:
        """Look ten times a second until the answer is truthy and return it.

        A 404, a 5xx or no answer counts as "not yet". Raises TimeoutError naming what was waited for, with
        the last error seen.
        """
        deadline = time.monotonic() + timeout
        problem: Exception | None = None
        while True:
            try:
                if found := look():
                    return found
            except (NotFoundError, ConnectionError) as error:
                problem = error
            except ApiError as error:
                if error.status < 500:
                    raise
                problem = error
            self.plane.check()
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"not within {timeout:g} s: {what}" + (f"; last: {problem}" if problem else "")
                )
            time.sleep(POLL)

    def wait_ready(self, namespace: str, *names: str, timeout: float = 30) -> None:
        """Wait until Deployments have rolled out: updated and available, old pods ending at most."""

        def rolled_out(name: str) -> bool:
            body = self.api.get(f"/apis/apps/v1/namespaces/{namespace}/deployments/{name}")
            wanted, status = body["spec"]["replicas"], body["status"]
            counts = [status.get(key, 0) for key in ("replicas", "updatedReplicas", "availableReplicas")]
            return (
                status.get("observedGeneration") == body["metadata"]["generation"] and counts == [wanted] * 3
            )

        for name in names:
            self.wait(f"Deployment {namespace}/{name} rolled out", partial(rolled_out, name), timeout)

    def wait_available(self, api_service: str, timeout: float = 30) -> None:
        """Wait until an APIService is Available and its group answers in discovery."""
        path = f"/apis/apiregistration.k8s.io/v1/apiservices/{api_service}"
        body = self.wait(
            f"APIService {api_service} available",
            lambda: found if _has(found := self.api.get(path), "Available") else None,
            timeout,
        )
        group_version = f"/apis/{body['spec']['group']}/{body['spec']['version']}"
        self.wait(f"{group_version} answers", lambda: self.api.find(group_version), timeout)

    def turn(self, namespace: str, selector: str, **knobs: str | None) -> None:
        """Turn knobs of running pods: `turn("web", "app=web", never_ready="true")`; None takes one away."""
        annotations = {PREFIX + key.replace("_", "-"): value for key, value in knobs.items()}
        for pod in self.pods(namespace, selector):
            path = f"/api/v1/namespaces/{namespace}/pods/{pod['metadata']['name']}"
            self.api.patch(path, {"metadata": {"annotations": annotations}})

    def room(self, pods: int | None) -> None:
        """Leave room for so many pods on the node (None: for 200); the rest stay Pending, Unschedulable."""
        value = None if pods is None else str(pods)
        self.api.patch("/api/v1/nodes/node", {"metadata": {"annotations": {f"{PREFIX}pods": value}}})

        def taken() -> bool:
            allocatable = self.api.get("/api/v1/nodes/node")["status"]["allocatable"]["pods"]
            return bool(allocatable == (value or "200"))

        self.wait("the node's new room", taken)

    def tls_secret(self, namespace: str, name: str, *services: str) -> Object:
        """Return a TLS Secret for Services of the namespace, to be applied; `ca_bundle` verifies it."""
        hosts = tuple(f"{service}.{namespace}.svc" for service in services)
        pair = self.plane.serving_ca.issue(hosts[0], hosts)
        data = {"tls.crt": pair.certificate, "tls.key": pair.key}
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": "kubernetes.io/tls",
            "metadata": {"name": name, "namespace": namespace},
            "data": {key: base64.b64encode(value).decode() for key, value in data.items()},
        }

    def sampling(self, *probes: Probe, interval: float = 0.1) -> Sampler:
        """Return a sampler to use in a `with`: it samples inside it, its result is there after it."""
        return Sampler(self.plane.folder, self.api, probes, interval)

    def through_aggregator(self, api_version: str, plural: str, namespace: str | None = None) -> Probe:
        """A probe: LIST of an aggregated kind as admin."""
        base = f"/apis/{api_version}"
        path = f"{base}/namespaces/{namespace}/{plural}" if namespace else f"{base}/{plural}"
        return Probe(f"aggregator:{plural}", self.api.server + path, expect=('"items":', f'"{api_version}"'))

    def through_service(self, namespace: str, name: str, port: int = 80, expect: str = '"version":') -> Probe:
        """A probe: HTTP to a Service's ClusterIP, each sample on a connection of its own."""
        spec: Any = self.api.get(f"/api/v1/namespaces/{namespace}/services/{name}")["spec"]
        return Probe(f"service:{name}", f"http://{spec['clusterIP']}:{port}/", expect=(expect,))

    def through_webhook(self, body: Object, expect: str = "") -> Probe:
        """A probe: dry-run create of what a webhook guards; `expect` is what the webhook puts in."""
        meta = {"generateName": "sample-", **{k: v for k, v in body["metadata"].items() if k != "name"}}
        resource = self.resources.of_object(body)
        path = resource.collection(meta.get("namespace", "default") if resource.namespaced else None)
        url = f"{self.api.server}{path}?dryRun=All"
        body = {**body, "metadata": meta}
        return Probe(f"webhook:{resource.name}", url, "POST", body, 201, (expect,) if expect else ())


def _has(body: Object, condition: str) -> bool:
    rows = body.get("status", {}).get("conditions") or []
    return any(row["type"] == condition and row["status"] == "True" for row in rows)
