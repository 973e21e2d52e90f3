"""The gates of a plan: each rule open, held and unknown, with its reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.core.facet import Facet, FacetKind
from agent.core.gates import gate
from agent.core.model import Body, Category, Finding, ObjectId, Severity
from agent.core.situation import Foreign, Situation
from agent.core.steps import Admits, Answer, GateState, Request
from tests.core.histories import RBAC, account
from tests.core.scenes import (
    BLUE,
    FRONT,
    GREEN,
    answered,
    app,
    gates,
    ingress,
    labelled,
    moved,
    pod_of,
    running,
    said,
    scene,
    unread,
    with_entry,
    workload,
)

OPEN, HELD, UNKNOWN = GateState.OPEN, GateState.HELD, GateState.UNKNOWN
OLD = app("blue") + ingress("blue")
NEW = app("green") + ingress("green")
MOVES = Facet(
    FacetKind.POINTS, Category.REPOINT, (), "moves", ("spec", "defaultBackend"), old=BLUE, new=GREEN
)
WEB = ObjectId("apps", "Deployment", "shop", "green")
BINDING = ObjectId("rbac.authorization.k8s.io", "ClusterRoleBinding", "", "reads")


def handoff(*live: Body, ready: int = 2) -> Situation:
    return scene(OLD, NEW, *running("blue"), *running("green", ready), *live)


def test_a_gate_shows_three_troubles_once_and_counts_the_rest() -> None:
    assert said(gate("n", "w", ["a", "b", "a", "c", "d", "e"], "")) == "held n: a, b, c and 2 more"
    assert said(gate("n", "w", [], "seen")) == "open n: seen"


def test_complete_holds_for_what_could_not_be_read() -> None:
    situation = handoff()
    assert said(gates(situation).complete()) == "open complete: the source is whole"
    warned = Finding(Severity.WARNING, "old version")
    broken = Finding(Severity.OBJECT, "a.yaml cannot be read")
    for finding, state in ((warned, OPEN), (broken, HELD)):
        desired = replace(situation.desired, findings=(finding,))
        assert gates(replace(situation, desired=desired)).complete().state is state


def test_an_empty_source_takes_all_away_only_where_the_set_says_so() -> None:
    held = gates(scene(OLD, "")).complete()
    reason = "the source has 0 objects at head, 3 are in the ledger; if all shall go: prune: {allow: ['*']}"
    assert said(held) == f"held complete: {reason}"
    assert gates(scene(OLD, "", allow=frozenset({"*"}))).complete().state is OPEN
    assert gates(scene("", "")).complete().state is OPEN


def test_known_speaks_only_where_evidence_cannot_be_read() -> None:
    assert gates(handoff()).known() == ()
    (held,) = gates(unread(handoff(), "Pod", "ConfigMap")).known()
    assert said(held) == "unknown known: Pod: the server answers 503"


def test_standing_holds_while_something_is_pending() -> None:
    assert gates(handoff()).in_place().state is OPEN
    pending = {WEB: "create Deployment shop/green"}
    held = gates(handoff(), pending=pending).in_place()
    assert said(held) == "held standing: create Deployment shop/green is pending"


def settling(seconds_ago: float, *live: Body, ready: int = 2, **more: int) -> Situation:
    situation = scene(NEW, NEW, *running("green", ready), *live, settle=10.0)
    return moved(situation, FRONT, seconds_ago, **more)


SHORT = "1 of 2 endpoints ready; Deployment shop/green: 1 of 2 replicas available; 1 pod not ready (green-1)"


@pytest.mark.parametrize(
    ("situation", "expected"),
    [
        (settling(10), "open settled: every cutover is seen good for 10 s"),
        (settling(9), "held settled: Ingress shop/front moved less than 10 s ago"),
        (
            settling(60, ready=1),
            f"held settled: Ingress shop/front at Service shop/green: {SHORT}",
        ),
        (
            unread(settling(60), "Pod"),
            "held settled: Ingress shop/front at Service shop/green: Pod: the server answers 503",
        ),
    ],
)
def test_settled(situation: Situation, expected: str) -> None:
    assert said(gates(situation).settled()) == expected


def test_settled_holds_while_a_pointer_still_has_to_move() -> None:
    held = gates(settling(60), moving={FRONT: "cutover Ingress shop/front"}).settled()
    assert said(held) == "held settled: cutover Ingress shop/front is pending"


API = """
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.example.org}
spec:
  {group: example.org, version: v1, groupPriorityMinimum: 1, versionPriority: 1,
   service: {namespace: shop, name: green}}
"""
HOOK = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: gate}
webhooks:
- name: gate.example.org
  sideEffects: None
  admissionReviewVersions: [v1]
  clientConfig: {service: {namespace: shop, name: green}}
"""


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (API, Request(ObjectId("apiregistration.k8s.io", "APIService", "", "v1.example.org"))),
        (
            HOOK,
            Admits(ObjectId("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "gate")),
        ),
    ],
)
def test_what_moved_is_asked_with_real_requests(text: str, question: Request | Admits) -> None:
    text = app("green") + "---" + text
    situation = moved(scene(text, text, *running("green")), question.pointer, 60)
    assert set(gates(situation).questions()) == {question}
    unasked = f"held settled: {question.pointer}: not asked yet"
    assert said(gates(situation).settled()) == unasked
    for state, expected in ((OPEN, OPEN), (HELD, HELD), (UNKNOWN, HELD)):
        told = answered(situation, {question: Answer(state, "it says")})
        assert gates(told).settled().state is expected


