"""A port with faults: what a process that is killed, or a request that fails, does to the one that asks."""

# ruff: noqa: D102 - the port's own docstrings say what each method does

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from threading import Event, RLock
from typing import Any, NamedTuple, TypeAlias

from agent.core.model import Body, GroupKind, ObjectId
from agent.core.policy import id_of
from agent.core.propagation import Propagation
from agent.shell.cluster import Cluster, Discovery, Document, Listing, Resource, WatchEvent

WRITES = frozenset({"apply", "create", "replace", "replace_status", "delete"})


class Call(NamedTuple):
    """One request: the port's method, the kind and the object or namespace that it is about."""

    method: str
    kind: GroupKind | None = None
    about: str = ""

    @property
    def is_write(self) -> bool:
        """Whether it changes something."""
        return self.method in WRITES


Hook: TypeAlias = Callable[[Call, Callable[[], Any]], Any]
"""Is given a request and how to make it; answers in its place."""


@dataclass
class Hooked:
    """The port ``inner`` whose every request goes through ``hook``."""

    inner: Cluster
    hook: Hook

    def discover(self) -> Discovery:
        answer: Discovery = self.hook(Call("discover"), self.inner.discover)
        return answer

    def list(self, resource: Resource, namespace: str = "", selector: str = "") -> Listing:
        call = Call("list", resource.kind, namespace)
        answer: Listing = self.hook(call, lambda: self.inner.list(resource, namespace, selector))
        return answer

    def list_metadata(self, resource: Resource, namespace: str = "", selector: str = "") -> Listing:
        call = Call("list_metadata", resource.kind, namespace)
        answer: Listing = self.hook(call, lambda: self.inner.list_metadata(resource, namespace, selector))
        return answer

    def get(self, resource: Resource, object_id: ObjectId) -> Body | None:
        call = Call("get", resource.kind, object_id.path)
        answer: Body | None = self.hook(call, lambda: self.inner.get(resource, object_id))
        return answer

    def apply(self, resource: Resource, body: Body, *, manager: str, take_over: bool = False) -> Body:
        return self._sent("apply", resource, body, manager=manager, take_over=take_over)

    def dry_run(self, resource: Resource, body: Body, *, manager: str, take_over: bool = False) -> Body:
        return self._sent("dry_run", resource, body, manager=manager, take_over=take_over)

    def delete(
        self,
        resource: Resource,
        object_id: ObjectId,
        *,
        uid: str,
        resource_version: str,
        propagation: Propagation = Propagation.BACKGROUND,
    ) -> None:
        call = Call("delete", resource.kind, object_id.path)
        self.hook(
            call,
            lambda: self.inner.delete(
                resource, object_id, uid=uid, resource_version=resource_version, propagation=propagation
            ),
        )

    def can(self, verb: str, resource: Resource, namespace: str = "", name: str = "") -> str:
        call = Call("can", resource.kind, f"{verb} {namespace}")
        answer: str = self.hook(call, lambda: self.inner.can(verb, resource, namespace, name))
        return answer

    def whoami(self) -> str:
        answer: str = self.hook(Call("whoami"), self.inner.whoami)
        return answer

    def create(self, resource: Resource, body: Body) -> Body:
        return self._sent("create", resource, body)

    def replace(self, resource: Resource, body: Body) -> Body:
        return self._sent("replace", resource, body)

    def replace_status(self, resource: Resource, body: Body) -> Body:
        return self._sent("replace_status", resource, body)

    def read(self, path: str) -> int:
        answer: int = self.hook(Call("read", about=path), lambda: self.inner.read(path))
        return answer

    def log(self, pod: ObjectId, lines: int) -> str:
        answer: str = self.hook(Call("log", about=pod.path), lambda: self.inner.log(pod, lines))
        return answer

    def openapi(self, api_versions: Collection[str]) -> Mapping[str, Document]:
        call = Call("openapi")
        answer: Mapping[str, Document] = self.hook(call, lambda: self.inner.openapi(api_versions))
        return answer

    def verify_serving(self, namespace: str, service: str, port: int, bundle: str) -> str:
        call = Call("verify_serving", about=f"{namespace}/{service}:{port}")
        answer: str = self.hook(call, lambda: self.inner.verify_serving(namespace, service, port, bundle))
        return answer

    def watch(self, resource: Resource, resource_version: str, stop: Event) -> Iterator[WatchEvent]:
        yield from self.inner.watch(resource, resource_version, stop)

    def _sent(self, method: str, resource: Resource, body: Body, **options: Any) -> Body:
        call = Call(method, resource.kind, id_of(body).path)
        answer: Body = self.hook(call, lambda: getattr(self.inner, method)(resource, body, **options))
        return answer


class Killed(BaseException):
    """The process ended here. Nothing of the agent catches it."""


@dataclass
class Kill:
    """Ends the process at its ``at``-th write (from 1), before or after the server carries it out."""

    at: int
    is_done: bool
    writes: int = 0
    is_dead: bool = False
    lock: RLock = field(default_factory=RLock)

    def __call__(self, call: Call, do: Callable[[], Any]) -> Any:
        with self.lock:
            self.writes += call.is_write
            if not self.is_dead and call.is_write and self.writes == self.at:
                self.is_dead = True
                if self.is_done:
                    do()
            if self.is_dead:
                raise Killed
            return do()


@dataclass
class Fail:
    """Fails the ``at``-th request that ``concerns`` chooses (from 1), once, before or after it is done."""

    at: int
    error: Exception
    is_done: bool
    concerns: Callable[[Call], bool] = lambda call: call.is_write
    seen: int = 0
    lock: RLock = field(default_factory=RLock)

    def __call__(self, call: Call, do: Callable[[], Any]) -> Any:
        with self.lock:
            self.seen += self.concerns(call)
            if not self.concerns(call) or self.seen != self.at:
                return do()
            if self.is_done:
                do()
            raise copy(self.error)


@dataclass
class FailEachOnce:
    """Fails every different request once, when it is made for the first time."""

    error: Exception
    is_done: bool
    met: set[Call] = field(default_factory=set)
    lock: RLock = field(default_factory=RLock)

    def __call__(self, call: Call, do: Callable[[], Any]) -> Any:
        with self.lock:
            if call in self.met:
                return do()
            self.met.add(call)
            if self.is_done:
                do()
            raise copy(self.error)


@dataclass
class Note:
    """Fails nothing and notes every request."""

    calls: list[Call] = field(default_factory=list)
    lock: RLock = field(default_factory=RLock)

    def __call__(self, call: Call, do: Callable[[], Any]) -> Any:
        with self.lock:
            self.calls.append(call)
            return do()

    def count(self, *methods: str) -> int:
        """How many requests used one of these methods of the port."""
        return sum(call.method in methods for call in self.calls)
