"""When two worlds are one: a digest that tells apart what can go on differently, and nothing else.

Equal digests: whatever is asked of either, now or later, is answered alike, up to times, versions, uids and
generated names. Pods of one template that stand in one place are interchangeable: they are told apart by what
they are, who owns them, who refers to them and how long ago what still counts has happened to them.

Rules:

1. What has a name is labelled by its identity; what was given a generated one by what it is (``canonical``),
   by its owners and by who points at it.
2. A moment counts as the seconds since or until then, and no further than it decides anything (``ages``).
3. What controllers have not yet acted on belongs to the world.
4. What is not sure to be without effect is kept: two worlds may differ needlessly, never be one wrongly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from typing import Final, NamedTuple

from agent.core.model import Body, ObjectId
from agent.core.simulation.ages import PLACES, ages, longest_wait
from agent.core.simulation.canonical import Form, Row, form_of
from agent.core.simulation.world import World, controller_of

SIZE: Final = 16
"""Bytes of a digest: among a billion worlds two different ones share one with a chance below 1e-20."""

MODULUS: Final = 1 << (8 * SIZE)
MOST: Final = 100_000
"""Bodies remembered at most; then the memory starts anew."""

GONE: Final = "-0000-4000-8000-"
"""Part of every uid that the model gives (``world.uid_at``)."""

Select = Callable[[ObjectId], bool]


class _Kind(NamedTuple):
    """What one kind's objects come to, as long as none is written."""

    objects: Mapping[ObjectId, Body]
    plain: int
    uids: Mapping[str, ObjectId]
    rest: Mapping[ObjectId, Form]


class Identities:
    """Digests of worlds that come from one another: what they share is worked out once.

    ``leave_out`` says which objects the caller compares by other means (a ledger names uids and times);
    ``longest``: the longest minReadySeconds, in seconds, of what is still to be applied.
    """

    def __init__(self, leave_out: Select | None = None, longest: float = 0) -> None:
        self._leave_out = leave_out or (lambda _: False)
        self._longest = longest
        self._forms: dict[int, tuple[Body, Form]] = {}
        self._kinds: dict[int, _Kind] = {}

    def digest(self, world: World) -> bytes:
        """The same bytes for worlds that go on alike."""
        if len(self._forms) > MOST or len(self._kinds) > MOST:
            self._forms.clear()
            self._kinds.clear()
        kinds = [self._kind(objects) for objects in world.kinds.values()]
        total = sum(kind.plain for kind in kinds)
        labels = _Labels(world, kinds, max(self._longest, longest_wait(world)))
        total += labels.total()
        pending = sorted({_hash(repr(row)) for row in _pending(world, labels, self._leave_out)})
        return (_hash(repr(world.timing), str(total % MODULUS), *map(str, pending)) % MODULUS).to_bytes(SIZE)

    def _kind(self, objects: Mapping[ObjectId, Body]) -> _Kind:
        known = self._kinds.get(id(objects))
        if known is not None:
            return known
        plain, uids, rest = 0, {}, {}
        for key, body in objects.items():
            if self._leave_out(key):
                continue
            form = self._form(body)
            uids[body["metadata"]["uid"]] = key
            if form.is_generated or form.head.refs or form.rows:
                rest[key] = form
            else:
                plain += _hash(str(key), form.head.text)
        # The mapping is kept with what was made of it: its address is its name here.
        found = self._kinds[id(objects)] = _Kind(objects, plain, uids, rest)
        return found

    def _form(self, body: Body) -> Form:
        known = self._forms.get(id(body))
        if known is None:
            known = self._forms[id(body)] = (body, form_of(body))
        return known[1]


def digest(world: World) -> bytes:
    """The digest of one world; for many that share objects, one ``Identities`` is cheaper."""
    return Identities().digest(world)


def _hash(*parts: str) -> int:
    return int.from_bytes(blake2b("\0".join(parts).encode(), digest_size=SIZE).digest())


