"""What of a set the API server would refuse, found by the tables before anything is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agent.core.fields import find
from agent.core.gathering import gathering
from agent.core.kinds import CRD
from agent.core.model import Body, Desired, Finding, Manifest, ObjectId, path_text
from agent.core.normalize import duplicates
from agent.core.policy import Policy, group_kind_of
from agent.core.schemas import defined
from agent.core.situation import Situation
from agent.core.validation.problem import Problem, raw_path


def checked(situation: Situation) -> Situation:
    """The situation with a finding for each desired object that would be refused; such objects have no steps.

    A source with findings is incomplete: nothing is taken away because of it. The policy knows the schemas
    of the kinds that the cluster defines, and of those that the set itself brings, and the labels that roles
    gather by.
    """
    manifests = situation.desired.manifests
    bodies = [obj.body for obj in situation.live.of_kind(*CRD)]
    bodies += [manifest.body for manifest in manifests.values()]
    schemas = defined(
        bodies, frozenset(key.group_kind for key in manifests) - situation.policy.schemas.keys()
    )
    situation = replace(situation, policy=situation.policy.with_schemas(schemas)) if schemas else situation
    situation = _without_misshapen(situation)
    situation = replace(situation, policy=situation.policy.with_shared(gathering(situation)))
    twice_named = dict(_refused(situation.desired, situation.policy))
    refused = {**situation.refused, **twice_named}
    if not twice_named:
        return situation
    findings = (*situation.desired.findings, *twice_named.values())
    return replace(situation, desired=replace(situation.desired, findings=findings), refused=refused)


def _without_misshapen(situation: Situation) -> Situation:
    """The situation without objects whose fields are not what their kind has: no rule could read them."""
    policy, desired = situation.policy, situation.desired
    wrong = {key: said for key, m in desired.manifests.items() if (said := misshapen(m, policy))}
    if not wrong:
        return situation
    findings = (*desired.findings, *(wrong[key].finding(desired.manifests[key]) for key in sorted(wrong)))
    kept = {key: manifest for key, manifest in desired.manifests.items() if key not in wrong}
    return replace(situation, desired=replace(desired, manifests=kept, findings=findings))


def misshapen(manifest: Manifest, policy: Policy) -> Problem | None:
    """The first field that is no map, or no list, where the tables say that it is one."""
    return policy.recalled("misshapen", manifest.body, _misshapen)


def _misshapen(body: Body, policy: Policy) -> Problem | None:
    kind = policy.of(group_kind_of(body))
    for placed in kind.shapes:
        for path, value in find(body, placed.pattern, kind.rules):
            wanted = dict if placed.row.type == "map" else list
            if value is not None and not isinstance(value, wanted):
                remedy = f"write it as {body['kind']} has it; the API server refuses it"
                return Problem("shape", raw_path(path, body), f"is no {placed.row.type}", remedy)
    return None


def twice(manifest: Manifest, policy: Policy) -> Problem | None:
    """Entries that stand twice in a list with merge keys.

    Source: kubernetes.io/docs/reference/using-api/server-side-apply (keys of a map list are unique).
    """
    return policy.recalled("twice", manifest.body, _twice)


def _twice(body: Body, policy: Policy) -> Problem | None:
    paths = list(duplicates(body, policy))
    if not paths:
        return None
    told = ", ".join(map(path_text, paths))
    remedy = "keep one of the two: of entries with one key the server takes none"
    return Problem("twice", raw_path(paths[0], body), "stands twice in its list", remedy, where=told)


def _refused(desired: Desired, policy: Policy) -> Iterator[tuple[ObjectId, Finding]]:
    for key, manifest in sorted(desired.manifests.items()):
        problem = twice(manifest, policy)
        if problem is not None:
            yield key, problem.finding(manifest)
