"""A rehearsal for a terminal, in Markdown and as JSON: the verdict first, then what it stands on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import starmap
from typing import Final

from agent.core.model import Body
from agent.core.prediction import REHEARSAL_FORMAT
from agent.core.rehearsal.answer import BEFORE, Rehearsal, Row, Story, Verdict, Wait
from agent.core.rehearsal.rollback import Rollback
from agent.core.render.escape import code, prose
from agent.core.render.words import counted, printable, revision_text, shortened

_SHOWN: Final = 12
"""Moves of a story, steps of a wait and assumptions that are shown."""
_WORDS: Final = 300
AS_ABOVE: Final = "as above"

_VERDICTS: Final = {
    Verdict.KEPT: "the promise is kept",
    Verdict.ANNOUNCED: "but for what is announced, the promise is kept",
    Verdict.STUCK: "the promise is kept, and the upgrade comes to no end by itself",
    Verdict.BROKEN: "the promise is broken",
}


def rehearsal_headline(rehearsal: Rehearsal) -> str:
    """``the promise is kept in all 312 scenes``; a budget that ran out is named as such."""
    scenes = counted(rehearsal.reach.scenes, "scene")
    if rehearsal.verdict is Verdict.BROKEN:
        return f"{_VERDICTS[rehearsal.verdict]}; {scenes} were looked at"
    how_far = f"in all {scenes}" if rehearsal.is_exhaustive else f"in {scenes} that were looked at"
    return f"{_VERDICTS[rehearsal.verdict]} {how_far}"


def rehearsal_lines(rehearsal: Rehearsal) -> Iterator[str]:
    """The answer as plain lines, each of them safe for a terminal."""
    base = revision_text(rehearsal.base) or "nothing"
    order = "" if rehearsal.order == "gated" else f", in the order of {rehearsal.order}"
    head = revision_text(rehearsal.head)
    yield f"Rehearsal of set {printable(rehearsal.set_name)}: {base} to {head}{order}"
    yield rehearsal_headline(rehearsal)
    yield from _far(rehearsal)
    yield from _titled("Announced", (printable(line) for line in rehearsal.announced))
    for story in rehearsal.stories:
        yield ""
        yield from _story(story, "Broken")
    yield from _paths(rehearsal)
    for wait in rehearsal.waits:
        yield ""
        yield f"While {printable(', '.join(wait.workloads))} {_verb(wait)} not ready, these wait:"
        yield from _steps(wait)
    for wait in rehearsal.deadlocks:
        yield ""
        yield _ending(wait)
        yield from (f"  {printable(line)}" for line in wait.because)
        yield from _steps(wait)
        yield f"  way out: {wait.way_out}"
    losses = [
        f"{printable(one.subject)}, {printable(one.says)}; after {one.step}" for one in rehearsal.losses
    ]
    yield from _titled("Lost where pods of the new release fail after they were ready", losses)
    yield from _titled("Left behind", (printable(line) for line in rehearsal.left_behind))
    yield from _titled("The way back, by a revert in Git", starmap(_back_line, _back(rehearsal.rollbacks)))
    yield from _titled("Assumed", (printable(line) for line in rehearsal.assumed))
    yield from _titled("Not in the model", (printable(line) for line in rehearsal.missing))


def _far(rehearsal: Rehearsal) -> Iterator[str]:
    reach = rehearsal.reach
    yield (
        f"{counted(reach.scenes, 'scene')} (at least {reach.apart:,} with each request on its own), "
        f"{counted(reach.writes, 'write')} judged, "
        f"{counted(reach.faults, 'failure and crash', 'failures and crashes')}, "
        f"{counted(reach.changes, 'change')} of Git in between"
    )
    if not rehearsal.is_exhaustive:
        walks = counted(reach.walks, "random history", "random histories")
        left = counted(reach.left, "scene")
        yield f"not all: {left} not followed, {walks} from there; what was not looked at is not known"


def _story(story: Story, title: str) -> Iterator[str]:
    yield f"{title}: {story.invariant}: {printable(story.subject)}: {printable(story.says)}"
    yield f"  at: {printable(story.step)}"
    left_out = len(story.moves) - _SHOWN
    if left_out > 0:
        yield f"    ({counted(left_out, 'move')} before)"
    yield from (f"    {printable(move)}" for move in story.moves[-_SHOWN:])


def _paths(rehearsal: Rehearsal) -> Iterator[str]:
    if not rehearsal.paths:
        return
    yield ""
    yield "Serving paths, fewest ready endpoints while a step was the last one written:"
    for number, step in enumerate(rehearsal.steps):
        yield f"  {number:>2}  {printable(step)}"
    yield ""
    width = max(len(path_words(row)) for row in rehearsal.paths)
    yield f"  {'':{width}}  " + " ".join(f"{number:>2}" for number in range(len(rehearsal.steps)))
    for row in rehearsal.paths:
        cells = " ".join("  " if one is None else f"{one:>2}" for one in row.lowest)
        yield f"  {path_words(row):{width}}  {cells}".rstrip()


def path_words(row: Row) -> str:
    """The path, and whether the new release gives it up."""
    return f"{printable(row.path)} (given up)" if row.is_given_up else printable(row.path)


def _ending(wait: Wait) -> str:
    if wait.needs_a_person:
        return "With everything ready, these wait for a person:"
    return "These wait for what nothing brings about:"


def _back(rollbacks: Iterable[Rollback]) -> Iterator[tuple[Rollback, str]]:
    """Each with its words; what a person is asked again and again is said once."""
    told: set[str] = set()
    for one in rollbacks:
        asks = [f"a person is asked: {_untold([one.asks], told)}"] if one.asks else []
        lost = [f"not back: {'; '.join(one.lost)}"] if one.lost else []
        yield one, "; ".join([one.says, *asks, *lost])


def _back_line(one: Rollback, words: str) -> str:
    when = one.step if one.step == BEFORE else f"after {one.step}"
    return printable(f"{'yes' if one.is_possible else 'no '}  {when}: {words}")


def _verb(wait: Wait) -> str:
    return "is" if len(wait.workloads) == 1 else "are"


def _untold(reasons: Iterable[str], told: set[str]) -> str:
    """The reasons that were not told before; ``told`` knows them from here on."""
    own = [reason for reason in reasons if reason not in told]
    words = "; ".join([*own, AS_ABOVE] if own != list(reasons) else own)
    told.update(own)
    return shortened(words, _WORDS)


def _steps(wait: Wait) -> Iterator[str]:
    told: set[str] = set()
    for step, reasons in wait.steps[:_SHOWN]:
        yield f"  {printable(step)}: {printable(_untold(reasons, told))}"
    if len(wait.steps) > _SHOWN:
        yield f"  and {counted(len(wait.steps) - _SHOWN, 'more step')}"


def _titled(title: str, lines: Iterable[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield ""
        yield f"{title}:"
        yield from (f"  {line}" for line in found[:_SHOWN])
        if len(found) > _SHOWN:
            yield f"  and {len(found) - _SHOWN} more"


def rehearsal_text(rehearsal: Rehearsal) -> str:
    """The whole answer for a terminal."""
    return "\n".join(rehearsal_lines(rehearsal)) + "\n"


def rehearsal_markdown(rehearsal: Rehearsal) -> str:
    """The answer as GitHub-flavoured Markdown; tables and lists only."""
    lines = [f"**{prose(rehearsal_headline(rehearsal))}**", ""]
    lines += [prose(line) for line in _far(rehearsal)]
    for title, told in (("Announced", rehearsal.announced), ("Assumed", rehearsal.assumed)):
        if told:
            lines += ["", f"{title}:", "", *(f"- {prose(line)}" for line in told[:_SHOWN])]
    for story in rehearsal.stories:
        lines += ["", f"**{prose(story.invariant)}**: {code(story.subject)}: {prose(story.says)}"]
        lines += ["", f"At {code(story.step)}, after:", ""]
        lines += [f"1. {prose(move)}" for move in story.moves[-_SHOWN:]]
    if rehearsal.paths:
        heads = [str(number) for number in range(len(rehearsal.steps))]
        lines += ["", *(f"{number}. {code(step)}" for number, step in enumerate(rehearsal.steps))]
        lines += ["", f"| serving path | {' | '.join(heads)} |", f"|---|{'---|' * len(heads)}"]
        for row in rehearsal.paths:
            cells = ["" if count is None else str(count) for count in row.lowest]
            given_up = " (given up)" if row.is_given_up else ""
            lines.append(f"| {code(row.path)}{given_up} | {' | '.join(cells)} |")
    if rehearsal.rollbacks:
        lines += ["", "| after | revert | |", "|---|---|---|"]
        for one, says in _back(rehearsal.rollbacks):
            lines.append(f"| {code(one.step)} | {'yes' if one.is_possible else 'no'} | {prose(says)} |")
    for wait in (*rehearsal.waits, *rehearsal.deadlocks):
        who = ", ".join(map(code, wait.workloads)) or "what nothing brings about"
        lines += ["", f"Waiting for {who}:", ""]
        before: set[str] = set()
        lines += [f"- {code(step)}: {prose(_untold(why, before))}" for step, why in wait.steps]
    return "\n".join(lines) + "\n"


def rehearsal_json(rehearsal: Rehearsal) -> Body:
    """The answer for programs (docs/rehearsal.schema.json)."""
    reach = rehearsal.reach
    return {
        "format": REHEARSAL_FORMAT,
        "set": rehearsal.set_name,
        "base": rehearsal.base,
        "head": rehearsal.head,
        "order": rehearsal.order,
        "verdict": rehearsal.verdict.value,
        "exhaustive": rehearsal.is_exhaustive,
        "reach": dict(reach._asdict()),
        "steps": list(rehearsal.steps),
        "paths": [
            {"path": row.path, "lowest": list(row.lowest), "givenUp": row.is_given_up}
            for row in rehearsal.paths
        ],
        "stories": [_story_json(story) for story in rehearsal.stories],
        "losses": [_story_json(story) for story in rehearsal.losses],
        "waits": [_wait_json(wait) for wait in rehearsal.waits],
        "deadlocks": [_wait_json(wait) for wait in rehearsal.deadlocks],
        "leftBehind": list(rehearsal.left_behind),
        "rollbacks": [_back_json(one) for one in rehearsal.rollbacks],
        "announced": list(rehearsal.announced),
        "assumed": list(rehearsal.assumed),
        "missing": list(rehearsal.missing),
    }


def _story_json(story: Story) -> Body:
    return {**story._asdict(), "moves": list(story.moves)}


def _wait_json(wait: Wait) -> Body:
    return {
        "workloads": list(wait.workloads),
        "steps": [{"step": step, "reasons": list(reasons)} for step, reasons in wait.steps],
        "needsAPerson": wait.needs_a_person,
        "because": list(wait.because),
        "wayOut": wait.way_out,
    }


def _back_json(one: Rollback) -> Body:
    return {
        "step": one.step,
        "possible": one.is_possible,
        "says": one.says,
        "asks": one.asks,
        "lost": list(one.lost),
    }
