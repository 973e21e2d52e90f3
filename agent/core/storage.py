"""Storage versions of custom resources: what the server keeps in a version that is about to go is rewritten.

The API server remembers in ``status.storedVersions`` every version in which an object of the kind may still
stand in its storage, and a version that stands there cannot be taken out of the definition. Rewriting every
object stores it in the present version; after that the old one is taken out of the status.
Source: kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning
(upgrade existing objects to a new stored version).
"""

from __future__ import annotations

from typing import Any

from agent.core.absence import CRD
from agent.core.gates import Gates, gate
from agent.core.model import Body, Category, Form, GroupKind, LiveObject, Manifest
from agent.core.situation import Situation
from agent.core.steps import Answer, Gate, GateState, KindContents, Step, Verb
from agent.errors import Conflict, NotServed


def kind_defined(body: Body) -> GroupKind:
    """The kind that a CustomResourceDefinition defines."""
    spec = body.get("spec") or {}
    return GroupKind(str(spec.get("group")), str((spec.get("names") or {}).get("kind")))


def planned_on(crd: Body | None, step: Step) -> Body:
    """The definition that a migration was planned on. Raises Conflict where it is another by now, or gone."""
    if crd is None or crd["metadata"]["uid"] != step.uid:
        raise Conflict(f"{step.id} is not the one that was planned on")
    return crd


def forgetting(crd: Body, step: Step) -> Body:
    """The definition whose status names the versions alone that ``step``, a migration, leaves stored."""
    metadata = {**crd["metadata"], "resourceVersion": step.resource_version}
    status = {**(crd.get("status") or {}), "storedVersions": (step.body or {})["storedVersions"]}
    return {**crd, "metadata": metadata, "status": status}


def not_rewritten(kind: GroupKind) -> NotServed:
    """The error of a migration whose objects nobody serves."""
    return NotServed(f"{kind} is not served, its objects cannot be rewritten")


def leaving(live: Body, desired: Body) -> tuple[str, ...]:
    """The versions in which objects may be stored and that the desired definition does not have."""
    stored = (live.get("status") or {}).get("storedVersions") or ()
    return tuple(version for version in stored if version not in names(desired))


def migration(situation: Situation, live: LiveObject, manifest: Manifest) -> tuple[Step, ...]:
    """The step that rewrites a definition's objects, where a version goes in which some may be stored."""
    gone = leaving(live.body, manifest.body) if live.id.group_kind == CRD else ()
    if not gone:
        return ()
    answer = situation.answers.get(KindContents(kind_defined(live.body)))
    is_known = answer is not None and answer.state is GateState.OPEN
    number = len(answer.ids) if answer is not None and is_known else None
    count = "every object is" if number is None else "1 object is" if number == 1 else f"{number} objects are"
    stored = (live.body.get("status") or {}).get("storedVersions") or ()
    return (
        Step(
            id=live.id,
            verb=Verb.MIGRATE,
            category=Category.ADDITIVE,
            form=Form.BASE,
            says=f"{count} rewritten, then status.storedVersions loses {', '.join(gone)}",
            body={"storedVersions": [version for version in stored if version not in gone]},
            uid=live.uid,
            resource_version=live.resource_version,
        ),
    )


def migrating(gates: Gates, step: Step) -> tuple[Gate, ...]:
    """What rewriting waits for: another version is the stored one, and its conversion serves."""
    live = gates.situation.live.objects[step.id]
    desired = gates.situation.desired.manifests[step.id].body
    now = next((v.get("name") for v in _versions(live.body) if v.get("storage")), None)
    wants = "objects are stored in a version that stays"
    flipped = gate("stored", wants, [] if now in names(desired) else [f"they are stored as {now} now"], wants)
    serving = [gates.serves(pointer.target) for pointer in gates.serving_pointers(live.body)]
    return (gates.complete(), flipped, *serving)


def unstored(gates: Gates, step: Step) -> tuple[Gate, ...]:
    """What taking a version out of a definition waits for."""
    live, manifest = gates.situation.live.objects[step.id], gates.situation.desired.manifests[step.id]
    if step.id.group_kind != CRD:
        return ()
    gone = leaving(live.body, manifest.body)
    wants = "no object is stored in a version that goes"
    return (gate("stored", wants, (f"status.storedVersions has {version}" for version in gone), wants),)


def heeded(live: LiveObject, manifest: Manifest, answer: Answer | None) -> Answer | None:
    """The server's word on a definition, but for what it refuses until the objects have been rewritten."""
    is_early = live.id.group_kind == CRD and bool(leaving(live.body, manifest.body))
    if answer and is_early and answer.state is GateState.HELD and "storedVersions" in answer.reason:
        return None
    return answer


def _versions(body: Body) -> list[Any]:
    return (body.get("spec") or {}).get("versions") or []


def names(body: Body) -> frozenset[str]:
    """The versions that a definition has."""
    return frozenset(str(version.get("name")) for version in _versions(body))
