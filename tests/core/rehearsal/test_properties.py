"""Random pairs of releases: kept or announced, ended with nothing left, no step waiting without need."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st

from agent.core.rehearsal.answer import Rehearsal, Verdict
from tests.core.rehearsal.small import rehearsed, script
from tests.shell.releases import CONFIG, binding, ingress, namespace, server, web

PARTS: Final = 10
TAKES: Final = frozenset({"narrow", "delete", "generation"})
"""What takes something away, and the generation that comes into service."""

RULES: Final = ("", "{}", "{ports: [{port: 8080}]}", "{ports: [{port: 443}]}")
SELECTORS: Final = ("{}", "{matchLabels: {app: blue}}")

Release = tuple[str, ...]


def policy(name: str, rule: str, selector: str) -> str:
    """A NetworkPolicy that lets in by one rule, or nobody."""
    return f"""\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{name: {name}, namespace: front}}
spec: {{podSelector: {selector}, policyTypes: [Ingress], ingress: [{rule}]}}
"""


@st.composite
def releases(draw: st.DrawFn) -> Release:
    """Up to two applications, a pointer to one of them, rights of the other, a configuration, policies."""
    apps = draw(st.lists(st.sampled_from(["blue", "green"]), min_size=1, unique=True))
    made = [namespace("front"), *(web(name, replicas=draw(st.integers(1, 2))) for name in sorted(apps))]
    if draw(st.booleans()):
        made.append(ingress(f"front/{draw(st.sampled_from(sorted(apps)))}"))
    where = draw(st.sampled_from(["", "old", "new"]))
    if where:
        made += [namespace(where), server(where, replicas=1), binding(where)]
    if draw(st.booleans()):
        made.append(CONFIG % draw(st.sampled_from(["red", "grey"])))
    for name in draw(st.lists(st.sampled_from(["a", "b"]), unique=True)):
        made.append(policy(name, draw(st.sampled_from(RULES)), draw(st.sampled_from(SELECTORS))))
    return tuple(made)


def check(before: Release, after: Release) -> None:
    """Kept in every explored scene and ended with nothing left, or announced before the first write."""
    answer = rehearsed(replace(script(before, after, disturbs=False), budget=40))
    assert answer.stories == ()
    assert answer.left_behind == ()
    if answer.is_exhaustive:
        assert answer.verdict in (Verdict.KEPT, Verdict.ANNOUNCED) or asks_about_networks(answer)
    for wait in answer.waits:
        for step, reasons in wait.steps:
            if "NetworkPolicy" in " ".join((step, *reasons)):
                continue  # policies wait for each other, or for a person who wants that what serves is shut
            assert waits_rightly(step, wait.workloads, after), (step, reasons)


def asks_about_networks(answer: Rehearsal) -> bool:
    """Whether all that stands still waits for a person to want a policy, of pods that came on the way.

    The first plan does not see these pods yet: here it is the rehearsal that announces it.
    """
    return bool(answer.deadlocks) and all(
        dead.needs_a_person and any("NetworkPolicy" in step for step, _ in dead.steps)
        for dead in answer.deadlocks
    )


def waits_rightly(step: str, workloads: tuple[str, ...], release: Release) -> bool:
    """Whether the promise needs this wait for the workloads: nothing new waits, but a pointer to their pods.

    What is taken away waits for all that is new: until then a revert finds the old generation whole.
    """
    verb, _, key = step.partition(" ")
    if key.startswith("Ingress") and verb not in TAKES:
        led = {name for name in ("blue", "green") if ingress(f"front/{name}") in release}
        return any(f"Deployment front/{name}" in workloads for name in led)
    if verb == "cutover" and key.startswith("NetworkPolicy"):
        # What a selector guards is let go only when what it guards next is there.
        return any(workload.startswith("Deployment front/") for workload in workloads)
    return verb in TAKES


def check_many(part: int, examples: int) -> None:
    """``examples`` pairs, others in each part."""

    @seed(part)
    @settings(max_examples=examples, deadline=None, database=None, phases=[Phase.generate])
    @given(releases(), releases())
    def holds(before: Release, after: Release) -> None:
        check(before, after)

    holds()


@pytest.mark.parametrize("part", range(PARTS))
def test_every_pair_is_kept_or_announced_and_ends(part: int) -> None:
    check_many(part, 30)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("part", range(PARTS))
def test_ten_thousand_pairs_are_kept_or_announced_and_end(part: int) -> None:
    check_many(PARTS + part, 1_000)
