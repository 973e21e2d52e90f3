"""The order of steps as people read it: neighbours that are alike become one row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from agent.core.few import few
from agent.core.render.words import counted, printable, sentences
from agent.core.steps import Gate, GateState, Plan, Step, Verb

_BY_OBJECT: Final = (Verb.CREATE, Verb.UPDATE, Verb.DELETE)
"""Verbs whose steps are told by their objects; the others are told by what each of them moves."""
_BY_WORDS: Final = (Verb.WIDEN, Verb.NARROW)
"""Verbs that often do the same to several objects: told once, with the names."""
_SHOWN: Final = 3
_POSSIBLE: Final = ("served", "housed", "complete")
"""Gates that say only that a step is possible at all: told where they hold it."""
_IN_SERVICE_NAME: Final = "in-service"
_IN_SERVICE: Final = "the new generation is in service"


@dataclass(frozen=True, slots=True)
class Row:
    """One or more neighbouring steps of one verb behind like gates; ``first`` counts steps from 1.

    ``gates`` are those of each step, with the gates of the whole handoff as one.
    """

    first: int
    steps: tuple[Step, ...]
    gates: tuple[tuple[Gate, ...], ...]

    @property
    def head(self) -> Step:
        """The step that stands for all."""
        return self.steps[0]

    @property
    def number(self) -> str:
        """``4``, or ``4-15`` for several steps."""
        last = self.first + len(self.steps) - 1
        return str(self.first) if last == self.first else f"{self.first}-{last}"

    @property
    def subject(self) -> str:
        """``Deployment apps/web`` of one step, ``12 objects in apps``, or the names of a few."""
        if len(self.steps) == 1:
            return printable(str(self.head.id))
        if self.head.verb not in _BY_OBJECT:
            return _names([printable(str(step.id)) for step in self.steps])
        namespaces = {step.id.namespace for step in self.steps}
        where = namespaces.pop() if len(namespaces) == 1 else ""
        return counted(len(self.steps), "object") + (f" in {printable(where)}" if where else "")

    @property
    def says(self) -> str:
        """What the plan says of the step; where several are told by count, how many of each kind."""
        if len(self.steps) == 1 or self.head.verb not in _BY_OBJECT:
            return printable(self.head.says)
        kinds = Counter(str(step.id).removesuffix(f" {step.id.path}") for step in self.steps)
        return printable(", ".join(kind if n == 1 else f"{n} {kind}" for kind, n in kinds.items()))

    @property
    def opens(self) -> str:
        """What opens the row; ``at once`` where no gate stands before it."""
        return printable(sentences(gate.wants for gate in self.gates[0]) or "at once")

    @property
    def seen(self) -> str:
        """What was seen at the gates: of a row that waits at those that hold it, and how much more."""
        is_open = self.head.is_open
        shown = [gate for gates in self.gates for gate in gates if gate.is_open is is_open]
        told = [reason_of(gate) for gate in shown]
        reasons = list(dict.fromkeys(filter(None, told)))
        more = f"; and {len(reasons) - _SHOWN} more" if len(reasons) > _SHOWN else ""
        return printable(sentences(reasons[:_SHOWN]) + more)

    @property
    def first_reason(self) -> str:
        """What holds the row before all else, in few words: for a line that is one of many."""
        firsts = (next((gate for gate in gates if not gate.is_open), None) for gates in self.gates)
        reasons = list(dict.fromkeys(reason_of(gate) for gate in firsts if gate is not None))
        more = f"; {len(reasons) - 1} more wait for other things" if len(reasons) > 1 else ""
        return printable(reasons[0] + more) if reasons else ""


def reason_of(gate: Gate) -> str:
    """What was seen at the gate; empty where an open gate only says again what it wants."""
    return "" if gate.is_open and gate.reason == gate.wants else gate.reason or gate.wants


def rows(plan: Plan) -> tuple[Row, ...]:
    """The steps of ``plan`` in their order, neighbours that are alike together.

    Alike means: the same verb and category, behind gates that want the same, all open or all held; a
    step that moves something is a row of its own, and one that widens or narrows unless it says the same.
    """
    found: list[Row] = []
    for number, step in enumerate(plan.steps, start=1):
        gates = tuple(_condensed(step.gates, plan.handover))
        if found and _is_alike(found[-1], step, gates):
            found[-1] = _with(found[-1], step, gates)
        else:
            found.append(Row(number, (step,), (gates,)))
    return tuple(found)


def rows_written(plan: Plan, written: Iterable[Step]) -> tuple[Row, ...]:
    """What was written in one go, by what was done: all objects that a verb made or took are one row."""
    found: dict[tuple[Verb, str], Row] = {}
    for number, step in enumerate(written, start=1):
        gates = tuple(_condensed(step.gates, plan.handover))
        key = (
            step.verb,
            "" if step.verb in _BY_OBJECT else step.says if step.verb in _BY_WORDS else step.key,
        )
        found[key] = _with(found[key], step, gates) if key in found else Row(number, (step,), (gates,))
    return tuple(found.values())


def _names(names: Sequence[str]) -> str:
    if len(names) > _SHOWN:
        return few(names, _SHOWN)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def waits_for_service(row: Row) -> bool:
    """Whether the row waits (also) until the new generation is in service."""
    return any(gate.name == _IN_SERVICE_NAME and not gate.is_open for gate in row.gates[0])


def _with(row: Row, step: Step, gates: tuple[Gate, ...]) -> Row:
    return Row(row.first, (*row.steps, step), (*row.gates, gates))


def _is_alike(row: Row, step: Step, gates: Sequence[Gate]) -> bool:
    head = row.head
    return (
        head.verb is step.verb
        and (head.verb in _BY_OBJECT or (head.verb in _BY_WORDS and head.says == step.says))
        and head.category is step.category
        and head.is_open is step.is_open
        and [gate.wants for gate in row.gates[0]] == [gate.wants for gate in gates]
    )


def _condensed(gates: Sequence[Gate], handover: Sequence[Gate]) -> Iterator[Gate]:
    """``gates`` with those of the whole handoff, which are listed once for the plan, as one."""
    waits = bool(handover) and all(gate in gates for gate in handover)
    if waits:
        closed = [gate for gate in handover if not gate.is_open]
        state = GateState.HELD if closed else GateState.OPEN
        reason = "the new generation is not in service yet" if closed else _IN_SERVICE
        yield Gate(_IN_SERVICE_NAME, _IN_SERVICE, state, reason)
    for gate in gates:
        is_told = waits and gate in handover
        if not is_told and not (gate.is_open and gate.name in _POSSIBLE):
            yield gate
