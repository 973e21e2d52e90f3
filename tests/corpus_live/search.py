"""Edits made to a live release or to its Git repo, one by one known, and what the plan says of each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from random import Random

from agent.core.fields import rule_at
from agent.core.model import Body, FieldPath, ObjectId, Reason, path_text
from agent.core.steps import Change, Plan
from tests.core.casefiles import shipped
from tests.corpus_live.edits import Edit, Kind, declared, edited, highest_missing, value_at
from tests.corpus_live.install import Install
from tests.corpus_live.others import without_nulls
from tests.rig.api import APPLY, ApiError

EDITOR = "editor"
ROUNDS = 12
TWO_NAMES = "serviceAccountName"
"""An apply that drops it leaves the value under its older name, from which the server fills it in again."""
TRIES = 4
"""Edits drawn for each one that is wanted: the server refuses many."""


@dataclass
class Tally:
    """What became of the edits; ``missed`` says in words which the plan did not name as it should."""

    counts: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    @property
    def found(self) -> int:
        """Edits that took effect and were named at their path with the right reason."""
        return self.counts["found"]


def drawn(live: dict[ObjectId, Body], manager: str, number: int, rng: Random) -> list[list[Edit]]:
    """Rounds of edits, in each at most one of an object."""
    leaves = [(key, path) for key, body in sorted(live.items()) for path in declared(body, manager)]
    chosen = rng.sample(leaves, min(len(leaves), number * TRIES))
    rounds: list[dict[ObjectId, Edit]] = []
    for key, path in chosen:
        edit = Edit(key, path, rng.choice(list(Kind)))
        free = next((one for one in rounds if key not in one), None)
        if free is None and len(rounds) < ROUNDS:
            rounds.append({key: edit})
        elif free is not None:
            free[key] = edit
    return [list(one.values()) for one in rounds]


class LiveSearch:
    """Edits live objects by another field manager, looks at the plan, and puts everything back."""

    def __init__(self, install: Install, seed: str) -> None:
        self.install = install
        self.api = install.cluster.api
        self.rng = Random(seed)  # noqa: S311 - a sample that can be drawn again
        self.tally = Tally()

    def run(self, number: int) -> Tally:
        """Edit until ``number`` edits took effect, or the draw is used up."""
        before = {key: obj.body for key, obj in self.install.members().items()}
        for edits in drawn(before, self.install.manager, number, self.rng):
            if self.tally.found >= number:
                break
            made = {edit: after for edit in edits if (after := self._made(edit, before[edit.id])) is not None}
            plan = self.install.syncer.plan()
            for edit, after in made.items():
                expected = Expected(highest_missing(after, edit.path), Reason.DRIFT, before[edit.id], after)
                judge(self.tally, plan, edit, expected)
            for edit in made:
                self._put_back(edit.id, before)
        return self.tally

    def _made(self, edit: Edit, body: Body) -> Body | None:
        """The object after the edit; None where the server refused it or put the field back."""
        wanted = edited(body, edit, self.rng)
        if wanted is None:
            return None
        try:
            after: Body = self.api.replace(
                f"{self.install.path(edit.id, body)}?fieldManager={EDITOR}", _fresh(wanted)
            )
        except ApiError as error:
            self.tally.counts[f"refused: {error.status}"] += 1
            self.tally.refusals.append(f"{edit}: {error}")
            return None
        if value_at(after, edit.path) == value_at(body, edit.path):
            self.tally.counts["put back by the server"] += 1
            self._put_back(edit.id, {edit.id: body})
            return None
        self.tally.counts[edit.kind.value] += 1
        return after

    def _put_back(self, key: ObjectId, before: dict[ObjectId, Body]) -> None:
        """The values first, then who owns them: a write of values takes ownership along."""
        body = before[key]
        path = f"{self.install.path(key, body)}?fieldManager={EDITOR}"
        try:
            self.api.replace(path, _fresh(body))
            owners = [
                {
                    "op": "replace",
                    "path": "/metadata/managedFields",
                    "value": body["metadata"]["managedFields"],
                }
            ]
            self.api.patch(path, owners, "application/json-patch+json")
        except ApiError as error:
            self.tally.counts["could not be put back"] += 1
            self.tally.refusals.append(f"put back {key}: {error}")


class GitSearch:
    """Edits manifests, commits them, and looks at the plan; nothing is synced."""

    def __init__(self, install: Install, seed: str) -> None:
        self.install = install
        self.rng = Random(seed)  # noqa: S311 - a sample that can be drawn again
        self.tally = Tally()

    def run(self, number: int) -> Tally:
        """Edit until ``number`` edits took effect, or the draw is used up."""
        wanted = self.install.wanted()
        live = {key: obj.body for key, obj in self.install.members().items()}
        for edits in drawn(live, self.install.manager, number, self.rng):
            if self.tally.found >= number:
                break
            bodies = dict(wanted)
            made = {}
            for edit in edits:
                body = edited(wanted[edit.id], edit, self.rng)
                if body is not None:
                    bodies[edit.id] = body
                    made[edit] = self._by_server(edit, body, live[edit.id])
            self.install.rewrite(bodies)
            plan = self.install.syncer.plan()
            for edit, (after, counts) in made.items():
                self._judge(plan, edit, after, live[edit.id], counts)
        return self.tally

    def _judge(self, plan: Plan, edit: Edit, after: Body | None, live: Body, counts: str) -> None:
        self.tally.counts[counts] += 1
        # Unfit by its schema; where somebody else holds what it lacks, a server may take it all the same.
        if any(str(edit.id) in str(finding) for finding in plan.findings):
            self.tally.counts["found"] += 1
            self.tally.counts["left out, as unfit by its schema"] += 1
        elif after is None or (edit.path[-1] == TWO_NAMES and edit.kind is Kind.REMOVE):
            judge(self.tally, plan, edit, Expected(edit.path, Reason.GIT, live, live))
        elif value_at(after, edit.path) == value_at(live, edit.path):
            self.tally.counts["the same to the server"] += 1
            if any(change.id == edit.id for change in plan.changes):
                self.tally.missed.append(f"{edit}: named, and the server sees no difference")
        else:
            path = highest_missing(_shorter(after, live, edit.path), edit.path)
            judge(self.tally, plan, edit, Expected(path, Reason.GIT, live, after))

    def _by_server(self, edit: Edit, body: Body, live: Body) -> tuple[Body | None, str]:
        """What the server would make of it under our manager, asked with another client than the agent's."""
        path = self.install.path(edit.id, body)
        labels = {**(body["metadata"].get("labels") or {}), **_own(live, "labels")}
        notes = {**(body["metadata"].get("annotations") or {}), **_own(live, "annotations")}
        sent = {**body, "metadata": {**body["metadata"], "labels": labels, "annotations": notes}}
        query = f"?dryRun=All&force=true&fieldManager={self.install.manager}"
        try:
            after: Body = self.install.cluster.api.request("PATCH", path + query, without_nulls(sent), APPLY)
        except ApiError as error:
            self.tally.refusals.append(f"{edit}: {error}")
            return None, f"refused: {error.status}"
        return after, edit.kind.value


