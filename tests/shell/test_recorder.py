"""The recorder at the wire: all is seen, in its true order, and what is missed is said."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest

from agent.core.model import GroupKind, ObjectId
from agent.core.terms import Terms
from agent.errors import ClusterError, SourceError
from agent.shell import recorder as recorder_module
from agent.shell.cluster import Discovery, Resource
from agent.shell.kube import KubeCluster, connect
from agent.shell.recorder import Recorder, kinds_to_record
from agent.shell.recording import Recording, judge, read, verify
from tests.core.histories import ROUTES
from tests.shell.feed import CONFIG_MAPS, SECRETS, VERBS, WIDGETS, Feed
from tests.shell.wire import Answer, Seen, Wire, kubeconfig, serve, status


@pytest.fixture
def feed() -> Feed:
    return Feed()


@pytest.fixture
def wire(feed: Feed) -> Iterator[Wire]:
    with serve() as running:
        running.otherwise = feed.answer
        yield running


@pytest.fixture
def cluster(wire: Wire, tmp_path: Path) -> Iterator[KubeCluster]:
    adapter = connect(kubeconfig(tmp_path, wire.url), None, pool_size=8, timeout=5)
    yield adapter
    adapter.close()


def recorder(cluster: KubeCluster, path: Path | None = None) -> Recorder:
    return Recorder(cluster, (CONFIG_MAPS, SECRETS), path, clock=lambda: "12:00")


def until(look: Callable[[], bool]) -> None:
    end = monotonic() + 20
    while not look():
        assert monotonic() < end
        sleep(0.02)


def short(recording: Recording) -> list[str]:
    """Each event as ``version name`` with a minus for a deletion."""
    return [f"{e.version} {'-' if e.body is None else ''}{e.id.name}" for e in recording.events]


def test_every_event_is_recorded_in_the_order_of_the_states(cluster: KubeCluster, feed: Feed) -> None:
    feed.put("configmaps", "there")
    with recorder(cluster) as running:
        for number in range(10):
            feed.put("secrets" if number % 2 else "configmaps", f"o{number}")
        feed.drop("configmaps", "there")
    found = running.recording()
    assert found.version == 101
    assert set(found.first) == {ObjectId("", "ConfigMap", "shop", "there")}
    assert short(found) == [*(f"{102 + n} o{n}" for n in range(10)), "112 -there"]
    assert found.unseen == ()
    assert {event.time for event in found.events} == {"12:00"}


def test_stop_waits_for_what_only_a_list_shows_yet(cluster: KubeCluster, feed: Feed) -> None:
    feed.put("configmaps", "old")
    with recorder(cluster) as running:
        feed.hold(held=True)
        feed.put("configmaps", "late")
        feed.drop("configmaps", "old")
        threading.Timer(0.7, feed.hold, kwargs={"held": False}).start()
    assert short(running.recording()) == ["102 late", "103 -old"]
    assert running.recording().unseen == ()


def test_what_is_never_seen_is_said(
    cluster: KubeCluster, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_module, "PATIENCE", 0.3)
    with recorder(cluster) as running:
        feed.hold(held=True)
        feed.put("configmaps", "late")
    assert running.recording().unseen == ("ConfigMap: ConfigMap shop/late at 101 was not seen within 0.3 s",)
    assert not judge(running.recording(), ROUTES).is_kept


def test_after_a_version_too_old_the_difference_is_recorded_and_the_gap_is_said(
    cluster: KubeCluster, feed: Feed
) -> None:
    feed.put("configmaps", "stays")
    feed.put("configmaps", "goes")
    with recorder(cluster) as running:
        feed.hold(held=True)
        feed.put("configmaps", "stays", data={"k": "v"})
        feed.drop("configmaps", "goes")
        feed.put("configmaps", "comes")
        feed.forget()
        feed.hold(held=False)
        until(lambda: feed.lists >= 4)
        feed.put("configmaps", "after")
    found = running.recording()
    # Neither when the first was written nor when the second went is known, only that both had by then.
    assert short(found) == ["103 stays", "105 comes", "105 -goes", "106 after"]
    assert set(found.unseen) == {
        "ConfigMap: from 102 to 105 not watched: the version is too old",
        "Secret: from 102 to 105 not watched: the version is too old",
    }


def test_an_error_of_a_watch_is_a_gap_and_the_recording_goes_on(
    cluster: KubeCluster, feed: Feed, wire: Wire
) -> None:
    refusals = [status(403, "Forbidden", "no watch for you")] * 2

    def answer(seen: Seen) -> Answer:
        return refusals.pop() if refusals and "watch" in seen.query else feed.answer(seen)

    wire.otherwise = answer
    with recorder(cluster) as running:
        until(lambda: feed.lists >= 4)
        feed.put("configmaps", "after")
    found = running.recording()
    assert short(found) == ["101 after"]
    assert any("not watched" in what and "no watch for you" in what for what in found.unseen)


def test_a_custom_kind_comes_and_goes_with_its_definition_and_nothing_is_missed(
    cluster: KubeCluster, feed: Feed
) -> None:
    feed.put("widgets", "kept")
    with Recorder(cluster, (CONFIG_MAPS, WIDGETS), clock=lambda: "12:00") as running:
        feed.put("configmaps", "written")
        feed.forget()
        until(lambda: feed.lists >= 3)
        feed.drop("widgets", "kept")
        until(lambda: "103 -kept" in short(running.recording()))
        feed.put("configmaps", "later")
        feed.unserved.add("widgets")
        feed.forget()
    found = running.recording()
    assert [one for one in short(found) if "kept" in one] == ["103 -kept"]
    assert not [what for what in found.unseen if "Widget" in what]


def test_a_custom_kind_of_which_something_was_left_or_changed_is_missed(
    cluster: KubeCluster, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_module, "PATIENCE", 0.3)
    feed.put("widgets", "changed")
    with Recorder(cluster, (WIDGETS,)) as running:
        feed.hold(held=True)
        feed.put("widgets", "changed", data={"k": "v"})
        feed.forget()
        until(lambda: feed.lists >= 2)
        feed.unserved.add("widgets")
    kind = "Widget.example.org"
    gap, *ends = running.recording().unseen
    assert gap == f"{kind}: from 101 to 102 not watched: the version is too old"
    assert f"{kind}: not seen to the end: cannot list Widget.example.org: 404 page not found" in ends


def test_secrets_are_recorded_without_their_values(cluster: KubeCluster, feed: Feed, tmp_path: Path) -> None:
    path = tmp_path / "seen.jsonl"
    applied = {"kubectl.kubernetes.io/last-applied-configuration": '{"data":{"password":"aHVudGVyMg=="}}'}
    feed.put("secrets", "login", data={"password": "aHVudGVyMg=="}, meta={"annotations": applied})
    with recorder(cluster, path):
        feed.put("secrets", "login", data={"password": "aHVudGVyMg==", "other": "aHVudGVyMg=="})
        feed.put("secrets", "login", data={"password": "c2VjcmV0"})
    text = path.read_text()
    assert "aHVudGVyMg" not in text
    assert "c2VjcmV0" not in text
    same, other = (event.body["data"] for event in read(path).events if event.body)
    assert same["password"] == same["other"] != other["password"]


def test_field_managers_are_kept_and_what_the_promise_never_asks_is_not(
    cluster: KubeCluster, feed: Feed
) -> None:
    managed = [{"manager": "trapeze/shop", "operation": "Apply", "fieldsV1": {"f:data": {}}, "time": "now"}]
    applied = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "mine": "x"}
    feed.put("configmaps", "web", meta={"managedFields": managed, "annotations": applied})
    with recorder(cluster) as running:
        pass
    (body,) = running.recording().first.values()
    assert body["metadata"]["managedFields"] == [{"manager": "trapeze/shop", "operation": "Apply"}]
    assert body["metadata"]["annotations"] == {"mine": "x"}


@pytest.mark.parametrize("name", ["seen.jsonl", "seen.jsonl.gz"])
def test_a_file_is_read_as_it_was_recorded(
    cluster: KubeCluster, feed: Feed, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    feed.put("configmaps", "conf")
    terms = Terms(minimum=2)
    with recorder(cluster, path) as running:
        running.announce(terms)
        feed.drop("configmaps", "conf")
        running.stop()
    assert read(path) == running.recording()
    assert read(path).terms == terms
    verdict = verify(path, ROUTES)
    assert [str(broken) for broken in verdict.broken] == [
        "foreign object: ConfigMap shop/conf: it is foreign and was deleted (at 102 (12:00), 1 state)"
    ]
    known = Terms(retired=frozenset({ObjectId("", "ConfigMap", "shop", "conf")}))
    assert verify(path, ROUTES, known).is_kept
    with pytest.raises(SourceError, match="cannot be written"):
        recorder(cluster, path).__enter__()


def test_a_recording_without_its_end_is_not_whole(cluster: KubeCluster, feed: Feed, tmp_path: Path) -> None:
    path = tmp_path / "cut.jsonl"
    with recorder(cluster, path):
        feed.put("configmaps", "conf")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    assert read(path).unseen == ("the recording was not ended: what came last is not whole",)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "line 1: no recording of format 1: the file is empty"),
        (b'{"recording":2}\n', "line 1: no recording of format 1"),
        (b'{"listed":"Pod"}\n', "line 1: no recording of format 1"),
        (b'{"recording":1}\nnonsense\n', "line 2: invalid literal"),
        (b'{"recording":1}\n{"odd":1}\n', "no line of a recording: ['odd']"),
        (
            b'{"recording":1}\n{"event":"ADDED","version":"7"}\n',
            "no line of a recording: ['event', 'version']",
        ),
        (
            b'{"recording":1}\n{"listed":"Pod","version":1,"items":["web"]}\n',
            "line 2 of the recording is damaged: no object",
        ),
        (
            b'{"recording":1}\n{"event":"ADDED","version":1,"time":"","body":{"kind":"Pod","metadata":{}}}\n',
            "line 2 of the recording is damaged: no object: apiVersion: field required",
        ),
        (b'{"recording":1}\n{"terms":{"minimum":1}}\n', "line 2 of the recording is damaged: "),
    ],
)
def test_a_file_that_is_no_recording_is_named(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_bytes(content)
    with pytest.raises(SourceError) as caught:
        read(path)
    assert says in str(caught.value)


def test_a_missing_and_a_damaged_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"gone\.jsonl cannot be read"):
        read(tmp_path / "gone.jsonl")
    path = tmp_path / "cut.jsonl.gz"
    for damaged in (b"no gzip", gzip.compress(b"{}", mtime=0)[:10] + b"\xff" * 20):
        path.write_bytes(damaged)
        with pytest.raises(SourceError, match=r"cut\.jsonl\.gz cannot be read"):
            read(path)


def test_a_list_that_fails_at_the_start_leaves_nothing_running(
    cluster: KubeCluster, wire: Wire, tmp_path: Path
) -> None:
    wire.answer("GET /api/v1/secrets", status(403, "Forbidden", "no secrets for you"))
    running = recorder(cluster, tmp_path / "seen.jsonl")
    with pytest.raises(ClusterError, match="cannot list Secret"):
        running.__enter__()
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("record-")]


def test_the_kinds_are_those_of_the_promise_that_are_served_and_can_be_watched() -> None:
    def served(kind: str, group: str = "", verbs: frozenset[str] = VERBS) -> tuple[GroupKind, Resource]:
        found = GroupKind(group, kind)
        return found, Resource(found, ("v1",), kind.lower(), is_namespaced=True, verbs=verbs)

    route = "route.openshift.io"
    kinds = [served("Pod"), served("Node"), served("Widget", "example.org"), served("Route", route)]
    kinds.append(served("Secret", verbs=frozenset({"list"})))
    found = kinds_to_record(Discovery(dict(kinds), {}), ROUTES.policy, [GroupKind("example.org", "Widget")])
    assert [str(resource.kind) for resource in found] == ["Pod", "Widget.example.org", f"Route.{route}"]
