"""The stage outside: a real API server and real requests every 100 ms, each path in a thread of its own."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Final, Self

from agent.core.model import Body, GroupKind, ObjectId
from agent.demo.stage import PATHS, SAMPLED_EVERY, Tally
from agent.errors import ClusterError, NotServed
from agent.shell.cluster import Cluster, Resource
from agent.shell.kube import KubeCluster
from agent.shell.kube_connect import Connection
from agent.shell.policies import load_policy
from agent.shell.recorder import Recorder, kinds_to_record
from agent.shell.recording import Recording

ANSWER_WITHIN: Final = 5.0
"""Seconds after which a sample is lost."""

CONNECTIONS: Final = 48
"""One for each kind that is recorded, and some for its lists."""

_TITLES: Final = "/apis/library.example/v1/namespaces/reading-room/titles"
_GOOD: Final = 200
_RESOURCES: Final = {
    kind: Resource(GroupKind(group, kind), ("v1",), plural, is_namespaced=True, verbs=frozenset())
    for group, kind, plural in (
        ("", "ConfigMap", "configmaps"),
        ("", "Service", "services"),
        ("networking.k8s.io", "Ingress", "ingresses"),
    )
}
_QUIET: Final = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "sample", "namespace": "reading-room"},
}


class RealStage:
    """Samples while it is entered. ``kubeconfig`` names the file; the sampler never asks twice."""

    def __init__(self, kubeconfig: str) -> None:
        self._kubeconfig = kubeconfig
        self.cluster: Cluster = KubeCluster(Connection(kubeconfig, None, 8))
        self._asked = KubeCluster(Connection(kubeconfig, None, 8), timeout=ANSWER_WITHIN, patience=0)
        self._seen = dict.fromkeys(PATHS, Tally())
        self._lock = Lock()
        self._stop = Event()
        self._threads = [Thread(target=self._sample, args=(name,), daemon=True) for name in PATHS]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(ANSWER_WITHIN)

    def now(self) -> float:
        """The clock on the wall."""
        return time.time()

    def let_pass(self, seconds: float) -> None:
        """Wait."""
        self._stop.wait(seconds)

    def seen(self) -> Mapping[str, Tally]:
        """What was asked and answered so far."""
        with self._lock:
            return dict(self._seen)

    @contextmanager
    def recorded(self) -> Iterator[Callable[[], Recording]]:
        """A watch on every kind that the promise speaks of, over connections of their own."""
        watching = KubeCluster(Connection(self._kubeconfig, None, CONNECTIONS))
        resources = kinds_to_record(watching.discover(), load_policy())
        with Recorder(watching, resources) as recorder:
            yield recorder.recording
        watching.close()

    def _sample(self, name: str) -> None:
        due = time.monotonic()
        while not self._stop.is_set():
            trouble = self._ask(PATHS[name])
            with self._lock:
                self._seen[name] = self._seen[name].with_answer(trouble)
            due = max(due + SAMPLED_EVERY, time.monotonic())
            self._stop.wait(due - time.monotonic())

    def _ask(self, pointer: ObjectId) -> str:
        """Why a request through the path got no right answer, or empty."""
        try:
            match pointer.kind:
                case "APIService":
                    status = self._asked.read(_TITLES)
                    return "" if status == _GOOD else f"GET {_TITLES} answers {status}"
                case "Ingress":
                    return self._through_ingress(pointer)
            # A dry run is admitted like any other write, and stores nothing.
            self._asked.dry_run(_RESOURCES["ConfigMap"], _QUIET, manager="sample")
        except (ClusterError, OSError, http.client.HTTPException) as error:
            return str(error)
        return ""

    def _through_ingress(self, pointer: ObjectId) -> str:
        """Where no Ingress controller runs: what one does, to the Service that the Ingress names now."""
        ingress = self._body(pointer)
        backend = ingress["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]
        service = self._body(ObjectId("", "Service", pointer.namespace, backend["name"]))
        port = next(row["port"] for row in service["spec"]["ports"] if row["name"] == backend["port"]["name"])
        line = http.client.HTTPConnection(service["spec"]["clusterIP"], port, timeout=ANSWER_WITHIN)
        try:
            line.request("GET", "/")
            status = line.getresponse().status
        finally:
            line.close()
        return "" if status == _GOOD else f"GET / of {backend['name']} answers {status}"

    def _body(self, object_id: ObjectId) -> Body:
        body = self._asked.get(_RESOURCES[object_id.kind], object_id)
        if body is None:
            raise NotServed(f"{object_id} is not there")
        return body
