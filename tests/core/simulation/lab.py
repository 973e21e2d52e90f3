"""A world to try things in, and the objects that scenarios use again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent.core.model import Body, ObjectId
from agent.core.simulation import requests
from agent.core.simulation.bootstrap import new_world
from agent.core.simulation.draft import Draft
from agent.core.simulation.engine import advance
from agent.core.simulation.serving import through_pointer
from agent.core.simulation.standins import Reply
from agent.core.simulation.tables import dig
from agent.core.simulation.world import id_of
from agent.shell.embedded import shipped_model

RBAC = "rbac.authorization.k8s.io"
MANAGER = "trapeze/test"


class Lab:
    """Holds the present world; every call makes the next one."""

    def __init__(self) -> None:
        tables, bootstrap = shipped_model()
        self.world = new_world(tables, bootstrap)
        self.apply(named("v1", "Namespace", "shop"))
        self.advance(0)

    def apply(self, *bodies: Body, manager: str = MANAGER, force: bool = False) -> Body:
        """Apply one after the other; the last as it then stands."""
        stored: Body = {}
        for body in bodies:
            draft = Draft(self.world)
            stored = requests.apply(draft, body, manager, force=force)
            self.world = draft.finish()
        return stored

    def delete(self, object_id: ObjectId) -> None:
        """Delete whatever version there is."""
        draft = Draft(self.world)
        requests.delete(draft, object_id)
        self.world = draft.finish()

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.world = advance(self.world, seconds)

    def get(self, body: Body) -> Body:
        """The object of this body, which is there."""
        live = self.world.get(id_of(body))
        assert live is not None, f"{id_of(body)} is gone"
        return live

    def reply(self, pointer: Body) -> Reply:
        """What a request through this object gets now."""
        return through_pointer(self.world, id_of(pointer))

    def status(self, body: Body, field: str) -> Any:
        """One field of the object's status, or None."""
        return dig(self.get(body), ("status", field))

    def condition(self, body: Body, kind: str) -> tuple[str, str]:
        """Status and reason of a condition; empty where it is not there."""
        rows = self.status(body, "conditions") or ()
        return next(((row["status"], row.get("reason", "")) for row in rows if row["type"] == kind), ("", ""))

    def pods(self, app: str = "web") -> list[Body]:
        """The pods with this label, by name."""
        pods = sorted(self.world.of("", "Pod").items())
        return [pod for _, pod in pods if dig(pod, ("metadata", "labels", "app")) == app]

    def lowest(self, seconds: float, look: Callable[[], int], step: float = 0.25) -> int:
        """The smallest number seen while time passes, looked at before and after each step."""
        seen = [look()]
        for _ in range(round(seconds / step)):
            self.advance(step)
            seen.append(look())
        return min(seen)

    def ready(self, service: Body) -> int:
        """How many ready endpoints a Service has."""
        rows = [
            row
            for piece in self.world.of("discovery.k8s.io", "EndpointSlice").values()
            if piece["metadata"]["labels"]["kubernetes.io/service-name"] == service["metadata"]["name"]
            for row in piece["endpoints"]
        ]
        return sum(row["conditions"]["ready"] for row in rows)


def named(api_version: str, kind: str, name: str, namespace: str = "", **rest: Any) -> Body:
    """A body with identity and what else is given."""
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}


def template(app: str = "web", version: str = "1", **knobs: str) -> Body:
    """A pod template; ``knobs`` are the annotations standin.dev/..., underscores as dashes."""
    annotations = {f"standin.dev/{name.replace('_', '-')}": value for name, value in knobs.items()}
    container = {"name": "web", "image": f"standin/http:{version}", "ports": [{"containerPort": 8080}]}
    return {
        "metadata": {"labels": {"app": app}, "annotations": annotations},
        "spec": {"containers": [container]},
    }


def workload(kind: str, pods: Body, name: str = "web", **spec: Any) -> Body:
    """A Deployment, StatefulSet or DaemonSet in ``shop`` that selects its template's app."""
    selector = {"matchLabels": {"app": pods["metadata"]["labels"]["app"]}}
    return named("apps/v1", kind, name, "shop", spec={"selector": selector, "template": pods, **spec})


def service(name: str = "web", app: str = "web") -> Body:
    """A Service in ``shop``."""
    return named(
        "v1",
        "Service",
        name,
        "shop",
        spec={"selector": {"app": app}, "ports": [{"port": 80, "targetPort": 8080}]},
    )


def binding(name: str, role: str, *accounts: tuple[str, str]) -> Body:
    """A ClusterRoleBinding of a ClusterRole to ServiceAccounts (namespace, name)."""
    subjects = [{"kind": "ServiceAccount", "name": name, "namespace": space} for space, name in accounts]
    role_ref = {"apiGroup": RBAC, "kind": "ClusterRole", "name": role}
    return named(f"{RBAC}/v1", "ClusterRoleBinding", name, subjects=subjects, roleRef=role_ref)
