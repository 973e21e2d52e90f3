"""A rehearsal from what stands in a cluster: members as they are, what others have, a handoff half done."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ruamel.yaml import YAML

from agent.core.model import Body
from agent.shell.cluster import Resource
from tests.cli_place import Place, Run
from tests.shell.releases import binding, ingress, namespace, server, web

BLUE = {"a.yaml": namespace("front"), "b.yaml": web("blue"), "c.yaml": ingress("front/blue")}
GREEN = {"b.yaml": web("green"), "c.yaml": ingress("front/green")}
NEVER = {"b.yaml": web("green", knobs="standin.dev/never-ready: 'true'"), "c.yaml": ingress("front/green")}


def resource(place: Place, plural: str) -> Resource:
    return next(one for one in place.world.discover().resources.values() if one.plural == plural)


ROLE = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: own}
rules:
- {apiGroups: [""], resources: [pods], verbs: [list]}
"""
HOOK: Body = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingWebhookConfiguration",
    "metadata": {"name": "guard"},
    "webhooks": [
        {
            "name": "guard.example.dev",
            "clientConfig": {"service": {"namespace": "front", "name": "guard", "port": 80}},
            "rules": [
                {
                    "apiGroups": [""],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE"],
                    "resources": ["services"],
                }
            ],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }
    ],
}


def bodies_of(text: str) -> list[Body]:
    return list(YAML(typ="safe").load_all(text))


def make(place: Place, plural: str, body: Body) -> None:
    place.world.apply(resource(place, plural), body, manager="somebody")
    place.world.advance(5)


def answer(trapeze: Run, way: str) -> Any:
    """The rehearsal of what Git wants now, from the cluster itself or from a snapshot of it."""
    if way == "plan":
        ran = trapeze("plan", "--rehearse", "-o", "json")
        assert (ran.err, ran.code in (2, 3)) == ("", True)
        return json.loads(ran.out)["rehearsal"]
    assert trapeze("snapshot", "live.json.gz").code == 0
    ran = trapeze("rehearse", "--live", "live.json.gz", "-o", "json")
    told = json.loads(ran.out)
    assert (ran.err, ran.code) == ("", 0 if told["verdict"] == "kept" else 3)
    return told


@pytest.fixture
def blue(place: Place, trapeze: Run) -> Place:
    """Release blue in service."""
    place.config({"repo": "repo", "ref": "main", "path": ".", "prune": {"allow": ["Namespace"]}})
    place.repo.commit(BLUE)
    assert trapeze("sync", "--until-done").code == 0
    return place


def quota(pods: int) -> Body:
    meta = {"name": "few", "namespace": "front"}
    spec = {"hard": {"pods": str(pods)}}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": spec}


@pytest.mark.parametrize("way", ["plan", "snapshot"])
def test_a_quota_of_somebody_else_is_found_to_leave_no_room(blue: Place, trapeze: Run, way: str) -> None:
    """Git alone cannot tell: the new generation's pods find no place beside the old one's."""
    make(blue, "resourcequotas", quota(2))
    blue.repo.commit(GREEN)
    told = answer(trapeze, way)
    assert told["verdict"] == "stuck"
    (dead,) = told["deadlocks"]
    (because,) = dead["because"]
    assert because.startswith("Deployment front/green: Pod front/green-")
    assert "exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2" in because
    assert "make room" in dead["wayOut"]


@pytest.mark.parametrize("way", ["plan", "snapshot"])
def test_with_room_for_both_the_same_upgrade_is_kept(blue: Place, trapeze: Run, way: str) -> None:
    make(blue, "resourcequotas", quota(4))
    base = blue.repo.git("rev-parse", "HEAD")
    head = blue.repo.commit(GREEN)
    told = answer(trapeze, way)
    assert (told["verdict"], told["missing"], told["base"], told["head"]) == ("kept", [], base, head)


