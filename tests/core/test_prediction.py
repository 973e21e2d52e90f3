"""What was foretold beside what was recorded: fewer endpoints differ, more do not."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.prediction import Prediction, differences, prediction_of
from agent.core.promise import Broken, PathRecord, Verdict

ANSWER: dict[str, Any] = {
    "format": "trapeze.dev/rehearsal/v1",
    "base": "v1",
    "head": "v2",
    "order": "gated",
    "verdict": "announced",
    "paths": [
        {"path": "Service a/web", "lowest": [None, 2, 1], "givenUp": False},
        {"path": "Service a/old", "lowest": [2, 0], "givenUp": True},
        {"path": "APIService v1.x", "lowest": [None, None], "givenUp": False},
    ],
}
FORETOLD = Prediction("v1", "v2", "gated", is_kept=True, lowest={"Service a/web": 1, "APIService v1.x": None})


def recorded(*broken: Broken, **lowest: int | None) -> Verdict:
    names = {"web": "Service a/web", "api": "APIService v1.x", "other": "Service b/other"}
    paths = (PathRecord(names[name], count, 2, 7, "") for name, count in lowest.items())
    return Verdict(9, len(broken), tuple(paths), broken)


def told(verdict: Verdict, foretold: Prediction = FORETOLD) -> list[str]:
    return [f"{one.path}: {one.says}" for one in differences(verdict, foretold)]


def test_the_lowest_of_all_steps_is_foretold_for_paths_that_stay() -> None:
    assert prediction_of(ANSWER) == FORETOLD
    assert not prediction_of({**ANSWER, "verdict": "broken"}).is_kept


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({}, "no rehearsal of format"),
        ({**ANSWER, "format": "trapeze.dev/plan/v1"}, "no rehearsal of format"),
        ({"format": ANSWER["format"], "paths": []}, "base: field required"),
        ({**ANSWER, "paths": [{"path": "x"}]}, "paths.0.lowest: field required"),
        ({**ANSWER, "paths": 3}, "paths: input should be a valid list"),
        ({**ANSWER, "paths": [{"path": "x", "lowest": ["few"], "givenUp": False}]}, "paths.0.lowest.0"),
        ({**ANSWER, "verdict": "fine"}, "verdict: input should be 'kept'"),
    ],
)
def test_what_is_no_rehearsal_is_refused_with_what_it_lacks(answer: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        prediction_of(answer)


def test_more_endpoints_than_foretold_are_no_difference_fewer_are() -> None:
    assert told(recorded(web=1, api=None)) == []
    assert told(recorded(web=2, api=None, other=0)) == []
    assert told(recorded(web=0, api=None)) == ["Service a/web: at least 1 foretold, 0 recorded"]
    assert told(recorded(web=1, api=2)) == [
        "APIService v1.x: foretold: no endpoints needed; recorded: endpoints needed"
    ]
    assert told(recorded(web=None, api=None)) == [
        "Service a/web: foretold: endpoints needed; recorded: no endpoints needed"
    ]
    assert told(recorded(web=1)) == ["APIService v1.x: foretold, and never seen to work"]


def test_a_break_that_was_not_foretold_is_a_difference_and_so_is_one_that_did_not_come() -> None:
    broken = Broken("serving path", "Service b/other", "none ready", 7, "", 2)
    assert told(recorded(broken, web=1, api=None, other=0)) == [
        ": foretold as kept, and 1 recorded states are broken",
        "Service b/other: dropped, and the rehearsal does not know it",
    ]
    naive = Prediction("v1", "v2", "naive", is_kept=False, lowest={})
    assert told(recorded(broken, web=1, api=None), naive) == []
    assert told(recorded(web=1, api=None), naive) == [": foretold as broken, and no recorded state is"]