def test_serves_wants_the_capacity_that_git_asks() -> None:
    assert said(gates(handoff()).serves(GREEN)) == "open serves: Service shop/green: 2 of 2 endpoints ready"
    assert gates(handoff(ready=1)).serves(GREEN).state is HELD
    assert gates(unread(handoff(), "Service")).serves(GREEN).state is UNKNOWN


def test_a_backend_at_rest_is_enough_only_where_nothing_is_used() -> None:
    none = app("green", 0)
    judge = gates(scene(none, none, *running("green", 0, 0)))
    assert judge.serves(GREEN, is_used=False).state is OPEN
    assert judge.serves(GREEN, is_used=True).state is HELD


def test_granted_waits_for_what_stands_behind_the_target() -> None:
    assert gates(handoff()).granted(GREEN).state is OPEN
    pending = {WEB: "update Deployment shop/green", BINDING: "widen it"}
    held = gates(handoff(), pending=pending).granted(GREEN)
    assert said(held) == "held granted: update Deployment shop/green is pending"


def test_a_cutover_waits_for_backend_rights_and_source() -> None:
    open_gates = gates(handoff()).cutover(FRONT, (MOVES,))
    assert [said(each) for each in open_gates if not each.is_open] == []
    assert [each.name for each in open_gates] == ["complete", "serves", "granted"]
    names = [g.name for g in gates(handoff(ready=0)).cutover(FRONT, (MOVES,)) if not g.is_open]
    assert names == ["serves"]


def test_a_target_that_was_lost_has_to_serve_for_longer_each_time() -> None:
    """Its pods are ready for an hour: enough after few losses, too short after many."""
    situation = handoff()
    entry = situation.ledger.entries[FRONT]
    for backs, state in ((1, OPEN), (8, OPEN), (12, HELD)):
        lost = with_entry(situation, replace(entry, points_back=backs))
        (stable,) = (g for g in gates(lost).cutover(FRONT, (MOVES,)) if g.name == "stable")
        assert stable.state is state


def test_used_is_what_answers_now_and_what_the_server_asks() -> None:
    assert gates(handoff()).is_used(FRONT, MOVES)
    assert not gates(scene(OLD, NEW)).is_used(FRONT, MOVES)
    key = ObjectId("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "gate")
    assert gates(scene("", HOOK)).is_used(key)


SHARED = Category.SHARED_SUBJECT_REWRITE
LOSES = Facet(FacetKind.UNION, SHARED, (), "loses", ("subjects",), removed=(account("old"),))
BOUND = f"""
apiVersion: {RBAC}
kind: ClusterRoleBinding
metadata: {{name: reads}}
roleRef: {{kind: ClusterRole, name: view, apiGroup: rbac.authorization.k8s.io}}
subjects: [{{kind: ServiceAccount, name: new, namespace: shop}}]
"""


def test_idle_counts_the_pods_that_work_under_the_subject() -> None:
    free = scene(BOUND, BOUND, workload("green"))
    wants = "no pod of the old generation runs as shop/old"
    assert said(gates(free).idle(BINDING, (LOSES,))) == f"open idle: {wants}"
    body = pod_of(workload("gone"), "a")
    under = {**body, "spec": {"serviceAccountName": "old"}}
    held = gates(scene(BOUND, BOUND, under)).idle(BINDING, (LOSES,))
    assert said(held) == "held idle: pod a (running)"
    assert gates(unread(free, "Pod")).idle(BINDING, (LOSES,)).state is UNKNOWN


def test_a_user_without_trace_holds_while_workloads_still_leave() -> None:
    person = Facet(
        FacetKind.UNION, SHARED, (), "loses", ("subjects",), removed=({"kind": "User", "name": "kim"},)
    )
    situation = scene(BOUND, BOUND, labelled(workload("old")))
    leaving = [ObjectId("apps", "Deployment", "shop", "old")]
    held = gates(situation, leaving=leaving).idle(BINDING, (person,))
    assert said(held) == "held idle: User kim (leaves no trace); waits for Deployment shop/old to go"
    assert gates(situation).idle(BINDING, (person,)).state is OPEN


def test_entries_of_somebody_else_hold_until_the_set_says_what_becomes_of_them() -> None:
    strange = replace(LOSES, foreign=(account("theirs"),))
    held = gates(scene(BOUND, BOUND)).foreign((strange,))
    assert said(held).startswith("held foreign: 1 entries that Git never had, e.g. ")
    for choice in (Foreign.KEEP, Foreign.DROP):
        assert gates(scene(BOUND, BOUND, foreign=choice)).foreign((strange,)) is None
    assert gates(scene(BOUND, BOUND)).foreign((LOSES,)) is None


def test_a_narrow_waits_for_the_whole_handoff_too() -> None:
    names = [g.name for g in gates(scene(BOUND, BOUND)).narrow(BINDING, (LOSES,))]
    assert names == ["complete", "standing", "ready", "settled", "idle"]
