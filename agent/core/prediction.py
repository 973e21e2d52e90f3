"""What a rehearsal foretold of each serving path, beside what a recording shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent.core.model import Body
from agent.core.promise import PathRecord, Verdict
from agent.core.stored_shapes import where

REHEARSAL_FORMAT: Final = "trapeze.dev/rehearsal/v1"


class _Path(BaseModel):
    model_config = ConfigDict(strict=True)
    path: str
    lowest: list[int | None]
    is_given_up: bool = Field(alias="givenUp")


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True)
    base: str
    head: str
    order: str
    verdict: Literal["kept", "announced", "stuck", "broken"]
    paths: list[_Path]


@dataclass(frozen=True)
class Prediction:
    """What was foretold of one upgrade.

    ``lowest``: by path, the fewest ready endpoints of any step; None where the path needs none. Paths that
    the new release gives up are not in it. ``is_kept``: no explored state broke the promise.
    """

    base: str
    head: str
    order: str
    is_kept: bool
    lowest: Mapping[str, int | None]


class Difference(NamedTuple):
    """Where the recording shows something else than was foretold; ``path`` is empty for the whole."""

    path: str
    says: str


def prediction_of(answer: Body) -> Prediction:
    """The prediction in what ``trapeze rehearse --output json`` prints.

    Raises ValueError where ``answer`` is not of that shape, or of another format.
    """
    if answer.get("format") != REHEARSAL_FORMAT:
        raise ValueError(f"no rehearsal of format {REHEARSAL_FORMAT}: {str(answer.get('format'))[:60]!r}")
    try:
        told = _Answer.model_validate(answer)
    except ValidationError as error:
        raise ValueError(f"a damaged rehearsal: {where(error)}") from error
    lowest = {path.path: _lowest(path.lowest) for path in told.paths if not path.is_given_up}
    return Prediction(told.base, told.head, told.order, told.verdict != "broken", lowest)


def _lowest(steps: list[int | None]) -> int | None:
    return min((count for count in steps if count is not None), default=None)


def differences(verdict: Verdict, prediction: Prediction) -> tuple[Difference, ...]:
    """Where the recorded upgrade went otherwise than the rehearsal said.

    A rehearsal tells the worst that may happen: more endpoints than foretold are no difference, fewer are.
    A path that it does not know stands outside of the releases, and is foretold to be left alone.
    """
    return (*_of_whole(verdict, prediction), *_of_paths(verdict, prediction))


def _of_whole(verdict: Verdict, prediction: Prediction) -> Iterator[Difference]:
    if prediction.is_kept and verdict.broken:
        yield Difference("", f"foretold as kept, and {verdict.broken_states} recorded states are broken")
    if not prediction.is_kept and not verdict.broken:
        yield Difference("", "foretold as broken, and no recorded state is")


def _of_paths(verdict: Verdict, prediction: Prediction) -> Iterator[Difference]:
    dropped = {broken.subject for broken in verdict.broken}
    recorded = {path.name: path for path in verdict.paths}
    for name, path in sorted(recorded.items()):
        if name in prediction.lowest:
            yield from _of_path(path, prediction.lowest[name])
        elif name in dropped and prediction.is_kept:
            yield Difference(name, "dropped, and the rehearsal does not know it")
    for name in sorted(prediction.lowest.keys() - recorded.keys()):
        yield Difference(name, "foretold, and never seen to work")


def _of_path(path: PathRecord, foretold: int | None) -> Iterator[Difference]:
    if foretold is None or path.lowest is None:
        if foretold is not path.lowest:
            kinds = ("no endpoints needed", "endpoints needed")
            said, seen = kinds if foretold is None else reversed(kinds)
            yield Difference(path.name, f"foretold: {said}; recorded: {seen}")
    elif path.lowest < foretold:
        yield Difference(path.name, f"at least {foretold} foretold, {path.lowest} recorded")
