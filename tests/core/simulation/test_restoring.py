"""A world made from what was read of another: it goes on as that one does."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

from agent.core.model import Body, ObjectId
from agent.core.rehearsal.stage import at_rest
from agent.core.simulation import requests
from agent.core.simulation.bootstrap import new_world
from agent.core.simulation.draft import Draft
from agent.core.simulation.restoring import Restored, restored
from agent.core.simulation.world import World
from agent.shell.embedded import shipped_model
from tests.core.simulation.aggregated import NEW, ROLE, STORAGE, own, pointer, shared
from tests.core.simulation.lab import Lab, binding, named, service, template, workload


def read_of(world: World) -> list[Body]:
    """Every object as a client reads it, the last ones first, with uids of another cluster."""
    text = json.dumps(list(world.objects().values()))
    return list(reversed(json.loads(text.replace("-0000-4000-8000-", "-1234-4abc-8def-"))))


PASSING = {"uid", "resourceVersion", "generation", "observedGeneration", "creationTimestamp", "time"}
PASSING |= {"lastTransitionTime", "lastUpdateTime", "startTime", "startedAt", "completionTime", "nodeName"}
PASSING |= {"podIP", "podIPs", "addresses", "lastHeartbeatTime", "containerID", "finishedAt"}
GENERATED = re.compile(r"-[a-z0-9]{5}\b(?!-)")


def seen(world: World) -> Counter[str]:
    """How often each object stands there, but for times, numbers and names that are given anew."""
    return Counter(GENERATED.sub("-*", json.dumps(_lasting(body))) for body in world.objects().values())


def _lasting(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: _lasting(value) for key, value in sorted(part.items()) if key not in PASSING}
    return [_lasting(item) for item in part] if isinstance(part, list) else part


def again(bodies: Iterable[Body]) -> Restored:
    found = restored(new_world(*shipped_model()), bodies)
    return found._replace(world=at_rest(found.world))


CRD = named(
    "apiextensions.k8s.io/v1",
    "CustomResourceDefinition",
    "lights.example.dev",
    spec={
        "group": "example.dev",
        "names": {"kind": "Light", "plural": "lights", "singular": "light", "listKind": "LightList"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": name,
                "served": True,
                "storage": name == "v2",
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
                },
            }
            for name in ("v1", "v2")
        ],
    },
)
LIGHT = named("example.dev/v1", "Light", "lamp", "shop", spec={"on": True})
HOOK = named(
    "admissionregistration.k8s.io/v1",
    "ValidatingWebhookConfiguration",
    "check",
    webhooks=[
        {
            "name": "check.example.dev",
            "clientConfig": {"service": {"namespace": "shop", "name": "web"}},
            "rules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}
            ],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }
    ],
)
QUOTA = named("v1", "ResourceQuota", "few", "shop", spec={"hard": {"pods": "9"}})
SCALER = named(
    "autoscaling/v2",
    "HorizontalPodAutoscaler",
    "web",
    "shop",
    spec={
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        "minReplicas": 3,
        "maxReplicas": 4,
    },
)
JOB = named(
    "batch/v1", "Job", "migrate", "shop", spec={"template": template("migrate", run_for="1", exit_code="0")}
)
JOB["spec"]["template"]["spec"]["restartPolicy"] = "Never"
SCENES = {
    "a Deployment behind a Service, with an autoscaler": (
        workload("Deployment", template(), replicas=2),
        service(),
        SCALER,
    ),
    "a StatefulSet and a DaemonSet": (
        workload("StatefulSet", template(), replicas=2),
        workload("DaemonSet", template("each"), "each"),
    ),
    "rights": (named("v1", "ServiceAccount", "web", "shop"), binding("all", "view", ("shop", "web"))),
    "a custom kind, stored in another version than it was written in": (CRD, LIGHT),
    "a webhook and its backend": (workload("Deployment", template()), service(), HOOK),
    "an aggregated API": (STORAGE, ROLE, shared(NEW), *own(NEW), pointer(NEW)),
    "a quota": (QUOTA, workload("Deployment", template())),
}


@pytest.mark.parametrize("scene", SCENES)
def test_what_was_read_and_put_down_again_is_the_same_world(scene: str) -> None:
    lab = Lab()
    for body in SCENES[scene]:
        lab.apply(body)
        lab.advance(1)
    lab.world = at_rest(lab.world)
    found = again(read_of(lab.world))
    assert found.left_out == {}
    assert seen(found.world) == seen(lab.world)


def settled(*bodies: Body) -> Lab:
    lab = Lab()
    lab.apply(*bodies)
    lab.world = at_rest(lab.world)
    return lab


def pods(world: World) -> list[str]:
    return [key.name for key in world.of("", "Pod")]


def test_a_job_that_is_complete_does_not_run_again() -> None:
    found = again(read_of(settled(JOB).world))
    (job,) = found.world.of("batch", "Job").values()
    assert {row["type"] for row in job["status"]["conditions"]} == {"SuccessCriteriaMet", "Complete"}
    assert pods(found.world) == []


def owned(lab: Lab, owner: Body, name: str) -> Body:
    """A ConfigMap that goes with ``owner``."""
    live = lab.get(owner)
    ref = {key: live[key] for key in ("apiVersion", "kind")}
    body = named("v1", "ConfigMap", name, "shop", data={"a": "b"})
    body["metadata"]["ownerReferences"] = [{**ref, "name": name, "uid": live["metadata"]["uid"]}]
    return lab.apply(body)


def test_what_has_an_owner_keeps_it_and_goes_with_it() -> None:
    lab = settled(workload("Deployment", template()))
    kept = ObjectId("", "ConfigMap", "shop", "web")
    owned(lab, workload("Deployment", template()), "web")
    found = again(read_of(lab.world))
    assert found.world.get(kept) is not None
    draft = Draft(found.world)
    requests.delete(draft, ObjectId("apps", "Deployment", "shop", "web"))
    assert at_rest(draft.finish()).get(kept) is None


def test_what_an_unknown_owner_has_stays_for_good() -> None:
    lab = settled(workload("Deployment", template()))
    owned(lab, workload("Deployment", template()), "web")
    bodies = [body for body in read_of(lab.world) if body["kind"] in ("Namespace", "ConfigMap", "Pod")]
    found = again(bodies)
    assert found.world.get(ObjectId("", "ConfigMap", "shop", "web")) is not None
    assert pods(found.world) == pods(lab.world)


def test_what_is_being_deleted_goes_on_going() -> None:
    lab = settled(named("v1", "Namespace", "old"))
    kept = named("v1", "ConfigMap", "kept", "shop", data={"a": "b"})
    kept["metadata"]["finalizers"] = ["example.dev/hold"]
    lab.apply(kept)
    lab.delete(ObjectId("", "ConfigMap", "shop", "kept"))
    lab.delete(ObjectId("", "Namespace", "", "old"))
    found = again(read_of(lab.world))
    assert found.world.get(ObjectId("", "Namespace", "", "old")) is None
    held = found.world.get(ObjectId("", "ConfigMap", "shop", "kept"))
    assert held is not None
    assert "deletionTimestamp" in held["metadata"]


def test_what_the_model_cannot_hold_is_named_with_the_reason() -> None:
    found = again([LIGHT, named("v1", "ConfigMap", "a", "shop")])
    (left,) = found.left_out.items()
    assert left == (ObjectId("example.dev", "Light", "shop", "lamp"), left[1])
    assert "Light" in left[1]
    assert found.world.get(ObjectId("", "ConfigMap", "shop", "a")) is not None
