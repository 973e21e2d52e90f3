"""What an upgrade announces that it gives up: everything else the promise holds it to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from agent.core.model import Body, LiveObject, ObjectId
from agent.core.policy import Policy, group_kind_of
from agent.core.rbac import RBAC_GROUP, Right, Rights, Subject
from agent.core.serving import Path, Routes


@dataclass(frozen=True)
class Terms:
    """What the old release has and the new one does not want any more.

    ``minimum``: the ready endpoints that a path keeps at least, if it ever had so many. ``retired``: objects
    that only the old release has. ``retired_paths``: paths that go though their pointer stays. ``kept``:
    objects of the new release. ``unchanged``: its workloads whose pod template is that of the old one, so
    that running pods are pods of both. ``interrupted``: paths whose downtime the plan announced. ``before``
    and ``after``: of both releases the objects that invariants ask for: RBAC, Services, pointers.
    """

    minimum: int = 1
    retired: frozenset[ObjectId] = frozenset()
    retired_paths: frozenset[Path] = frozenset()
    kept: frozenset[ObjectId] = frozenset()
    unchanged: frozenset[ObjectId] = frozenset()
    interrupted: frozenset[Path] = frozenset()
    before: Mapping[ObjectId, Body] = field(default_factory=dict)
    after: Mapping[ObjectId, Body] = field(default_factory=dict)
    is_announced: bool = False
    """False: nobody said what the new release is, so that nothing may be lost by what ran at the start."""

    @cached_property
    def _rights(self) -> tuple[Rights, Rights]:
        return _rights(self.before), _rights(self.after)

    @staticmethod
    def between(
        old: Mapping[ObjectId, Body], new: Mapping[ObjectId, Body], routes: Routes, minimum: int = 1
    ) -> Terms:
        """The terms of an upgrade from one release's manifests to another's."""
        paths_of_new = {path for object_id, body in new.items() for path in routes.of(object_id, body)}
        both = old.keys() & new.keys()
        return Terms(
            minimum=minimum,
            retired=frozenset(old.keys() - new.keys()),
            retired_paths=frozenset(
                path for key in both for path in routes.of(key, old[key]) if path not in paths_of_new
            ),
            kept=frozenset(new),
            unchanged=frozenset(key for key in both if _same_template(old[key], new[key], routes.policy)),
            before={key: body for key, body in old.items() if _is_asked_for(key, routes.policy)},
            after={key: body for key, body in new.items() if _is_asked_for(key, routes.policy)},
            is_announced=True,
        )

    def retires(self, path: Path) -> bool:
        """Whether the new release does without this path."""
        return path in self.retired_paths or path.pointer in self.retired

    def gives(self, subject: Subject, right: Right) -> bool:
        """Whether the new release gives the subject this right."""
        return any(held.covers(right) for held in self._rights[1].rights_of(subject))

    def gives_up(self, subject: Subject, right: Right) -> bool:
        """Whether the old release gave the subject this right and the new one does not."""
        before = self._rights[0].rights_of(subject)
        return any(held.covers(right) for held in before) and not self.gives(subject, right)


def _rights(objects: Mapping[ObjectId, Body]) -> Rights:
    return Rights(LiveObject(key, body) for key, body in objects.items())


def _is_asked_for(object_id: ObjectId, policy: Policy) -> bool:
    return object_id.group == RBAC_GROUP or bool(policy.of(object_id.group_kind).pointers)


def _same_template(old: Body, new: Body, policy: Policy) -> bool:
    template = _template(old, policy)
    return template is not None and template == _template(new, policy)


def _template(body: Any, policy: Policy) -> Any:
    pattern = policy.of(group_kind_of(body)).pod_template
    for part in pattern or ():
        body = body.get(part) if isinstance(body, dict) else None
    return body if pattern else None


def _pairs(objects: Mapping[ObjectId, Body]) -> list[Any]:
    return [[list(key), body] for key, body in sorted(objects.items(), key=lambda item: item[0])]


def _paths(paths: Iterable[Path]) -> list[Any]:
    return sorted([list(path.pointer), path.slot] for path in paths)


def to_json(terms: Terms) -> dict[str, Any]:
    """The terms as JSON, sorted; ``from_json`` reads them."""
    return {
        "minimum": terms.minimum,
        "retired": sorted(map(list, terms.retired)),
        "retiredPaths": _paths(terms.retired_paths),
        "interrupted": _paths(terms.interrupted),
        "kept": sorted(map(list, terms.kept)),
        "unchanged": sorted(map(list, terms.unchanged)),
        "before": _pairs(terms.before),
        "after": _pairs(terms.after),
        "announced": terms.is_announced,
    }


def from_json(value: Mapping[str, Any]) -> Terms:
    """The terms that ``to_json`` wrote. Raises KeyError or TypeError for anything else."""

    def ids(name: str) -> frozenset[ObjectId]:
        return frozenset(ObjectId(*key) for key in value[name])

    def paths(name: str) -> frozenset[Path]:
        return frozenset(Path(ObjectId(*key), slot) for key, slot in value[name])

    return Terms(
        minimum=value["minimum"],
        retired=ids("retired"),
        retired_paths=paths("retiredPaths"),
        interrupted=paths("interrupted"),
        kept=ids("kept"),
        unchanged=ids("unchanged"),
        before={ObjectId(*key): body for key, body in value["before"]},
        after={ObjectId(*key): body for key, body in value["after"]},
        is_announced=value["announced"],
    )