class _Labels:
    """How the objects of one world are called in its digest."""

    def __init__(self, world: World, kinds: Iterable[_Kind], longest: float) -> None:
        self._world = world
        self._keys: dict[str, ObjectId] = {}
        self._forms: dict[ObjectId, Form] = {}
        for kind in kinds:
            self._keys.update(kind.uids)
            self._forms.update(kind.rest)
        self._moments: dict[ObjectId, str] = {}
        self._collect_moments(longest)
        self._names: dict[ObjectId, str] = {}
        self._places = self._ranked()
        for key, name in self._referred().items():
            self._names[key] = name

    def of(self, key: ObjectId) -> str:
        """The label of an object, whether it still stands or not."""
        form = self._forms.get(key)
        if form is None or not form.is_generated:
            return str(key)
        if key not in self._names:
            # Where a generated object refers to itself, the label that is being made is no part of itself.
            self._names[key] = "itself"
            self._names[key] = str(self._content(key, form))
        return self._names[key]

    def total(self) -> int:
        """All objects that refer to others, and all that time still concerns."""
        total = 0
        for key, form in self._forms.items():
            rows = sorted(self._put(row) for row in form.rows)
            counter = str(self._places.get(key, ""))
            total += _hash(self.of(key), self._put(form.head), counter, *rows)
        for key, moments in self._moments.items():
            total += _hash(self.of(key), moments)
        return total

    def _content(self, key: ObjectId, form: Form) -> int:
        return _hash(str(key[:3]), self._put(form.head), self._moments.get(key, ""))

    def _put(self, row: Row) -> str:
        return "\0".join((row.text, *(self._named(uid) for uid in row.refs))) if row.refs else row.text

    def _named(self, uid: str) -> str:
        key = self._keys.get(uid)
        if key is not None:
            return self.of(key)
        return "gone" if GONE in uid else uid

    def _collect_moments(self, longest: float) -> None:
        world, found = self._world, dict[ObjectId, list[object]]()
        for uid, notes in world.marks.items():
            key = self._keys.get(uid)
            if key is None or (len(notes) == 1 and key.kind not in ("Pod", "CustomResourceDefinition")):
                continue
            body = world.kinds[key.group_kind][key]
            if aged := ages(world, key, body, notes, longest):
                found.setdefault(key, []).append(aged)
        for controller, times in sorted(world.wakes.items()):
            for key, due in times.items():
                if world.get(key) is not None:
                    found.setdefault(key, []).append((controller, round(float(due - world.now), PLACES)))
        self._moments = {key: repr(moments) for key, moments in found.items()}

    def _ranked(self) -> dict[ObjectId, int]:
        """The order of what one owner made: by counter, and by age where what differs has an age."""
        groups: dict[tuple[str, str], list[ObjectId]] = {}
        for key in self._forms:
            if key.kind in ("ReplicaSet", "ControllerRevision", "Pod"):
                owner = controller_of(self._world.get(key))
                groups.setdefault((key.kind, owner), []).append(key)
        places: dict[ObjectId, int] = {}
        for (kind, _), keys in groups.items():
            if kind == "Pod" and len({self.of(key) for key in keys}) == 1:
                continue
            order = self._age if kind == "Pod" else self._counter
            distinct = sorted({order(key) for key in keys})
            places |= {key: distinct.index(order(key)) for key in keys}
        return places

    def _counter(self, key: ObjectId) -> tuple[float, ...]:
        return (-self._forms[key].counter,)

    def _age(self, key: ObjectId) -> tuple[float, ...]:
        """As a ReplicaSet looks at its pods when it has too many (``replicasets``)."""
        uid = self._world.kinds[key.group_kind][key]["metadata"]["uid"]
        return -(self._world.marked(uid, "since") or 0), -(self._world.marked(uid, "created") or 0)

    def _referred(self) -> dict[ObjectId, str]:
        """Labels of generated objects with who points at them: two alike may stand behind other Services."""
        pointing: dict[ObjectId, list[str]] = {}
        for key, form in self._forms.items():
            for row in form.rows:
                for uid in row.refs:
                    target = self._keys.get(uid)
                    if target is not None:
                        pointing.setdefault(target, []).append(f"{self.of(key)} {row.text}")
        return {
            key: str(_hash(self.of(key), str(self._places.get(key, "")), *sorted(pointing.get(key, ()))))
            for key, form in self._forms.items()
            if form.is_generated
        }


def _pending(world: World, labels: _Labels, leave_out: Select) -> Iterable[tuple[object, ...]]:
    """What each controller has not yet acted on."""
    for controller, seen in sorted(world.seen.items()):
        if seen < world.version:
            for event in world.events_after(seen):
                if not leave_out(event.id):
                    yield controller, event.type, labels.of(event.id)
