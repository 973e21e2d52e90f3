"""Adoption on the real API server: what kubectl or Helm installed is compared, taken over and given back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.build import source_of, syncer_of, tools_of
from agent.core import deciding
from agent.core.adoption import Match
from agent.core.model import Body
from agent.core.refs import Ref, RefKind
from agent.errors import ConfigError
from agent.settings import settings_of
from agent.shell.adopting import Adopter
from agent.shell.deciding import Decider
from agent.shell.report import State
from tests.corpus_live.helm import Itself
from tests.e2e.releases import documents
from tests.rig.api import APPLY, MERGE
from tests.rig.cluster import Cluster
from tests.rig.golang import GoProgram
from tests.rig.tools import HELM_3, HELM_4
from tests.shell.gitrepos import GitRepo
from tests.shell.installers import HELM, INSTALLERS, SERVER_SIDE, as_installed
from tests.shell.releases import CONFIG, namespace, web

NAME = "adopted"
RELEASE = "---\n".join([namespace("front"), web("blue"), CONFIG % "red"])
WEB = "/apis/apps/v1/namespaces/front/deployments/blue"
SETTINGS = "/api/v1/namespaces/default/configmaps/settings"


class Adoption:
    """A release that ``installer`` installed, a repo with the same, and the set that shall take it over.

    ``helm`` is Helm itself; without it the installer's requests are sent by hand.
    """

    def __init__(self, cluster: Cluster, folder: Path, installer: str, helm: Path | None) -> None:
        self.cluster, self.installer = cluster, installer
        self.repo = GitRepo(folder / "repo")
        self.first = self.repo.commit({"all.yaml": RELEASE})
        if helm is not None:
            Itself(cluster, "default", helm, folder).release(*documents(RELEASE))
        else:
            for body in documents(RELEASE):
                self.install(body, installer)
        one = {"name": NAME, "repo": "repo", "ref": "main", "path": ".", "settle": "0s"}
        raw = {"kubeconfig": str(cluster.kubeconfig), "cache_dir": "cache", "sets": [one]}
        self.settings = settings_of(raw, folder / "trapeze.yaml", folder)
        self.config = self.settings.set_named(NAME)
        self.tools = tools_of(self.settings)

    def install(self, body: Body, installer: str) -> None:
        """Write the body as the tool does: a plain create, or an apply."""
        sent, path = as_installed(body, installer), self.cluster.path(body)
        if installer == SERVER_SIDE:
            self.cluster.api.request("PATCH", f"{path}?fieldManager={installer}", sent, APPLY)
        else:
            self.cluster.api.create(f"{path.rpartition('/')[0]}?fieldManager={installer}", sent)
        if body["kind"] == "Namespace":
            account = f"{path}/serviceaccounts/default"
            self.cluster.wait(account, lambda: self.cluster.api.find(account))

    def adopter(self) -> Adopter:
        """At the first commit, whatever came after."""
        syncer = syncer_of(self.settings, self.config, self.tools, ref=Ref(RefKind.COMMIT, self.first))
        return Adopter(self.tools, syncer, NAME, self.config.manager)

    def sync(self) -> list[str]:
        """Ticks until in service or held for good; the steps that were written."""
        written: list[str] = []
        syncer = syncer_of(self.settings, self.config, self.tools, lambda o: written.append(o.step.key))
        for _ in range(20):
            if syncer.tick().state is State.IN_SERVICE:
                break
        return written


def owned(body: Any) -> list[str]:
    return sorted(entry["manager"] for entry in body["metadata"]["managedFields"])


def content(body: Body) -> Any:
    return (
        {**body["metadata"].get("labels", {})},
        {**body["metadata"].get("annotations", {})},
        body.get("spec"),
    )


ITSELF = [pytest.param(one, id=f"{one.name} itself", marks=pytest.mark.slow) for one in (HELM_3, HELM_4)]


@pytest.fixture(params=[*INSTALLERS, *ITSELF])
def adoption(request: pytest.FixtureRequest, tmp_path: Path) -> Adoption:
    is_built = isinstance(request.param, GoProgram)
    # Beside a control plane there is no network: what is not built yet is built before.
    helm = request.param.build() if is_built else None
    cluster: Cluster = request.getfixturevalue("cluster")
    return Adoption(cluster, tmp_path, HELM if is_built else request.param, helm)


def test_what_was_installed_is_taken_over_given_back_and_pruned_only_with_consent(adoption: Adoption) -> None:
    api = adoption.cluster.api
    adoption.cluster.wait_ready("front", "blue")
    before = api.get(WEB)
    _, _, found = adoption.adopter().compared()
    assert {one.match for one in found} == {Match.MATCHES}
    assert all(adoption.installer in names for one in found for names in one.owners.values())
    assert len(found) == 4

    _, outcomes = adoption.adopter().adopt()
    assert [outcome.error for outcome in outcomes] == [""] * 4
    taken = api.get(WEB)
    assert (taken["spec"], taken["metadata"]["uid"]) == (before["spec"], before["metadata"]["uid"])
    assert taken["metadata"]["labels"]["trapeze.dev/set"] == NAME
    with pytest.raises(ConfigError, match="synced or adopted already"):
        adoption.adopter().adopt()

    kept, outcomes = adoption.adopter().undo()
    assert (kept, [outcome.error for outcome in outcomes]) == ((), [""] * 4)
    assert content(api.get(WEB)) == content(before)
    assert f"trapeze/{NAME}" not in owned(api.get(WEB))

    adoption.adopter().adopt()
    assert adoption.sync() == []
    adoption.repo.commit({"all.yaml": "---\n".join([namespace("front"), web("blue")])})
    assert adoption.sync() == []
    assert api.find(SETTINGS) is not None
    Decider(adoption.tools, NAME).decide(lambda ledger: deciding.agree(ledger, ""), deciding.agreed)
    assert adoption.sync() == ["delete ConfigMap default/settings"]
    assert api.find(SETTINGS) is None


def test_what_differs_is_named_with_its_manager_and_left_as_it_is(adoption: Adoption) -> None:
    api = adoption.cluster.api
    api.patch(f"{SETTINGS}?fieldManager=kubectl-edit", {"data": {"colour": "green"}}, MERGE)
    found, outcomes = adoption.adopter().adopt()
    (settings,) = (one for one in found if one.id.kind == "ConfigMap")
    assert (settings.match, settings.differs) == (Match.DIFFERS, (("data", "colour"),))
    assert settings.owners["data", "colour"] == ("kubectl-edit",)
    assert len(outcomes) == 3
    live = api.get(SETTINGS)
    assert live["data"] == {"colour": "green"}
    assert "trapeze.dev/set" not in live["metadata"].get("labels", {})
    source = source_of(adoption.settings, adoption.config)
    assert source.has(adoption.first)
