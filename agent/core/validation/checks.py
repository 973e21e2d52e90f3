"""All that is wrong with a desired object, or with a whole set, in one order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from agent.core.fields import find
from agent.core.kinds import CRD
from agent.core.model import Desired, Finding, GroupKind, Live, Manifest, ObjectId, Origin, Severity
from agent.core.policy import Policy
from agent.core.refused import misshapen, twice
from agent.core.targets import target_of
from agent.core.validation.beside import as_merged
from agent.core.validation.definitions import brings, definition_problems
from agent.core.validation.fields import field_problems
from agent.core.validation.problem import Problem, raw_path
from agent.core.validation.structures import Structures
from agent.core.validation.tabled import removed_problems, tabled_problems

_SERVICE: Final = GroupKind("", "Service")


class Checked(NamedTuple):
    """One finding with the rule that it breaks and, where it is one field, its object and place.

    ``line`` is that of the field, counted from 1; of the document where the field's is not known.
    """

    rule: str
    finding: Finding
    manifest: Manifest | None = None
    problem: Problem | None = None
    line: int = 0

    @property
    def file(self) -> str:
        """The file, or empty where the finding is about the whole."""
        return self.finding.origin.file if self.finding.origin else ""


def problems_of(manifest: Manifest, policy: Policy, structures: Structures) -> Iterator[Problem]:
    """What is wrong with one object; nothing but its shape where no other rule could read it."""
    shape = misshapen(manifest, policy)
    if shape is not None:
        yield shape
        return
    structure = structures.get(manifest.api_version, manifest.id.kind)
    if structure is not None:
        if structure.why:
            message = f"cannot be checked: the schema of its kind does not compile ({structure.why})"
            yield Problem("no-schema", (), message, "mend the schema", Severity.WARNING)
        yield from _of_fields(manifest, policy, field_problems(manifest.body, structure))
    stands_twice = twice(manifest, policy)
    if stands_twice is not None:
        yield stands_twice
    yield from tabled_problems(manifest, policy)
    yield from removed_problems(manifest, policy, structures.version)
    if manifest.id.group_kind == CRD:
        yield from definition_problems(manifest.body)


def validated(desired: Desired, policy: Policy, structures: Structures) -> tuple[Checked, ...]:
    """Everything that is wrong with a set: what could not be read, each object, the whole, by file."""
    structures = structures.with_definitions(m.body for m in desired.manifests.values())
    found = [Checked("reading", finding) for finding in desired.findings]
    for manifest in desired.manifests.values():
        problems = map(_assuming, problems_of(manifest, policy, structures))
        found += [Checked(one.rule, one.finding(manifest), manifest, one) for one in problems]
        found += _dangling(manifest, desired, policy)
    found += _unknown_kinds(desired, structures)
    return tuple(sorted((one._replace(line=_line(one)) for one in found), key=_place))


def refusals(
    desired: Desired, policy: Policy, structures: Structures, live: Live | None = None, manager: str = ""
) -> dict[ObjectId, tuple[Finding, ...]]:
    """What a plan is told of each object: errors, and warnings where another server may see it otherwise.

    What the tables find by themselves (agent/core/refused.py) is left out: the plan finds it anyway. Where
    ``live`` is known, an object is judged with what others than ``manager`` hold of it there.
    """
    structures = structures.with_definitions(m.body for m in desired.manifests.values())
    found: dict[ObjectId, tuple[Finding, ...]] = {}
    for key, manifest in desired.manifests.items():
        problems = [p for p in problems_of(manifest, policy, structures) if p.rule not in {"shape", "twice"}]
        there = live.get(key) if live else None
        if problems and there is not None:
            merged = as_merged(manifest.body, there, policy.of(key.group_kind).rules, manager)
            still = set(problems_of(replace(manifest, body=merged), policy, structures))
            problems = [problem for problem in problems if problem in still]
        elif live is None:
            problems = [_assuming(problem) for problem in problems]
        if live is not None and (unserved := _unserved(manifest, live, desired)) is not None:
            problems = [unserved, *(p for p in problems if p.rule != unserved.rule)]
        findings = tuple(p.finding(manifest, None if p.is_certain else Severity.WARNING) for p in problems)
        if findings:
            found[key] = findings
    return found


def with_refusals(
    desired: Desired, policy: Policy, structures: Structures, live: Live | None = None, manager: str = ""
) -> tuple[Desired, dict[ObjectId, Finding]]:
    """The set with what ``refusals`` tells of its objects, and the objects that have no steps for that."""
    findings = desired.findings
    refused = {}
    for key, found in sorted(refusals(desired, policy, structures, live, manager).items()):
        findings = (*findings, *found)
        errors = [finding for finding in found if finding.severity is Severity.OBJECT]
        if errors:
            refused[key] = errors[0]
    return replace(desired, findings=findings), refused


def _unserved(manifest: Manifest, live: Live, desired: Desired) -> Problem | None:
    """The version that an object is written in, where the server has others and nothing brings that one."""
    served = live.versions.get(manifest.id.group_kind)
    written = manifest.api_version
    bodies = (one.body for one in desired.manifests.values())
    if served is None or written in served or brings(bodies, written, manifest.id.kind):
        return None
    message = f"is {written}, which the server does not serve"
    return Problem("removed-version", ("apiVersion",), message, f"use {' or '.join(served)}")


def _assuming(problem: Problem) -> Problem:
    """The same without a look at the cluster, where a field that lacks may be another manager's."""
    if problem.rule != "missing-field":
        return problem
    return replace(problem, remedy=f"{problem.remedy}, unless another field manager holds it in the cluster")


