"""Plans for the tests of what people read: the handoff of an API server, and a hostile one."""

from __future__ import annotations

from agent.core.model import (
    ABSENT,
    Action,
    Category,
    FieldChange,
    Finding,
    Form,
    ObjectId,
    Origin,
    Reason,
    Severity,
)
from agent.core.steps import Change, Gate, GateState, Plan, Step, Verb

KEY = b"a key of this run"
RBAC = "rbac.authorization.k8s.io"
OLD, NEW = "53a41e0" + "0" * 33, "72eddd2" + "1" * 33
OPEN, HELD = GateState.OPEN, GateState.HELD

BINDING = ObjectId(RBAC, "ClusterRoleBinding", "", "calico-apiserver-access-calico-crds")
POLICY = ObjectId("projectcalico.org", "NetworkPolicy", "calico-system", "allow-tigera.default-deny")
POINTER = ObjectId("apiregistration.k8s.io", "APIService", "", "v3.projectcalico.org")
SECRET = ObjectId("", "Secret", "calico-system", "calico-apiserver-certs")
CREATED = (
    ObjectId("", "ServiceAccount", "calico-system", "calico-apiserver"),
    ObjectId("", "Service", "calico-system", "calico-api"),
    ObjectId("apps", "Deployment", "calico-system", "calico-apiserver"),
)
PRUNED = (
    ObjectId("policy", "PodDisruptionBudget", "tigera-system", "tigera-apiserver"),
    ObjectId("apps", "Deployment", "tigera-system", "tigera-apiserver"),
    ObjectId("", "Service", "tigera-system", "tigera-api"),
    ObjectId(RBAC, "ClusterRole", "", "tigera-webhook-reader"),
    ObjectId(RBAC, "ClusterRoleBinding", "", "tigera-apiserver-webhook-reader"),
)
NAMESPACE = ObjectId("", "Namespace", "", "tigera-system")

OLD_SUBJECT = {"kind": "ServiceAccount", "name": "tigera-apiserver", "namespace": "tigera-system"}
NEW_SUBJECT = {"kind": "ServiceAccount", "name": "calico-apiserver", "namespace": "calico-system"}

HANDOVER = (
    Gate(
        "standing", "everything new is in place", HELD, "create Service calico-system/calico-api is pending"
    ),
    Gate("settled", "every cutover is seen good for 60 s", OPEN, "every cutover is seen good for 60 s"),
)


def handoff() -> Plan:
    """A live plan in the middle of the handoff: additive work open, the cutover held."""
    return Plan(
        set_name="calico",
        revision=NEW,
        base_revision=OLD,
        generation=7,
        changes=_changes(),
        steps=_steps(),
        unchanged=6,
        findings=(
            Finding(
                Severity.WARNING,
                "autoscaling/v2beta2 is served until 1.26 only",
                Origin("apps/hpa.yaml", 2, 14),
                "use autoscaling/v2",
            ),
        ),
        warnings=("Deployment calico-system/calico-typha: Recreate stops the old pod before the new one",),
        handover=HANDOVER,
    )


def _steps() -> tuple[Step, ...]:
    both = "adds calico-system/calico-apiserver, keeps tigera-system/tigera-apiserver"
    serves = Gate(
        "serves",
        "2 of 2 endpoints of generation 7 are ready",
        HELD,
        "0 of 2 endpoints ready (pod calico-apiserver-7d9 starting, 4 s)",
    )
    idle = Gate("idle", "no pod runs as tigera-system/tigera-apiserver", HELD, "2 pods run under it")
    last = Gate("last", "everything else is done", HELD, "Service tigera-system/tigera-api first")
    through = Gate("available", "the old server answers", OPEN, "v3.projectcalico.org answers 200")
    additive, prune = Category.ADDITIVE, Category.PRUNE
    shared = Category.SHARED_SUBJECT_REWRITE
    return (
        *(Step(id_, Verb.CREATE, additive, Form.FINAL, "new") for id_ in CREATED),
        Step(SECRET, Verb.UPDATE, additive, Form.FINAL, "changes data"),
        Step(BINDING, Verb.WIDEN, shared, Form.WIDENED, both),
        Step(POLICY, Verb.DELETE, prune, Form.FINAL, "unblocks calico-apiserver", (through,)),
        Step(
            POINTER,
            Verb.CUTOVER,
            Category.REPOINT,
            Form.FINAL,
            "tigera-system/tigera-api -> calico-system/calico-api, with its CA bundle",
            (serves,),
        ),
        Step(BINDING, Verb.NARROW, shared, Form.FINAL, "drops tigera-apiserver", (*HANDOVER, idle)),
        *(Step(id_, Verb.DELETE, prune, Form.FINAL, "no longer wanted", _unused(id_)) for id_ in PRUNED),
        Step(NAMESPACE, Verb.DELETE, prune, Form.FINAL, "no longer wanted", (*HANDOVER, last)),
    )


