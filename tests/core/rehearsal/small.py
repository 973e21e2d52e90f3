"""Upgrades of a few objects, rehearsed from text."""

from __future__ import annotations

from agent.build import kinds_of
from agent.core import manifests
from agent.core.model import Desired
from agent.core.orders import Order
from agent.core.rehearsal.answer import Rehearsal
from agent.core.rehearsal.run import Script, rehearse
from agent.core.situation import Rules
from agent.core.yamlread import read_documents
from agent.shell.embedded import EmbeddedCluster
from tests.core.bodies import RULES
from tests.core.casefiles import shipped
from tests.shell.releases import ingress, namespace, web

BLUE = (namespace("front"), web("blue"), ingress("front/blue"))
GREEN = (namespace("front"), web("green"), ingress("front/green"))


def release(revision: str, *texts: str) -> Desired:
    """What a few files want."""
    files = {f"{n}.yaml": read_documents(text.encode(), f"{n}.yaml") for n, text in enumerate(texts, 1)}
    return manifests.load(files, kinds_of(), set_name="shop", revision=revision, namespace="default")


def script(
    before: tuple[str, ...], after: tuple[str, ...], order: Order = Order.GATED, *, disturbs: bool = True
) -> Script:
    """The upgrade between two releases, in a set that may prune its namespaces."""
    rules = Rules("trapeze/shop", settle=3.0, allow=frozenset({"Namespace"}))
    base, head = release("base", *before), release("head", *after)
    return Script(base, head, shipped(), RULES, rules, order=order, disturbs=disturbs)


def rehearsed(play: Script) -> Rehearsal:
    """The answer, from a new model cluster."""
    return rehearse(EmbeddedCluster(1_000.0).world, play)
