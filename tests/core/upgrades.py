"""Upgrades for the tests of plans: two releases as text, planned as a preview plans them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from agent.build import kinds_of
from agent.core import manifests
from agent.core.kinds import Kinds
from agent.core.model import Body, Desired, LiveObject, ObjectId
from agent.core.plan import Maker
from agent.core.policy import id_of
from agent.core.preview import between
from agent.core.refused import checked
from agent.core.situation import Rules
from agent.core.steps import Plan, Step
from agent.core.yamlread import read_documents
from tests.core.bodies import RULES
from tests.core.casefiles import shipped

MANAGER = "trapeze/shop"


@cache
def kinds() -> Kinds:
    """The built-in kinds, read once."""
    return kinds_of()


def release(text: str, revision: str = "head") -> Desired:
    """What a file of manifests wants."""
    files = {"release.yaml": read_documents(text.encode(), "release.yaml")}
    return manifests.load(files, kinds(), set_name="shop", revision=revision, namespace="shop")


def upgrade(base: str, head: str, *live: Body, allow_downtime: frozenset[str] = frozenset()) -> Maker:
    """The maker of the plan; bodies in ``live`` stand in the cluster too, or in place of the base's."""
    before = release(base, "base")
    made = between(before, release(head), shipped(), RULES, Rules(MANAGER, allow_downtime=allow_downtime))
    more = {id_of(body): LiveObject(id_of(body), body) for body in live}
    return Maker(checked(replace(made, live=replace(made.live, objects={**made.live.objects, **more}))))


def steps_of(plan: Plan, key: ObjectId) -> list[Step]:
    """The steps of one object, in order."""
    return [step for step in plan.steps if step.id == key]


def told(plan: Plan) -> list[str]:
    """Every step with the gates that the object itself decides, in the order of the plan."""
    return [" ".join([step.key, *sorted(gate.name for gate in step.closed_gates)]) for step in plan.steps]
