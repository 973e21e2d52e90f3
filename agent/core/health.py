"""Whether an object is ready, by the table ``policies/readiness.yaml`` and the user's rows over it.

``health`` judges the value given and asks nobody. The statuses are kstatus' words; a check that cannot be
evaluated makes the object Unknown, and Unknown holds. What a status does not say (old pods that still
terminate, endpoints behind a Service) is not decided here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Final, Literal

import cel
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from agent.core.model import Body, GroupKind, LiveObject
from agent.core.paths import parse_pattern
from agent.core.tables import place_of
from agent.errors import ConfigError

TABLE: Final = "readiness"
EVERY: Final = "*"
OTHERS: Final = "others"

_BOUND: Final = re.compile(r"\.(?:all|exists|exists_one|filter|map)\(\s*(\w+)\s*,")
_FAILURES: Final = (KeyError, TypeError, ValueError, RuntimeError)
_PLACE: Final = re.compile(r"\{(\w+)\}")


class Status(Enum):
    """kstatus' words; only CURRENT is ready."""

    CURRENT = "Current"
    IN_PROGRESS = "InProgress"
    FAILED = "Failed"
    TERMINATING = "Terminating"
    UNKNOWN = "Unknown"


@dataclass(frozen=True, slots=True)
class Health:
    """What an object's own fields say, with numbers: ``InProgress``, "1 of 2 replicas updated"."""

    status: Status
    message: str

    @property
    def is_ready(self) -> bool:
        """Whether the object does what it is there for, as far as its status tells."""
        return self.status is Status.CURRENT


def _plain_path(text: str) -> str:
    if not all(isinstance(part, str) for part in parse_pattern(text)):
        raise ValueError("a value is one field; lists are for cel")
    return text


