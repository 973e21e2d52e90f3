"""What the server keeps of a definition's versions: which may be stored, and when one may go."""

from __future__ import annotations

import copy

import pytest

from agent.core.model import Body
from agent.errors import Invalid
from tests.contract.bench import Bench, crd


def versions(body: Body, *names: str) -> Body:
    """The definition with these versions, the last one stored."""
    out = copy.deepcopy(body)
    (row,) = out["spec"]["versions"]
    out["spec"]["versions"] = [{**row, "name": name, "storage": name == names[-1]} for name in names]
    return out


def stored(bench: Bench, body: Body) -> list[str]:
    return list((bench.must(body).get("status") or {}).get("storedVersions") or ())


def test_a_version_that_may_be_stored_stays_until_the_status_has_lost_it(bench: Bench) -> None:
    body = crd()
    first = body["spec"]["versions"][0]["name"]
    bench.apply(body)
    bench.until("it is stored", lambda: stored(bench, body) == [first])
    both = versions(body, first, "v9")
    bench.apply(both)
    bench.until("both are stored", lambda: stored(bench, body) == [first, "v9"])
    with pytest.raises(Invalid, match="storedVersions") as refused:
        bench.dry_run(versions(body, "v9"))
    assert not refused.value.is_immutable
    live = bench.must(body)
    status = {**live["status"], "storedVersions": ["v9"]}
    changed = {**live, "status": status, "spec": {**live["spec"], "preserveUnknownFields": False}}
    bench.cluster.replace_status(bench.of(body), changed)
    assert stored(bench, body) == ["v9"]
    bench.apply(versions(body, "v9"))
    assert [row["name"] for row in bench.must(body)["spec"]["versions"]] == ["v9"]
