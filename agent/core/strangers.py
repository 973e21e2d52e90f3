"""Fields that stand in the cluster alone: somebody put them there, and Git never had them.

They belong to others and stay; a person is told, since what was added by hand is easily forgotten
(argoproj/argo-cd#6315). What a Service selects is compared as a whole and is no stranger.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from agent.core.claims import part_of
from agent.core.few import few
from agent.core.fields import get
from agent.core.model import Body, FieldPath, LiveObject, path_text
from agent.core.normalize import is_as_defaulted
from agent.core.policy import Policy
from agent.core.rules import MISSING, Rule
from agent.core.situation import Situation


class Stranger(NamedTuple):
    """A field that only the cluster has, and the field manager that put it there."""

    path: FieldPath
    manager: str


def strangers(desired: Body, live: LiveObject, policy: Policy, ours: str) -> tuple[Stranger, ...]:
    """The topmost fields that other managers than ``ours`` own and that ``desired`` lacks.

    Left out: what the tables ignore, what a controller fills, defaults, and what the control plane's own
    controllers write (table ``controllers``).
    """
    rules = policy.of(live.id.group_kind).rules
    found: dict[FieldPath, str] = {}
    for entry in live.metadata.get("managedFields") or ():
        manager = str(entry.get("manager"))
        if manager == ours or entry.get("subresource") or manager in policy.controllers:
            continue
        for path in _alone(entry.get("fieldsV1") or {}, (desired, live.body), rules, ()):
            found.setdefault(path, manager)
    return tuple(Stranger(path, manager) for path, manager in found.items())


def _alone(
    node: Mapping[str, Any], sides: tuple[Any, Any], rule: Rule, path: FieldPath
) -> Iterator[FieldPath]:
    for name, below in node.items():
        part = part_of(name)
        if part is None:
            continue
        child = rule.child(part) if isinstance(part, str) else rule.of_item
        wanted, has = (get(side, (part,), rule) for side in sides)
        if has is MISSING or child.is_ignored or child.is_injected:
            continue
        if wanted is MISSING or wanted is None:
            if not is_as_defaulted(has, child) and has not in ({}, []):
                yield (*path, part)
        elif isinstance(below, Mapping) and child.type != "atomic":
            yield from _alone(below, (wanted, has), child, (*path, part))


def notes(situation: Situation) -> Iterator[str]:
    """One line for each object of the set that has fields of strangers; none for objects of others."""
    own = situation.desired.set_name
    for key, manifest in sorted(situation.desired.manifests.items()):
        live = situation.live.get(key)
        if live is not None and live.set_name == own:
            found = strangers(manifest.body, live, situation.policy, situation.rules.manager)
            if found:
                told = few(found, say=lambda one: f"{path_text(one.path)} ({one.manager})")
                yield f"{key}: not in Git, and kept: {told}"
