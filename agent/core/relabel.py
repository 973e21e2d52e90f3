"""Services that select pods by labels that a rollout in place changes.

The new pods carry other labels than the old ones, so neither the old selector nor the new one keeps the
Service with endpoints all through the rollout. The labels that both have in common do, where they match the
pods of both and no others (kubernetes.io/docs/concepts/services-networking/service). Until the Service
selects by them, the rollout waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from agent.core.facet import Facet, FacetKind
from agent.core.fields import put
from agent.core.model import Body, Category, Form, LiveObject, ObjectId, path_text
from agent.core.policy import PODS, id_of
from agent.core.situation import Situation
from agent.core.steps import Step, Verb
from agent.core.targets import Target
from agent.core.workloads import labels_of_template


def with_common(situation: Situation, parts: Sequence[Facet], steps: Sequence[Step]) -> list[Step]:
    """The steps of one object; a selector that moves goes by way of the labels that both have in common."""
    moves = [part for part in parts if part.kind is FacetKind.POINTS and part.old and part.new]
    cutover = next((step for step in steps if step.verb is Verb.CUTOVER), None)
    for part in moves:
        if part.old is None or part.new is None or part.old.kind != PODS or part.new.kind != PODS:
            continue
        common = common_selector(situation, part.old, part.new)
        if common is None or cutover is None or cutover.body is None:
            continue
        rules = situation.policy.of(cutover.id.group_kind).rules
        labels = ",".join(f"{key}={value}" for key, value in sorted(common.items()))
        widen = replace(
            cutover,
            verb=Verb.WIDEN,
            category=Category.ADDITIVE,
            form=Form.WIDENED,
            says=f"{path_text(part.path)} selects the pods of both by {labels}",
            body=put(cutover.body, part.path, common, rules),
            is_pointer=False,
        )
        return [widen, *(step for step in steps if not step.is_additive)]
    return list(steps)


def common_selector(situation: Situation, old: Target, new: Target) -> dict[str, str] | None:
    """The labels that match exactly the pods of both selectors; None where no rollout in place needs them.

    None too where both have nothing in common, or where the common labels would let in other pods.
    """
    common = dict(set(old.selector) & set(new.selector))
    if not common or common.items() in (dict(old.selector).items(), dict(new.selector).items()):
        return None
    if not any(_moves_between(situation, old, new, body) for body in _wanted(situation)):
        return None
    both = (dict(old.selector).items(), dict(new.selector).items())
    for labels in _all_labels(situation, old.namespace):
        is_meant = any(selector <= labels.items() for selector in both)
        if common.items() <= labels.items() and not is_meant:
            return None
    return common


def left_behind(situation: Situation, live: LiveObject, desired: Body) -> Iterator[tuple[ObjectId, str]]:
    """Live Services that would lose all their pods by the new labels of this workload, and why in words."""
    before = labels_of_template(situation.policy, live.body)
    after = labels_of_template(situation.policy, desired)
    for service in situation.live.of_kind("", "Service"):
        selector = (service.body.get("spec") or {}).get("selector") or {}
        is_near = bool(selector) and service.id.namespace == live.id.namespace
        if not is_near or not selector.items() <= before.items() or selector.items() <= after.items():
            continue
        others = situation.workloads.selected(live.id.namespace, selector)
        if all(other.id == live.id for other in others):
            lost = sorted(set(selector.items()) - set(after.items()))
            labels = ", ".join(f"{key}={value}" for key, value in lost)
            yield service.id, f"{service.id} selects its pods by {labels}"


def relabelling(situation: Situation, pending: Iterable[ObjectId]) -> Mapping[ObjectId, frozenset[ObjectId]]:
    """By Service, those of ``pending`` whose new labels would take its pods from it.

    Where Git drops a Service together with the labels that it selects by, the Service goes first.
    """
    found: dict[ObjectId, set[ObjectId]] = {}
    for key in pending:
        live, manifest = situation.live.get(key), situation.desired.manifests.get(key)
        for service, _ in left_behind(situation, live, manifest.body) if live and manifest else ():
            found.setdefault(service, set()).add(key)
    return {service: frozenset(keys) for service, keys in found.items()}


def _wanted(situation: Situation) -> Iterator[Body]:
    return (manifest.body for manifest in situation.desired.manifests.values())


def _moves_between(situation: Situation, old: Target, new: Target, body: Body) -> bool:
    """Whether the workload stands with labels of the old selector alone and is wanted with the new one's."""
    live = situation.live.get(id_of(body))
    if live is None:
        return False
    before, after = (labels_of_template(situation.policy, one) for one in (live.body, body))
    where = live.id.namespace
    is_moving = old.takes(where, before) and not old.takes(where, after)
    return is_moving and bool(after) and new.takes(where, after)


def _all_labels(situation: Situation, namespace: str) -> Iterator[Mapping[str, str]]:
    """Of pods that run, and of templates that stand or are wanted."""
    yield from (pod.labels for pod in situation.workloads.running if pod.id.namespace == namespace)
    bodies = [obj.body for obj in situation.workloads.templated if obj.id.namespace == namespace]
    bodies += [body for body in _wanted(situation) if id_of(body).namespace == namespace]
    yield from filter(None, (labels_of_template(situation.policy, body) for body in bodies))
