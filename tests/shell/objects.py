"""A small API server's storage behind ``wire``: ConfigMaps and Namespaces with versions and preconditions."""

from __future__ import annotations

import copy
import itertools
import threading
from dataclasses import dataclass, field
from typing import Any

from tests.shell.wire import Answer, Seen, status

Key = tuple[str, ...]
NAMESPACE = "/api/v1/namespaces"


def _labels(selector: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in selector.split(",") if part)
    return {name: value for name, _, value in pairs}


@dataclass
class Objects:
    """Answers GET, LIST, POST, PUT and DELETE below ``/api/v1/namespaces`` as the API server does."""

    stored: dict[Key, dict[str, Any]] = field(default_factory=dict)
    writes: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    counter: Any = field(default_factory=lambda: itertools.count(1))

    def names(self) -> list[str]:
        """The names of all ConfigMaps, sorted."""
        return sorted(key[-1] for key in self.stored if len(key) == 3)

    def answer(self, seen: Seen) -> Answer:
        """The answer, with the effect that it tells of."""
        key = tuple(seen.path.removeprefix(NAMESPACE).strip("/").split("/")) if seen.path != NAMESPACE else ()
        with self.lock:
            if seen.method == "GET":
                return self._get(key, seen)
            self.writes.append(f"{seen.method} {seen.path}")
            if seen.method == "POST":
                return self._create(key, copy.deepcopy(seen.body))
            there = self.stored.get(key)
            if there is None:
                return status(404, "NotFound", f"{key[-1]} not found", name=key[-1])
            if seen.method == "PUT":
                return self._replace(key, there, copy.deepcopy(seen.body))
            return self._delete(key, there, (seen.body or {}).get("preconditions") or {})

    def _get(self, key: Key, seen: Seen) -> Answer:
        if len(key) == 2:
            wanted = _labels(seen.query.get("labelSelector", "")).items()
            items = [obj for at, obj in sorted(self.stored.items()) if at[:-1] == key and len(at) == 3]
            chosen = [obj for obj in items if wanted <= (obj["metadata"].get("labels") or {}).items()]
            return Answer(body={"metadata": {"resourceVersion": "1"}, "items": chosen})
        there = self.stored.get(key)
        return Answer(body=there) if there else status(404, "NotFound", "not found", name=key[-1])

    def _create(self, folder: Key, body: dict[str, Any]) -> Answer:
        key = (*folder, body["metadata"]["name"])
        if folder and (folder[0],) not in self.stored:
            return status(404, "NotFound", f'namespaces "{folder[0]}" not found', name=folder[0])
        if key in self.stored:
            return status(409, "AlreadyExists", f"{key[-1]} already exists", name=key[-1])
        body["metadata"]["uid"] = f"uid-{next(self.counter)}"
        return self._store(key, body, 201)

    def _replace(self, key: Key, there: dict[str, Any], body: dict[str, Any]) -> Answer:
        old = there["metadata"]["resourceVersion"]
        if body["metadata"].get("resourceVersion", old) != old:
            return status(409, "Conflict", "the object has been modified", name=key[-1])
        if there.get("immutable") and body.get("data") != there.get("data"):
            return status(422, "Invalid", "field is immutable when `immutable` is set")
        body["metadata"] |= {"uid": there["metadata"]["uid"], "resourceVersion": old}
        return Answer(body=there) if body == there else self._store(key, body, 200)

    def _delete(self, key: Key, there: dict[str, Any], preconditions: dict[str, str]) -> Answer:
        for name, value in preconditions.items():
            if there["metadata"][name] != value:
                return status(409, "Conflict", f"the {name} in the precondition does not match", name=key[-1])
        del self.stored[key]
        return Answer(body={"kind": "Status", "status": "Success"})

    def _store(self, key: Key, body: dict[str, Any], code: int) -> Answer:
        body["metadata"]["resourceVersion"] = str(next(self.counter))
        self.stored[key] = body
        return Answer(code, body)
