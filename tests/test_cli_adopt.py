"""``trapeze adopt`` as people meet it: a dry run, what is taken, what is named, and the way back."""

from __future__ import annotations

import json

import pytest

from agent.core.model import Body
from agent.core.policy import id_of
from tests.cli_place import Place, Run
from tests.shell.installers import CLIENT_SIDE, as_installed
from tests.shell.releases import CONFIG

SETTINGS: Body = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings", "namespace": "default"},
    "data": {"colour": "red"},
}


@pytest.fixture
def installed(place: Place) -> Place:
    """A ConfigMap that kubectl installed, and the same in Git with one more that nobody made."""
    place.repo.commit({"a.yaml": CONFIG % "red"})
    resource = place.world.discover().resources[id_of(SETTINGS).group_kind]
    place.world.apply(resource, as_installed(SETTINGS, CLIENT_SIDE), manager=CLIENT_SIDE)
    return place


def labels(place: Place) -> dict[str, str]:
    found = place.world.world.objects()[id_of(SETTINGS)]
    return dict(found["metadata"].get("labels") or {})


def test_a_dry_run_names_the_managers_and_writes_nothing(installed: Place, trapeze: Run) -> None:
    before = installed.world.world.version
    ran = trapeze("adopt", "set-1", "--revision", "main", "--dry-run")
    assert ran.code == 0
    assert f"matches  ConfigMap default/settings; managed by {CLIENT_SIDE} (1 field)" in ran.out
    assert ran.out.endswith("1 object: 1 matches\n")
    assert installed.world.world.version == before
    shown = json.loads(trapeze("adopt", "set-1", "--revision", "main", "--dry-run", "-o", "json").out)
    assert shown["objects"][0]["managers"] == {"data.colour": [CLIENT_SIDE]}


def test_adopted_it_is_in_service_and_undone_it_is_as_before(installed: Place, trapeze: Run) -> None:
    assert trapeze("adopt", "set-1", "--revision", "main").code == 0
    assert labels(installed)["trapeze.dev/set"] == "set-1"
    assert json.loads(trapeze("status", "-o", "json").out)["sets"][0]["unproven"] == 1
    assert trapeze("adopt", "set-1", "--undo").out == "1 object given back\n"
    assert labels(installed) == {}
    told = trapeze("history").out
    assert told.index("adopt to generation 1") < told.index("undo adoption")
    assert "given back" in trapeze("adopt", "set-1", "--undo").err
    assert trapeze("adopt", "set-1", "--revision", "main").code == 0
    assert trapeze("sync", "--until-done").code == 0


def test_what_differs_or_is_missing_is_named_and_not_written(installed: Place, trapeze: Run) -> None:
    more = (CONFIG % "red").replace("settings", "more")
    installed.repo.commit({"a.yaml": CONFIG % "blue", "b.yaml": more})
    ran = trapeze("adopt", "set-1", "--revision", "main")
    assert ran.code == 3
    assert "missing  ConfigMap default/more" in ran.out
    assert f"         data.colour ({CLIENT_SIDE})" in ran.out
    assert ran.out.endswith("2 objects: 1 differs, 1 missing\n")
    assert labels(installed) == {}