def _of_fields(manifest: Manifest, policy: Policy, problems: Iterator[Problem]) -> Iterator[Problem]:
    """Without fields that lack and are filled in by the server."""
    filled = policy.placed(policy.tables.filled, manifest.id.group_kind)
    paths = {tuple(map(str, placed.pattern)) for placed in filled}
    for problem in problems:
        lacking = (*problem.path, problem.message.removeprefix("lacks "))
        if problem.rule != "missing-field" or tuple(map(str, lacking)) not in paths:
            yield problem


def _dangling(manifest: Manifest, desired: Desired, policy: Policy) -> Iterator[Checked]:
    """Pointers at a Service that the set does not have."""
    kind = policy.of(manifest.id.group_kind)
    for placed in kind.pointers:
        for path, value in find(manifest.body, placed.pattern, kind.rules):
            target = target_of(placed.row.target, value, manifest.id.namespace)
            named = target.id if target else None
            if named is not None and named.group_kind == _SERVICE and named not in desired.manifests:
                message = f"points at {named}, which is not in the set"
                remedy = "add it, unless somebody else brings it"
                problem = Problem(
                    "dangling", raw_path(path, manifest.body), message, remedy, Severity.WARNING
                )
                yield Checked(problem.rule, problem.finding(manifest), manifest, problem)


def _unknown_kinds(desired: Desired, structures: Structures) -> Iterator[Checked]:
    """Each kind whose schema nobody knows, once, at its first object."""
    unknown: dict[tuple[str, str], list[Manifest]] = {}
    for manifest in desired.manifests.values():
        key = (manifest.api_version, manifest.id.kind)
        if structures.get(*key) is None:
            unknown.setdefault(key, []).append(manifest)
    for (api_version, kind), manifests in unknown.items():
        first = min(manifests, key=lambda one: one.origin)
        told = f"no schema is known, so the fields of {_objects(manifests)} are not checked"
        remedy = "add its CustomResourceDefinition, or ask a cluster that serves it"
        finding = Finding(Severity.WARNING, f"{api_version} {kind}: {told}", first.origin, remedy)
        yield Checked("unknown-kind", finding)


def _objects(manifests: list[Manifest]) -> str:
    return "1 object" if len(manifests) == 1 else f"{len(manifests)} objects"


def _line(checked: Checked) -> int:
    return checked.finding.origin.line if checked.finding.origin else 0


def _place(checked: Checked) -> tuple[Origin, str, str]:
    return checked.finding.origin or Origin("", 0, 0), checked.rule, checked.finding.message
