"""What of a set the API server would refuse, found by the tables before anything is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agent.core.fields import find
from agent.core.kinds import CRD
from agent.core.model import Desired, Finding, Manifest, ObjectId, Severity, path_text
from agent.core.normalize import duplicates
from agent.core.policy import Policy
from agent.core.schemas import defined
from agent.core.situation import Situation


def checked(situation: Situation) -> Situation:
    """The situation with a finding for each desired object that would be refused; such objects have no steps.

    A source with findings is incomplete: nothing is taken away because of it. The policy knows the schemas
    of the kinds that the cluster defines, and of those that the set itself brings.
    """
    manifests = situation.desired.manifests
    bodies = [obj.body for obj in situation.live.of_kind(*CRD)]
    bodies += [manifest.body for manifest in manifests.values()]
    schemas = defined(
        bodies, frozenset(key.group_kind for key in manifests) - situation.policy.schemas.keys()
    )
    situation = replace(situation, policy=situation.policy.with_schemas(schemas)) if schemas else situation
    situation = _without_misshapen(situation)
    refused = dict(_refused(situation.desired, situation.policy))
    if not refused:
        return situation
    findings = (*situation.desired.findings, *refused.values())
    return replace(situation, desired=replace(situation.desired, findings=findings), refused=refused)


def _without_misshapen(situation: Situation) -> Situation:
    """The situation without objects whose fields are not what their kind has: no rule could read them."""
    policy, desired = situation.policy, situation.desired
    wrong = {key: said for key, m in desired.manifests.items() if (said := _misshapen(m, policy))}
    if not wrong:
        return situation
    findings = (*desired.findings, *(wrong[key] for key in sorted(wrong)))
    kept = {key: manifest for key, manifest in desired.manifests.items() if key not in wrong}
    return replace(situation, desired=replace(desired, manifests=kept, findings=findings))


def _misshapen(manifest: Manifest, policy: Policy) -> Finding | None:
    kind = policy.of(manifest.id.group_kind)
    for placed in kind.shapes:
        for path, value in find(manifest.body, placed.pattern, kind.rules):
            wanted = dict if placed.row.type == "map" else list
            if value is not None and not isinstance(value, wanted):
                message = f"{manifest.id}: {path_text(path)} is no {placed.row.type}"
                remedy = f"write it as {manifest.id.kind} has it; the API server refuses it"
                return Finding(Severity.OBJECT, message, manifest.origin, remedy)
    return None


def _refused(desired: Desired, policy: Policy) -> Iterator[tuple[ObjectId, Finding]]:
    for key, manifest in sorted(desired.manifests.items()):
        twice = [path_text(path) for path in duplicates(manifest.body, policy)]
        if twice:
            yield key, _finding(manifest, twice)


def _finding(manifest: Manifest, twice: list[str]) -> Finding:
    """Source: kubernetes.io/docs/reference/using-api/server-side-apply (keys of a map list are unique)."""
    message = f"{manifest.id}: {', '.join(twice)} stands twice in its list"
    remedy = "keep one of the two: of entries with one key the server takes none"
    return Finding(Severity.OBJECT, message, manifest.origin, remedy)
