"""The node: its object, who is placed on it, addresses, identities of pods, the watch that drives them."""

import os
import sys
import threading
import time
import traceback
from typing import Any

from tests.rig import components, netns
from tests.rig.api import STRATEGIC, Api, ApiError
from tests.rig.kubelet import volumes
from tests.rig.kubelet.pod import Pod
from tests.rig.kubelet.scheduling import CAPACITY, MACHINE, why_not
from tests.rig.kubelet.status import condition, now
from tests.rig.pki import Authority, KeyPair
from tests.rig.resources import Resources

NODE = f"/api/v1/nodes/{components.NODE_NAME}"
PODS = "/api/v1/pods"
TOKEN_SECONDS = 24 * 3600
STANDS_IN = "standin.dev/stands-in-for-all"


class Node:
    """The one node of a control plane."""

    def __init__(self, admin: Api, authority: Authority) -> None:
        self.admin = admin
        self._authority = authority
        self._resources = Resources(admin)
        self._lock = threading.RLock()
        self._bodies: dict[str, dict[str, Any]] = {}
        self._pods: dict[str, Pod] = {}
        self._next_address = 0
        self._capacity = CAPACITY
        self._labels: dict[str, str] = {}
        self._certificates: dict[str, KeyPair] = {}
        self.stands_in_for_all = False

    def run(self) -> None:
        """Make the Node, then follow Node and pods for ever."""
        self._register()
        threading.Thread(target=self._follow, args=(NODE_LIST, self._node_seen), daemon=True).start()
        self._follow(PODS, self._pod_seen)

    def _register(self) -> None:
        labels = {"kubernetes.io/hostname": components.NODE_NAME, "kubernetes.io/os": "linux"}
        labels |= {"kubernetes.io/arch": "amd64", "node-role.kubernetes.io/worker": ""}
        meta = {"name": components.NODE_NAME, "labels": labels}
        if self.admin.find(NODE) is None:
            body = {"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": {"podCIDR": netns.PODS}}
            self.admin.create("/api/v1/nodes", body)
        self._write_node(CAPACITY)
        # Admission taints a new Node as not ready; the controller that takes the taint off does not run here.
        self.admin.patch(NODE, {"spec": {"taints": None}})

    def _write_node(self, capacity: int) -> None:
        room = {"pods": str(capacity), **MACHINE, "ephemeral-storage": "1Ti"}
        names = {"MemoryPressure": False, "DiskPressure": False, "PIDPressure": False, "Ready": True}
        reason = "StandInReady"
        body = {
            "capacity": room,
            "allocatable": room,
            "addresses": [
                {"type": "InternalIP", "address": netns.NODE},
                {"type": "Hostname", "address": components.NODE_NAME},
            ],
            "conditions": [
                {**condition({}, kind, true=true, reason=reason), "lastHeartbeatTime": now()}
                for kind, true in names.items()
            ],
            "nodeInfo": {
                "architecture": "amd64",
                "bootID": "rig",
                "containerRuntimeVersion": "standin://1",
                "kernelVersion": "rig",
                "kubeProxyVersion": "",
                "kubeletVersion": "v1.36.3",
                "machineID": "rig",
                "operatingSystem": "linux",
                "osImage": "stand-in",
                "systemUUID": "rig",
            },
        }
        self.admin.patch(f"{NODE}/status", {"status": body}, STRATEGIC)

    def _follow(self, path: str, seen: Any) -> None:
        """List and watch a collection without end; whatever breaks is said in the log and begun again."""
        while True:
            try:
                listed = self.admin.get(path)
                seen(None, listed["items"])
                for event in self.admin.watch(path, listed["metadata"]["resourceVersion"]):
                    if event["type"] == "ERROR":
                        break
                    if event["type"] != "BOOKMARK":
                        seen(event["type"], [event["object"]])
            except (ConnectionError, ApiError) as error:
                sys.stderr.write(f"{path}: {error}\n")
                time.sleep(0.2)

    def _node_seen(self, _event: str | None, bodies: list[dict[str, Any]]) -> None:
        for body in bodies:
            notes = body["metadata"].get("annotations") or {}
            self.stands_in_for_all = STANDS_IN in notes
            wanted = int(notes.get("standin.dev/pods", CAPACITY))
            if wanted != self._capacity:
                self._write_node(wanted)
            with self._lock:
                self._capacity = wanted
                self._labels = body["metadata"].get("labels") or {}
        self._schedule()

    def _pod_seen(self, event: str | None, bodies: list[dict[str, Any]]) -> None:
        with self._lock:
            if event is None:
                uids = {body["metadata"]["uid"] for body in bodies}
                for uid in self._bodies.keys() - uids:
                    self._drop(uid)
            for body in bodies:
                uid = body["metadata"]["uid"]
                if event == "DELETED":
                    self._drop(uid)
                    continue
                self._bodies[uid] = body
                if uid in self._pods:
                    self._pods[uid].update(body)
                elif body["spec"].get("nodeName") == components.NODE_NAME:
                    self._pods[uid] = Pod(body, self)
        self._schedule()

    def _drop(self, uid: str) -> None:
        self._bodies.pop(uid, None)
        pod = self._pods.pop(uid, None)
        if pod is not None:
            pod.remove()

    def _schedule(self) -> None:
        """Bind every pod that has none of the reasons not to; tell the others why, once."""
        with self._lock:
            placed = [body for body in self._bodies.values() if body["spec"].get("nodeName")]
            waiting = [body for body in self._bodies.values() if not body["spec"].get("nodeName")]
            for body in sorted(waiting, key=lambda row: str(row["metadata"]["creationTimestamp"])):
                if "deletionTimestamp" in body["metadata"] or body["spec"].get("schedulingGates"):
                    continue
                reason = why_not(body, placed, self._capacity, self._labels)
                try:
                    if reason is None:
                        self._bind(body)
                        placed.append(body)
                    else:
                        self._say_unschedulable(body, reason)
                except (ConnectionError, ApiError) as error:
                    sys.stderr.write(f"binding {body['metadata']['name']}: {error}\n")

    def _bind(self, body: dict[str, Any]) -> None:
        meta = body["metadata"]
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": meta["name"], "uid": meta["uid"]},
            "target": {"apiVersion": "v1", "kind": "Node", "name": components.NODE_NAME},
        }
        self.admin.create(f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/binding", binding)
        # Seen in the watch too; noted now, so that the room is not given away twice.
        body["spec"]["nodeName"] = components.NODE_NAME

    def _say_unschedulable(self, body: dict[str, Any], reason: str) -> None:
        row = condition(body, "PodScheduled", true=False, reason="Unschedulable", message=reason)
        before = body.get("status", {}).get("conditions") or []
        if not any(old["type"] == "PodScheduled" and old.get("message") == reason for old in before):
            meta = body["metadata"]
            path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/status"
            self.admin.patch(path, {"status": {"phase": "Pending", "conditions": [row]}}, STRATEGIC)

    def new_address(self, pod: dict[str, Any]) -> str:
        """Return the node's address for a pod on the host's network, else the next of the pods' range."""
        if pod["spec"].get("hostNetwork"):
            return netns.NODE
        with self._lock:
            self._next_address = self._next_address % 65000 + 1
            high, low = divmod(self._next_address, 250)
            return f"10.244.{high}.{low + 2}"

    def identity(self, pod: dict[str, Any]) -> Api:
        """Return the API with a token of the pod's own ServiceAccount, bound to the pod (TokenRequest)."""
        meta, account = pod["metadata"], pod["spec"].get("serviceAccountName") or "default"
        bound = {"kind": "Pod", "apiVersion": "v1", "name": meta["name"], "uid": meta["uid"]}
        request = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"audiences": [], "expirationSeconds": TOKEN_SECONDS, "boundObjectRef": bound},
        }
        path = f"/api/v1/namespaces/{meta['namespace']}/serviceaccounts/{account}/token"
        token = self.admin.create(path, request)["status"]["token"]
        return Api(self.admin.server, token, self.admin.ca, user_agent=f"{meta['namespace']}/{account}")

    def certificate(self, namespace: str, secret: str | None) -> KeyPair:
        """Return the certificate of a Secret, or one of the rig's for every Service of the namespace."""
        if secret is not None:
            return volumes.serving_pair(self.admin, namespace, secret)
        with self._lock:
            if namespace not in self._certificates:
                self._certificates[namespace] = self._authority.issue(namespace, (f"*.{namespace}.svc",))
            return self._certificates[namespace]

    def exists(self, api_version: str, kind: str, namespace: str | None, name: str) -> bool:
        """Tell whether an object exists; a kind that is not served has none."""
        try:
            resource = self._resources.of(api_version, kind)
        except LookupError:
            return False
        return self.admin.find(resource.path(name, namespace)) is not None


NODE_LIST = f"/api/v1/nodes?fieldSelector=metadata.name={components.NODE_NAME}"


def report_thread_errors() -> None:
    """End the process when a thread fails: a kubelet that lost a part of itself must not look alive."""

    def report(failure: threading.ExceptHookArgs) -> None:
        traceback.print_exception(failure.exc_value)
        sys.stderr.flush()
        os._exit(70)

    threading.excepthook = report