def _many(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ValueRow(_Strict):
    """One named value: exactly one of ``path``, ``condition`` (its ``field``) and ``cel``."""

    path: Annotated[str, AfterValidator(_plain_path)] = ""
    condition: str = ""
    field: str = "status"
    cel: str = ""
    default: Any = ""


class CheckRow(_Strict):
    """When this CEL over the values is true, the object has this status."""

    when: str
    status: Literal["Current", "InProgress", "Failed", "Terminating"]
    message: str


KindName = Annotated[str, Field(pattern=r"^(\*|others|[A-Z][A-Za-z0-9]*(\.[a-z0-9.-]+)?)$")]


class ReadinessRow(_Strict):
    """How objects of these kinds (``Kind``, ``Kind.group``, ``*`` or ``others``) are judged."""

    kind: Annotated[tuple[KindName, ...], BeforeValidator(_many, json_schema_input_type=str | list[str])]
    observes: bool = False
    answers: bool = False
    values: Mapping[str, ValueRow] = {}
    checks: tuple[CheckRow, ...] = ()
    ready: str = "ready"


class ReadinessTable(_Strict):
    """The table as a file holds it."""

    readiness: tuple[ReadinessRow, ...]


class HealthRules:
    """The merged rows, compiled; build it with ``HealthRules.parse``."""

    def __init__(self, rows: Mapping[str, _Row]) -> None:
        self._rows = rows
        self._known: dict[int, tuple[Body, Health]] | None = None
        self._every = rows.get(EVERY, _NO_ROW)
        self._others = rows.get(OTHERS, _NO_ROW)

    @staticmethod
    def parse(sources: Iterable[tuple[str, Any]]) -> HealthRules:
        """The rows of ``sources`` (name of the file, its parsed content), later ones over earlier ones.

        Files without a readiness table are passed over. Raises ConfigError that names file, row (from 1),
        field, value and what is allowed, also for CEL that does not compile and for names that no value has.
        """
        rows: dict[str, _Row] = {}
        for name, content in sources:
            if not isinstance(content, Mapping) or TABLE not in content:
                continue
            try:
                table = ReadinessTable.model_validate({TABLE: content[TABLE]})
            except ValidationError as error:
                raise ConfigError(f"{name}: " + "; ".join(map(_in_words, error.errors()))) from None
            for number, row in enumerate(table.readiness, 1):
                compiled = _compiled(row, f"{name}: {TABLE} row {number}")
                rows.update(dict.fromkeys(row.kind, compiled))
        return HealthRules(rows)

    def remembering(self) -> HealthRules:
        """The same rules that judge each body once: for a caller who keeps bodies and never changes one."""
        other = HealthRules(self._rows)
        other._known = {}
        return other

    def gates_requests(self, kind: GroupKind) -> bool:
        """Whether the API server itself refuses requests unless objects of this kind are Current."""
        return self._of(kind).answers

    def judge(self, obj: LiveObject) -> Health:
        """The row of every kind first, then the row of this one."""
        if self._known is None:
            return self._judged(obj)
        found = self._known.get(id(obj.body))
        if found is None:
            # The body is kept with its verdict: its address is its name here.
            found = self._known[id(obj.body)] = (obj.body, self._judged(obj))
        return found[1]

    def _judged(self, obj: LiveObject) -> Health:
        row = self._of(obj.id.group_kind)
        try:
            general = self._every.first(obj.body, observes=row.observes)
            return general or row.first(obj.body, observes=row.observes) or row.ready(obj.body)
        except _RowError as error:
            return Health(Status.UNKNOWN, str(error))

    def _of(self, kind: GroupKind) -> _Row:
        return self._rows.get(str(kind), self._others)


def health(obj: LiveObject, rules: HealthRules) -> Health:
    """What ``obj`` says of itself, judged by ``rules``."""
    return rules.judge(obj)


class _RowError(Exception):
    """A value or check of a row could not be evaluated on this object."""


@dataclass(frozen=True)
class _Row:
    where: str
    observes: bool
    answers: bool
    values: tuple[tuple[str, Callable[[dict[str, Any]], Any]], ...]
    checks: tuple[tuple[cel.Program, Status, str], ...]
    ready_text: str

    def first(self, body: Body, *, observes: bool) -> Health | None:
        """The first check that is true of this object."""
        values = self._read(body, observes=observes)
        for number, (program, status, message) in enumerate(self.checks, 1):
            said = self._run(program.execute, values, f"check {number}")
            if not isinstance(said, bool):
                raise _RowError(f"{self.where}, check {number}: {said!r} is neither true nor false")
            if said:
                return Health(status, _filled(message, values))
        return None

    def ready(self, body: Body) -> Health:
        """What a Current object is said to be."""
        return Health(Status.CURRENT, _filled(self.ready_text, self._read(body, observes=self.observes)))

    def _read(self, body: Body, *, observes: bool) -> dict[str, Any]:
        values: dict[str, Any] = {"object": body, "observes": observes}
        for name, read in self.values:
            values[name] = self._run(read, values, f"value {name}")
        return values

    def _run(self, call: Callable[[dict[str, Any]], Any], values: dict[str, Any], what: str) -> Any:
        try:
            return call(values)
        except _FAILURES as error:
            raise _RowError(f"{self.where}, {what}: {error}") from error


_NO_ROW: Final = _Row("", observes=False, answers=False, values=(), checks=(), ready_text="ready")


def _compiled(row: ReadinessRow, where: str) -> _Row:
    known = {"object", "observes"}
    values = []
    for name, value in row.values.items():
        values.append((name, _reader(value, f"{where}, value {name}", known)))
        known.add(name)
    checks = []
    for number, check in enumerate(row.checks, 1):
        place = f"{where}, check {number}"
        checks.append((_program(check.when, f"{place}, when", known), Status(check.status), check.message))
        _check_places(check.message, f"{place}, message", known)
    _check_places(row.ready, f"{where}, ready", known)
    return _Row(where, row.observes, row.answers, tuple(values), tuple(checks), row.ready)


def _reader(value: ValueRow, where: str, known: set[str]) -> Callable[[dict[str, Any]], Any]:
    given = [name for name in ("path", "condition", "cel") if getattr(value, name)]
    if len(given) != 1:
        raise ConfigError(f"{where}: {given or 'nothing'} given; allowed: one of path, condition, cel")
    if value.cel:
        return _program(value.cel, f"{where}, cel", known).execute
    if value.condition:
        return lambda values: _condition(values["object"], value)
    keys = tuple(str(part) for part in parse_pattern(value.path))
    return lambda values: _field(values["object"], keys, value.default)


def _field(body: Any, keys: tuple[str, ...], default: Any) -> Any:
    for key in keys:
        body = body.get(key) if isinstance(body, Mapping) else None
    return default if body is None else body


def _condition(body: Body, value: ValueRow) -> Any:
    for condition in _field(body, ("status", "conditions"), ()):
        if condition.get("type") == value.condition:
            return condition.get(value.field, value.default)
    return value.default


def _program(text: str, where: str, known: set[str]) -> cel.Program:
    try:
        program = cel.compile(text)
    except ValueError as error:
        raise ConfigError(f"{where}: {text!r}: {error}") from None
    # The library counts the variables that a macro binds among those that the expression needs.
    unknown = sorted(set(program.variables()) - known - set(_BOUND.findall(text)))
    if unknown:
        raise ConfigError(f"{where}: {text!r}: {unknown[0]} is no value; allowed: {', '.join(sorted(known))}")
    return program


def _check_places(message: str, where: str, known: set[str]) -> None:
    for name in _PLACE.findall(message):
        if name not in known - {"object"}:
            raise ConfigError(f"{where}: {{{name}}} is no value; allowed: {', '.join(sorted(known))}")


def _filled(message: str, values: Mapping[str, Any]) -> str:
    return _PLACE.sub(lambda match: _text(values[match[1]]), message).strip()


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _in_words(error: Any) -> str:
    where = place_of(error)
    if error["type"] == "extra_forbidden":
        return f"{where}: not known"
    return f"{where}: {error['input']!r}: {error['msg']}"
