"""Plans, status and progress on a terminal, at two widths, and what hostile text can do there: nothing."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

import pytest
from rich.cells import cell_len

from agent.core.intents import Outcome
from agent.core.ledger import Generation, GenerationState, Hold, Ledger
from agent.core.model import Action, Category, FieldChange, Form, ObjectId
from agent.core.render import (
    Progress,
    event_line,
    printed,
    status,
    steps_left,
    text,
)
from agent.core.render.words import GATE_SIGNS, PAST, SIGNS, clock, counted, printable, revision_text, span
from agent.core.steps import Change, Gate, GateState, Plan, Step, Verb
from tests.core.golden import golden
from tests.core.plans import CREATED, HOSTILE, KEY, NEW, OLD, PRUNED, SECRET, handoff, hostile

AT = 36252.0
"""10:04:12 UTC."""
SGR = re.compile(r"\x1b\[[0-9;]*m")


def ledgers() -> tuple[Ledger, ...]:
    states = GenerationState
    handing_off = Ledger(
        "calico",
        (
            Generation(6, OLD, states.RETIRING, AT - 60),
            Generation(7, NEW, states.ROLLING_OUT, AT - 60),
        ),
        holds={
            "cutover APIService v3.projectcalico.org": Hold(
                AT - 18, "0 of 2 endpoints ready; pod calico-apiserver-7d9: CrashLoopBackOff, exit 1"
            ),
            "delete Namespace tigera-system": Hold(AT - 60, "the cutover has not been made"),
        },
    )
    settled = Ledger("web", (Generation(41, "9a01f3c" + "2" * 33, states.IN_SERVICE, AT - 3 * 86400),))
    return handing_off, settled, Ledger("new")


@pytest.mark.parametrize("width", [80, 120])
def test_plan_reads_as_the_golden_file_at(width: int) -> None:
    shown = printed(text(handoff(), KEY, observed=True, note="compared with cluster prod-eu-1"), width)
    assert shown == golden(f"plan-{width}.txt", shown)
    assert max(map(cell_len, shown.splitlines())) <= width


@pytest.mark.parametrize("width", [80, 120])
def test_status_reads_as_the_golden_file_at(width: int) -> None:
    shown = printed(status(ledgers(), AT), width)
    assert shown == golden(f"status-{width}.txt", shown)
    assert max(map(cell_len, shown.splitlines())) <= width


def test_sync_progress_reads_as_the_golden_file() -> None:
    plan, progress = handoff(), Progress()
    refused = "403: may not bind ClusterRole calico-crds"
    done = [Outcome(step, None, error=refused if step.verb is Verb.WIDEN else "") for step in plan.open_steps]
    lines = [
        *progress.lines(plan, done, AT),
        *progress.lines(plan, [], AT + 1),
        *progress.lines(replace(plan, steps=plan.steps[-1:], handover=()), [], AT + 2),
        event_line(AT + 100, "✓", "generation 7 in service after 1 min 40 s"),
    ]
    shown = "".join(printed(line, 100) for line in lines)
    assert shown == golden("progress-100.txt", shown)


def test_preview_says_what_opens_a_step_and_nothing_of_what_was_seen() -> None:
    shown = printed(text(handoff(), KEY, observed=False), 200)
    assert "when 2 of 2 endpoints of generation 7 are ready" in shown
    assert "held" not in shown
    assert "0 of 2" not in shown


def test_every_verb_and_gate_state_has_its_words() -> None:
    assert set(SIGNS) == set(PAST) == set(Verb)
    assert set(GATE_SIGNS) == set(GateState)


def test_steps_that_are_alike_are_one_row_and_no_step_is_lost() -> None:
    shown = printed(text(handoff(), KEY, observed=True), 120)
    assert "1-3 + create 3 objects in calico-system: ServiceAccount, Service, Deployment" in shown
    assert "9-13 − delete 5 objects:" in shown  # noqa: RUF001 - the sign that is printed
    for changed in (*CREATED, *PRUNED):
        assert str(changed) in shown, "what a row sums up stands by name in the difference"


def test_secret_values_are_masked_and_equal_stays_equal() -> None:
    plan = handoff()
    shown = printed(text(plan, KEY, observed=True), 120)
    for value in ("b2xkIGtleQ==", "bmV3IGtleQ=="):
        assert value not in shown
    same = FieldChange(("data", "a"), "b2xkIGtleQ==", "bmV3IGtleQ==")
    two = replace(same, path=("data", "b"))
    change = Change(SECRET, Action.UPDATE, Category.ADDITIVE, "", (same, two))
    lines = printed(text(replace(plan, changes=(change,)), KEY, observed=True), 120).splitlines()
    before = [line for line in lines if line.startswith("-   ")]
    after = [line for line in lines if line.startswith("+   ")]
    assert len(before) == len(after) == 2
    assert len(set(before)) == len(set(after)) == 1
    assert before[0][1:] != after[0][1:]


@pytest.mark.parametrize("colour", [False, True])
def test_hostile_text_neither_steers_nor_styles_the_terminal(*, colour: bool) -> None:
    done = [Outcome(hostile().steps[0], None), Outcome(hostile().steps[0], None, error=HOSTILE)]
    shown = printed(text(hostile(), KEY, observed=True), 80, colour=colour)
    shown += "".join(printed(line, 80, colour=colour) for line in Progress().lines(hostile(), done, AT))
    ledger = Ledger(
        HOSTILE, (Generation(1, HOSTILE, GenerationState.IN_SERVICE, AT),), {}, {HOSTILE: Hold(0, HOSTILE)}
    )
    shown += printed(status([ledger], AT), 80, colour=colour)
    plain = SGR.sub("", shown)
    assert ("\x1b" in shown) is colour
    assert {char for char in plain if unicodedata.category(char) in ("Cc", "Cf")} == {"\n"}
    assert "[red]" in plain, "markup of the library that prints is text here"


def test_printable_writes_out_whatever_hides() -> None:
    assert (
        printable("a\nb\x1b[2J\u202e\u200b\u2028\ud800\ue000") == r"a\nb\x1b[2J\u202e\u200b\u2028\ud800\ue000"
    )
    assert printable("größe 名前 ✓") == "größe 名前 ✓"


def test_nothing_to_do_says_so() -> None:
    plan = Plan("web", NEW, NEW, 7, (), (), unchanged=12)
    shown = printed(text(plan, KEY, observed=True), 80)
    assert shown == "web  72eddd2 → 72eddd2  generation 7   nothing to do\n12 unchanged\n"


def test_long_values_and_differences_are_cut_with_a_count() -> None:
    field = FieldChange(("data", "blob"), "x" * 5000, [{"n": n} for n in range(500)])
    thing = ObjectId("", "ConfigMap", "apps", "big")
    plan = Plan("web", NEW, OLD, 2, (Change(thing, Action.UPDATE, Category.ADDITIVE, "", (field,)),), (), 0)
    shown = printed(text(plan, KEY, observed=True), 120)
    assert "(4,840 more characters)" in shown
    assert "… 382 more lines" in shown
    assert len(shown) < 10_000


def test_what_only_a_person_can_open_is_said_first() -> None:
    namespace = ObjectId("", "Namespace", "", "old")
    way_out = "needs approval: prune: {allow: [Namespace old]}"
    gate = Gate("approved", "a person has allowed it", GateState.HELD, way_out)
    step = Step(namespace, Verb.DELETE, Category.PRUNE, Form.FINAL, "no longer wanted", (gate,))
    change = Change(namespace, Action.DELETE, Category.PRUNE, "no longer wanted")
    shown = printed(text(Plan("web", NEW, OLD, 2, (change,), (step,), 0), KEY, observed=True), 100)
    assert "1 change in 1 step, and a person must act" in shown
    assert way_out in shown


def test_steps_left_counts_those_that_are_held() -> None:
    thing = ObjectId("", "ConfigMap", "apps", "a")
    step = Step(thing, Verb.CREATE, Category.ADDITIVE, Form.FINAL, "new")
    assert steps_left(Plan("web", NEW, OLD, 2, (), (step,), 0)) == "1 step left"
    assert steps_left(handoff()) == "14 steps left, 8 of them held"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.4, "0 s"),
        (18, "18 s"),
        (100, "1 min 40 s"),
        (3600, "1 h"),
        (11100, "3 h 5 min"),
        (3 * 86400, "3 d"),
    ],
)
def test_spans(seconds: float, said: str) -> None:
    assert span(seconds) == said


def test_a_plan_without_its_difference_ends_with_the_order() -> None:
    shown = printed(text(handoff(), KEY, observed=True, whole=False), 80)
    assert "object by object" not in shown
    assert "In service when" in shown


def test_what_waits_as_before_is_not_said_again() -> None:
    progress = Progress()
    assert len(list(progress.lines(handoff(), [], AT))) == 2
    assert list(progress.lines(handoff(), [], AT)) == []


def test_small_words() -> None:
    assert clock(86400 + AT) == "10:04:12"
    assert counted(1, "entry", "entries") == "1 entry"
    assert counted(1204, "entry", "entries") == "1,204 entries"
    assert revision_text("v1.2") == "v1.2"
    assert revision_text(NEW) == "72eddd2"
