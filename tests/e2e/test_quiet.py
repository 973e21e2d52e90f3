"""What a sync costs that finds nothing to do, counted at the wire."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import urllib3

from agent.core.ledger import Ledger
from agent.shell.kube_connect import USER_AGENT
from agent.shell.report import State
from tests.e2e.judges import members
from tests.e2e.upgrade import Upgrade

METADATA = "as=PartialObjectMetadataList"
ASKS_ONLY = ("/selfsubjectaccessreviews", "dryRun=All")


class Wire:
    """The requests that leave this process for the API server, as method and path; all still go out."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sent: list[tuple[str, str, str]] = []
        original = urllib3.HTTPSConnectionPool.urlopen

        def counted(pool: Any, method: str, url: str, *args: Any, **words: Any) -> Any:
            headers = {key.lower(): value for key, value in (words.get("headers") or {}).items()}
            if headers.get("user-agent") == USER_AGENT:
                self.sent.append((method, url, headers.get("accept", "")))
            return original(pool, method, url, *args, **words)

        monkeypatch.setattr(urllib3.HTTPSConnectionPool, "urlopen", counted)

    @property
    def writes(self) -> list[str]:
        """What could have changed something."""
        return [
            f"{method} {url}"
            for method, url, _ in self.sent
            if method != "GET" and not any(word in url for word in ASKS_ONLY)
        ]

    @property
    def metadata_lists(self) -> Counter[str]:
        """The paths of LISTs that asked for metadata only, and how often."""
        return Counter(url.partition("?")[0] for _, url, accept in self.sent if METADATA in accept)


def versions(upgrade: Upgrade) -> dict[str, str]:
    """The resourceVersions of all members and of the ledger."""
    heads = upgrade.cluster.objects("v1", "ConfigMap", "trapeze-system")
    return {
        body["metadata"]["uid"]: body["metadata"]["resourceVersion"] for body in [*members(upgrade), *heads]
    }


def test_second_sync_sends_no_write_and_a_quiet_tick_lists_metadata_once_a_kind(
    enterprise_upgrade: Upgrade, monkeypatch: pytest.MonkeyPatch
) -> None:
    upgrade = enterprise_upgrade
    upgrade.start(upgrade.layout.old_files())
    syncer, before = upgrade.syncer(), versions(upgrade)
    wire = Wire(monkeypatch)
    assert syncer.tick().state is State.IN_SERVICE
    assert wire.sent
    assert wire.writes == []
    wire.sent.clear()
    report = syncer.tick()
    assert (report.state, report.plan) == (State.IN_SERVICE, None)
    assert_one_list_a_kind(wire, report.ledger)
    monkeypatch.undo()
    assert versions(upgrade) == before


def assert_one_list_a_kind(wire: Wire, ledger: Ledger) -> None:
    """One metadata LIST for each kind of the set, one GET of the ledger's head, and nothing else."""
    kinds = {key.group_kind for key in ledger.entries}
    assert len(wire.metadata_lists) == len(kinds)
    assert set(wire.metadata_lists.values()) == {1}
    others = [(method, url) for method, url, accept in wire.sent if METADATA not in accept]
    assert others == [("GET", "/api/v1/namespaces/trapeze-system/configmaps/trapeze-calico")]
