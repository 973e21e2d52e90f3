"""Records what a cluster goes through: every kind that the promise speaks of, listed and then watched.

One thread a kind follows its watch; whatever a watch missed is written down as unseen, never passed over.
A custom kind comes and goes with its definition, and each write of that ends the watches of its kind. It was
missed in nothing where every object stands at the version seen last, and over where none was left: the server
deletes all objects of a kind, for every watch to see, before it stops to serve it.
``stop`` returns when every watch has seen what a fresh list shows, so that nothing at the end is missing.
Give it a connection of its own with as many connections as kinds (``connect(pool_size=...)``).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from threading import Condition, Event, Thread
from time import monotonic
from types import TracebackType
from typing import IO, Final, Self

from agent.core.model import Body, GroupKind, ObjectId
from agent.core.policy import Policy, group_kind, id_of
from agent.core.promise import WATCHED
from agent.core.terms import Terms, to_json
from agent.errors import ClusterError, Conflict, NotServed
from agent.shell import recording
from agent.shell.cluster import Cluster, Discovery, Listing, Resource
from agent.shell.recording import DELETED, Line, Recording

PATIENCE: Final = 30.0
"""Seconds that ``stop`` waits for the watches to catch up."""

_PAUSE: Final = 1.0
_NEEDED: Final = frozenset({"list", "watch"})


def kinds_to_record(
    discovery: Discovery, policy: Policy, extra: Iterable[GroupKind] = ()
) -> tuple[Resource, ...]:
    """The resources that the promise speaks of, as far as they are served: WATCHED, pointers, ``extra``."""
    named = {group_kind(kind) for row in policy.tables.pointers for kind in row.kind}
    wanted = {*WATCHED, *named, *extra}
    served = (discovery.resources[kind] for kind in sorted(wanted) if kind in discovery.resources)
    return tuple(resource for resource in served if resource.verbs >= _NEEDED)


class Recorder:
    """A context manager: recording has begun inside, and is whole after it.

    ``path`` is a new file (gzipped where it ends in .gz); without it the lines stay in memory.
    """

    def __init__(
        self,
        cluster: Cluster,
        resources: Sequence[Resource],
        path: Path | None = None,
        *,
        clock: Callable[[], str] = lambda: datetime.now(UTC).isoformat(timespec="milliseconds"),
    ) -> None:
        self._cluster = cluster
        self._resources = resources
        self._path = path
        self._clock = clock
        self._key = secrets.token_bytes(32)
        self._lines: list[Line] = []
        self._file: IO[bytes] | None = None
        self._exit = ExitStack()
        self._stop = Event()
        self._changed = Condition()
        self._seen: dict[GroupKind, dict[ObjectId, int]] = {}
        self._gone: dict[ObjectId, int] = {}
        self._threads: list[Thread] = []

    def __enter__(self) -> Self:
        """List every kind and begin to watch it. Raises ClusterError, or SourceError for the file."""
        if self._path is not None:
            self._file = self._exit.enter_context(recording.open_for_writing(self._path))
        with self._exit.pop_all() as undo:
            undo.callback(self._end_threads)
            self._put({"recording": recording.FORMAT, "started": self._clock()})
            for resource in self._resources:
                version = self._first_list(resource)
                thread = Thread(
                    target=self._follow,
                    args=(resource, version),
                    name=f"record-{resource.plural}",
                    daemon=True,
                )
                thread.start()
                self._threads.append(thread)
            self._exit = undo.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop, and close the file."""
        try:
            self.stop()
        finally:
            self._exit.close()

    def announce(self, terms: Terms) -> None:
        """Put down what the upgrade gives up, so that the file can be verified by itself."""
        self._put({"terms": to_json(terms)})

    def stop(self) -> None:
        """End the recording when every watch has seen all that a list shows now; again is no error.

        What cannot be listed, or was not seen within PATIENCE seconds, is put down as unseen.
        """
        if self._stop.is_set():
            return
        ends = [end for end in map(self._catch_up, self._resources) if end]
        self._end_threads()
        # Every kind was followed at least up to the earliest of these lists: to there the states are whole.
        self._put({"end": min(ends, default=0), "time": self._clock()})

    def recording(self) -> Recording:
        """The history recorded; call it after the end. Raises SourceError when the file is gone."""
        return recording.assemble(self._lines) if self._path is None else recording.read(self._path)

    def _end_threads(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _put(self, line: Line) -> None:
        with self._changed:
            if self._file is None:
                self._lines.append(line)
            else:
                self._file.write(recording.encoded(line))

    def _first_list(self, resource: Resource) -> str:
        listing = self._cluster.list(resource)
        items = [recording.kept(body, self._key) for body in listing.items]
        self._seen[resource.kind] = {id_of(body): _version(body) for body in items}
        self._put({"listed": str(resource.kind), "version": int(listing.resource_version), "items": items})
        return listing.resource_version

    def _follow(self, resource: Resource, version: str) -> None:
        try:
            self._watch(resource, version)
        except Exception as error:
            # A thread that dies alone must not look like a cluster in which nothing happens.
            self._miss(resource, f"the recorder failed: {error!r}")
            raise

    def _watch(self, resource: Resource, version: str) -> None:
        while not self._stop.is_set():
            try:
                for event in self._cluster.watch(resource, version, self._stop):
                    self._saw(resource.kind, event.type, event.body)
                    version = str(event.body["metadata"]["resourceVersion"])
            except ClusterError as error:
                if self._stop.is_set():
                    return
                # An error is no evidence that nothing happened: what a new list cannot show was missed.
                version = self._list_again(resource, version, error)

    def _list_again(self, resource: Resource, version: str, error: ClusterError) -> str:
        reason = "the version is too old" if isinstance(error, Conflict) else str(error)
        is_over = False
        while not self._stop.is_set():
            try:
                listing = self._cluster.list(resource)
            except ClusterError as again:
                reason = str(again)
                is_over = isinstance(again, NotServed) and self._is_over(resource.kind)
                self._stop.wait(_PAUSE)
                continue
            if not self._is_untouched(resource.kind, listing):
                self._miss(resource, f"from {version} to {listing.resource_version} not watched: {reason}")
            self._take(resource.kind, listing)
            return listing.resource_version
        if not is_over:
            self._miss(resource, f"from {version} on not watched: {reason}")
        return version

    def _is_over(self, kind: GroupKind) -> bool:
        return kind not in WATCHED and not self._seen[kind]

    def _ends(self, kind: GroupKind) -> bool:
        if kind in WATCHED:
            return False
        with self._changed:
            return self._changed.wait_for(lambda: self._is_over(kind), PATIENCE)

    def _is_untouched(self, kind: GroupKind, listing: Listing) -> bool:
        return kind not in WATCHED and self._seen[kind] == {id_of(b): _version(b) for b in listing.items}

    def _miss(self, resource: Resource, what: str) -> None:
        self._put({"unseen": f"{resource.kind}: {what}"})

    def _take(self, kind: GroupKind, listing: Listing) -> None:
        """Put down what differs between a new list and what was seen, each object once."""
        items = {id_of(body): body for body in listing.items}
        seen = self._seen[kind]
        for object_id, body in items.items():
            if _version(body) != seen.get(object_id):
                self._saw(kind, "MODIFIED" if object_id in seen else "ADDED", body)
        for object_id in seen.keys() - items.keys():
            self._saw(kind, DELETED, _absent(object_id, kind, listing.resource_version))

    def _saw(self, kind: GroupKind, what: str, body: Body) -> None:
        body = recording.kept(body, self._key)
        object_id, version = id_of(body), _version(body)
        self._put({"event": what, "version": version, "time": self._clock(), "body": body})
        with self._changed:
            if what == DELETED:
                self._seen[kind].pop(object_id, None)
                self._gone[object_id] = version
            else:
                self._seen[kind][object_id] = version
            self._changed.notify_all()

    def _catch_up(self, resource: Resource) -> int:
        """The version up to which this kind was seen whole; 0 where that cannot be said."""
        try:
            listing = self._cluster.list_metadata(resource)
        except ClusterError as error:
            if not (isinstance(error, NotServed) and self._ends(resource.kind)):
                self._miss(resource, f"not seen to the end: {error}")
            return 0
        deadline = monotonic() + PATIENCE
        with self._changed:
            while missing := self._missing(resource.kind, listing):
                left = deadline - monotonic()
                if left <= 0:
                    self._miss(resource, f"{missing} was not seen within {PATIENCE:g} s")
                    return 0
                self._changed.wait(left)
        return int(listing.resource_version)

    def _missing(self, kind: GroupKind, listing: Listing) -> str:
        """Something that the list shows and the watch has not shown yet, or empty."""
        seen, end = self._seen[kind], int(listing.resource_version)
        listed = {id_of(body): _version(body) for body in listing.items}
        for object_id, version in listed.items():
            if max(seen.get(object_id, 0), self._gone.get(object_id, 0)) < version:
                return f"{object_id} at {version}"
        gone = (
            object_id for object_id, version in seen.items() if version <= end and object_id not in listed
        )
        return next((f"the end of {object_id}" for object_id in gone), "")


def _version(body: Body) -> int:
    return int(body["metadata"]["resourceVersion"])


def _absent(object_id: ObjectId, kind: GroupKind, version: str) -> Body:
    """The body of a deletion that was not seen: the object is gone at this version at the latest."""
    metadata = {"namespace": object_id.namespace, "name": object_id.name, "resourceVersion": version}
    api_version = f"{kind.group}/v1" if kind.group else "v1"
    return {"apiVersion": api_version, "kind": kind.kind, "metadata": metadata}