def _unused(id_: ObjectId) -> tuple[Gate, ...]:
    return (*HANDOVER, Gate("unreferenced", "nothing live uses it", HELD, f"used by Pod {id_.name}-0"))


def _changes() -> tuple[Change, ...]:
    subjects = FieldChange(("subjects",), [OLD_SUBJECT], [NEW_SUBJECT])
    backend = FieldChange(("spec", "service", "namespace"), "tigera-system", "calico-system")
    password = FieldChange(("data", "tls.key"), "b2xkIGtleQ==", "bmV3IGtleQ==", Reason.BOTH)
    window = FieldChange(("spec", "egress"), ABSENT, [{"to": [{"ports": [443, "8443"]}]}], Reason.DRIFT)
    return (
        *(Change(id_, Action.CREATE, Category.ADDITIVE, "new in Git") for id_ in CREATED),
        Change(SECRET, Action.UPDATE, Category.ADDITIVE, "values change, no key goes", (password,)),
        Change(
            BINDING,
            Action.UPDATE,
            Category.SHARED_SUBJECT_REWRITE,
            "ServiceAccount tigera-system/tigera-apiserver would lose ClusterRole calico-crds",
            (subjects,),
        ),
        Change(POINTER, Action.UPDATE, Category.REPOINT, "its target changes", (backend, window)),
        Change(POLICY, Action.DELETE, Category.PRUNE, "no generation wants it"),
        *(Change(id_, Action.DELETE, Category.PRUNE, "no generation wants it") for id_ in PRUNED),
        Change(NAMESPACE, Action.DELETE, Category.PRUNE, "no generation wants it"),
        Change(ObjectId("", "ConfigMap", "calico-system", "same"), Action.NONE, Category.ADDITIVE, ""),
    )


HOSTILE = "</details>|`x`\n```\n| [b](http://x) @team #12 <img src=x> \x1b[31m[red]\u202e\u2066**z**\\|"
"""Ends tables, fences, spans and folds, notifies, styles, hides and reverses, where nothing stops it."""


def hostile(objects: int = 1) -> Plan:
    """A plan every foreign text of which is hostile, with as many changes and steps as asked."""
    ids = [ObjectId("x.example", "Thing", HOSTILE, f"{HOSTILE}{n}") for n in range(objects)]
    gate = Gate("serves", HOSTILE, HELD, HOSTILE)
    field = FieldChange(("spec", HOSTILE), {HOSTILE: HOSTILE}, f"````\n{HOSTILE}\n~~~")
    return Plan(
        set_name=HOSTILE,
        revision=HOSTILE,
        base_revision=HOSTILE,
        generation=1,
        changes=tuple(Change(id_, Action.UPDATE, Category.REPOINT, HOSTILE, (field,)) for id_ in ids),
        steps=tuple(Step(id_, Verb.CUTOVER, Category.REPOINT, Form.FINAL, HOSTILE, (gate,)) for id_ in ids),
        unchanged=0,
        findings=(Finding(Severity.SET, HOSTILE, Origin(HOSTILE, 1, 1), HOSTILE),),
        warnings=(HOSTILE,),
        handover=(gate,),
        gone=tuple(ids),
    )