def _own(live: Body, field_name: str) -> dict[str, str]:
    texts = live["metadata"].get(field_name) or {}
    return {key: text for key, text in texts.items() if key.startswith("trapeze.dev/")}


def _shorter(one: Body, other: Body, path: FieldPath) -> Body:
    return one if len(highest_missing(one, path)) < len(highest_missing(other, path)) else other


def _fresh(body: Body) -> Body:
    """Without what would make an update conditional or claim ownership."""
    kept = {k: v for k, v in body["metadata"].items() if k not in {"resourceVersion", "managedFields"}}
    return {**body, "metadata": kept}


@dataclass(frozen=True)
class Expected:
    """Where and why the plan is to name an edit, with the object on the server before and after it."""

    path: FieldPath
    reason: Reason
    before: Body
    after: Body

    def covers(self, path: FieldPath) -> bool:
        """Whether a path belongs to the edit: at or below it, or changed by the server with it."""
        is_below = path[: len(self.path)] == self.path
        return is_below or value_at(self.before, path) != value_at(self.after, path)


def judge(tally: Tally, plan: Plan, edit: Edit, expected: Expected) -> None:
    """Count the edit as found where the plan names exactly its path, for exactly its reason.

    What moves as one by the tables (a selector is a pointer) is named as one, also where the server merges
    its keys: such edits are counted apart too.
    """
    change = next((change for change in plan.changes if change.id == edit.id), None)
    path = expected.path
    unit = next((one for one in _units(edit.id, path) if change and _names(change, one)), path)
    trouble = _trouble(change, replace(expected, path=unit))
    if trouble:
        tally.missed.append(f"{edit}: {trouble}")
        return
    tally.counts["found"] += 1
    tally.counts["named as one with its selector"] += unit != path


def _units(key: ObjectId, path: FieldPath) -> list[FieldPath]:
    """The starts of the path that the tables treat as one."""
    rules = shipped().of(key.group_kind).rules
    starts = [path[:length] for length in range(1, len(path))]
    return [start for start in starts if rule_at(start, rules).type == "atomic"]


def _names(change: Change, path: FieldPath) -> bool:
    return any(one.path == path for one in change.fields)


def _trouble(change: Change | None, expected: Expected) -> str:
    at = expected.path
    if change is None or not any(one.path[: len(at)] == at for one in change.fields):
        return "not named"
    if not all(expected.covers(one.path) for one in change.fields):
        return f"expected {path_text(at)}, named " + "; ".join(map(str, change.fields))[:600]
    wrong = {one.reason for one in change.fields} - {expected.reason}
    return f"reasons {sorted(one.value for one in wrong)}" if wrong else ""