@pytest.mark.parametrize("way", ["plan", "snapshot"])
def test_a_handoff_that_is_half_done_goes_on_from_where_it_is(blue: Place, trapeze: Run, way: str) -> None:
    blue.repo.commit(GREEN)
    assert trapeze("sync").code != 0
    live = resource(blue, "deployments")
    assert {body["metadata"]["name"] for body in blue.world.list(live, "front").items} == {"blue", "green"}
    blue.world.advance(5)
    told = answer(trapeze, way)
    assert told["verdict"] == "kept"
    assert told["steps"] == [
        "cutover Ingress front/front",
        "delete Service front/blue",
        "delete Deployment front/blue",
    ]


def test_what_a_union_alone_gives_is_promised_to_nobody(place: Place, trapeze: Run) -> None:
    """Half way the old server has the new one's rights too: a revert takes them away again."""
    place.config({"repo": "repo", "ref": "main", "path": ".", "prune": {"allow": ["Namespace"]}})
    old = {"a.yaml": namespace("old"), "b.yaml": server("old"), "c.yaml": binding("old", role="own")}
    more = '- {apiGroups: [""], resources: [configmaps], verbs: [list]}\n'
    place.repo.commit({**old, "r.yaml": ROLE})
    assert trapeze("sync", "--until-done").code == 0
    new = {"a.yaml": namespace("new"), "b.yaml": server("new"), "c.yaml": binding("new", role="own")}
    place.repo.commit({**new, "r.yaml": ROLE + more})
    assert trapeze("sync").code != 0
    place.world.advance(10)
    told = answer(trapeze, "plan")
    assert (told["verdict"], told["stories"]) == ("kept", [])
    assert told["reach"]["changes"] > 0


def test_a_new_generation_that_is_not_ready_yet_may_come_late_or_never(blue: Place, trapeze: Run) -> None:
    blue.repo.commit(NEVER)
    assert trapeze("sync").code != 0
    told = answer(trapeze, "plan")
    assert told["verdict"] == "kept"
    assert any("Deployment front/green was not ready when it was looked at" in one for one in told["assumed"])
    (wait,) = told["waits"]
    assert wait["workloads"] == ["Deployment front/green"]
    assert "cutover Ingress front/front" in {step["step"] for step in wait["steps"]}
    assert "cutover Ingress front/front" in told["steps"]


def test_what_pods_need_and_was_looked_for_in_vain_is_no_assumption(place: Place, trapeze: Run) -> None:
    """The set has Secrets in this namespace, so they were read: this one is not there."""
    stored = "apiVersion: v1\nkind: Secret\nmetadata: {name: other, namespace: front}\n"
    place.repo.commit({**BLUE, "s.yaml": stored})
    assert trapeze("sync", "--until-done").code == 0
    needs = 'image: "standin/http:1", envFrom: [{secretRef: {name: key}}]'
    place.repo.commit({**GREEN, "b.yaml": web("green").replace('image: "standin/http:1"', needs)})
    told = answer(trapeze, "snapshot")
    assert told["assumed"] == []
    assert told["verdict"] == "stuck"
    (dead,) = told["deadlocks"]
    assert 'secret "key" not found' in dead["because"][0]


def test_a_workload_of_somebody_else_that_is_not_ready_never_becomes_it(blue: Place, trapeze: Run) -> None:
    """A webhook whose backend is down stops what it is asked about; the release does not mend it."""
    hooked = bodies_of(web("guard", knobs="standin.dev/never-ready: 'true'"))
    for body in hooked:
        make(blue, f"{body['kind'].lower()}s", body)
    make(blue, "validatingwebhookconfigurations", HOOK)
    blue.repo.commit(GREEN)
    told = answer(trapeze, "plan")
    assert told["verdict"] == "stuck"
    (dead,) = told["deadlocks"]
    (made,) = [step for step in dead["steps"] if step["step"] == "create Service front/green"]
    assert "guard.example.dev" in made["reasons"][0]
    assert any("Deployment front/guard was not ready" in one for one in told["assumed"])


def test_a_snapshot_and_a_base_are_not_both_given(blue: Place, trapeze: Run) -> None:
    assert trapeze("snapshot", "live.json.gz").code == 0
    ran = trapeze("rehearse", "--live", "live.json.gz", "--base", "HEAD")
    assert (ran.code, ran.out) == (1, "")
    assert "not both" in ran.err
    assert blue.repo.git("status", "--porcelain") == ""
