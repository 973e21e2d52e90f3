"""What an incident is: two releases, what the naive order breaks, what our plan says before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tests.incidents.bodies import (
    READY,
    Labels,
    account,
    cluster_role,
    crd,
    deployment,
    namespace,
    rule,
    service,
)

Release = tuple[str, ...]


@dataclass(frozen=True)
class Incident:
    """``naive`` are the invariants that apply-then-prune breaks; ``announced`` is what our plan says before.

    ``announced`` is empty where the upgrade is carried out to its end with every promise kept; else it is
    part of the reason with which the plan holds, and nothing may be broken meanwhile. ``others`` stand in
    the cluster beside the old release, and belong to somebody else.
    """

    name: str
    source: str
    old: Release
    new: Release
    naive: frozenset[str]
    announced: str = ""
    others: Release = ()


def broken(*names: str) -> frozenset[str]:
    """Invariants by name."""
    return frozenset(names)


PATH: Final = "serving path"
EARLY: Final = "pointed too early"
RIGHTS: Final = "rights of a running pod"
USED: Final = "in use"
FOREIGN: Final = "foreign object"


APP: Final = {"app": "api"}


def api(where: str, knobs: Labels = READY) -> Release:
    return (
        namespace(where),
        account(f"{where}/api"),
        service(f"{where}/api", APP),
        deployment(f"{where}/api", APP, account_name="api", knobs=knobs),
    )


READ: Final = rule("get list watch", "", "configmaps")
PEERS: Final = rule("get list watch", "", "endpoints")

STORAGE: Final = (crd("Book"), cluster_role("books", rule("*", "library.example", "books")))
