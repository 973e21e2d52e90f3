"""A sync that kills its own process at a chosen write: `python -m tests.e2e.mortal CONFIG WHEN REQUEST NTH`.

WHEN is `before` (the request never goes out) or `after` (it was answered, and nobody hears of it). REQUEST is
`VERB KIND NAME`, as in `apply APIService v3.projectcalico.org`, or `any write`; NTH counts such requests from
1. Dry runs and reads are not counted. What was answered goes into a log beside CONFIG (see ``twice``).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any

from agent.build import syncer_of, tools_of
from agent.core.model import Body, ObjectId
from agent.core.propagation import Propagation
from agent.settings import load_settings
from agent.shell.cluster import Cluster, Resource
from agent.shell.report import State
from tests.e2e.command import ROOT

PAUSE = 0.2
ANY = "any write"
A_STEP = 3
"""Writes of a step by a new process: what was left open is closed, the intent, the step itself."""
LOG = "writes.jsonl"
ENDS = (State.IN_SERVICE, State.ABSENT)


@dataclass(frozen=True)
class Moment:
    """When to die."""

    when: str
    request: str
    nth: int


class Mortal:
    """A port to a cluster that kills its process with SIGKILL at a moment; all else goes to ``cluster``.

    ``log`` gets a line for each write that the server answered.
    """

    def __init__(self, cluster: Cluster, moment: Moment, log: Path) -> None:
        self._cluster = cluster
        self._moment = moment
        self._log = log
        self._seen = 0
        self._lock = Lock()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)

    def apply(self, resource: Resource, body: Body, *, manager: str, take_over: bool = False) -> Body:
        """Apply, or die."""
        with self._write("apply", resource, _id(resource, body), body):
            return self._cluster.apply(resource, body, manager=manager, take_over=take_over)

    def delete(
        self,
        resource: Resource,
        object_id: ObjectId,
        *,
        uid: str,
        resource_version: str,
        propagation: Propagation = Propagation.BACKGROUND,
    ) -> None:
        """Delete, or die."""
        with self._write("delete", resource, object_id, {"uid": uid}):
            self._cluster.delete(
                resource, object_id, uid=uid, resource_version=resource_version, propagation=propagation
            )

    def create(self, resource: Resource, body: Body) -> Body:
        """Create, or die."""
        with self._write("create", resource, _id(resource, body), body):
            return self._cluster.create(resource, body)

    def replace_status(self, resource: Resource, body: Body) -> Body:
        """Replace the status, or die."""
        with self._write("replace_status", resource, _id(resource, body), body):
            return self._cluster.replace_status(resource, body)

    def replace(self, resource: Resource, body: Body) -> Body:
        """Replace, or die."""
        with self._write("replace", resource, _id(resource, body), body):
            return self._cluster.replace(resource, body)

    @contextmanager
    def _write(self, verb: str, resource: Resource, key: ObjectId, content: Body) -> Iterator[None]:
        is_meant = self._moment.request in (f"{verb} {resource.kind.kind} {key.name}", ANY)
        with self._lock:
            self._seen += is_meant
            is_it = is_meant and self._seen == self._moment.nth
        if is_it and self._moment.when == "before":
            die()
        yield
        with self._lock, self._log.open("a") as log:
            log.write(json.dumps([str(key), verb, _without_version(content)], sort_keys=True) + "\n")
        if is_it:
            die()


def _id(resource: Resource, body: Body) -> ObjectId:
    return ObjectId(*resource.kind, body["metadata"].get("namespace", ""), body["metadata"]["name"])


def _without_version(content: Body) -> Body:
    """What is written: a precondition on what stands there already is not part of it."""
    metadata = {k: v for k, v in content.get("metadata", {}).items() if k != "resourceVersion"}
    return {**content, "metadata": metadata}


def twice(config: Path) -> list[str]:
    """Objects that the processes wrote, and wrote again with the same content and nothing in between."""
    last: dict[str, str] = {}
    found = []
    for line in (config.parent / LOG).read_text().splitlines():
        key = json.loads(line)[0]
        if last.get(key) == line:
            found.append(key)
        last[key] = line
    return found


def die() -> None:
    """End this process as `kill -9` does."""
    os.kill(os.getpid(), signal.SIGKILL)


def ended(config: Path, moment: Moment) -> int:
    """Sync in a process that dies at the moment; its return code, 0 where it came to the end first."""
    words = [str(config), moment.when, moment.request, str(moment.nth)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.e2e.mortal", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode in (0, -signal.SIGKILL), f"{moment}: {done.returncode} {done.stdout} {done.stderr}"
    return done.returncode


def killed_at(config: Path, moments: Iterable[Moment]) -> None:
    """Sync in processes that die at these moments, one after the other; AssertionError where one does not."""
    for moment in moments:
        assert ended(config, moment) == -signal.SIGKILL, moment


def killed_until_the_end(config: Path, writes: int = 6) -> int:
    """Sync in processes that die before and after their first, second ... write; how many did.

    ``writes``: how many a process gets to at most; with fewer than ``A_STEP`` none ever takes a step.
    """
    kills = 0
    while ended(config, Moment(("before", "after")[kills % 2], ANY, kills // 2 % writes + 1)) != 0:
        kills += 1
    return kills


def main(config: Path, moment: Moment) -> None:
    """Sync until in service, or absent; whoever gets there has not met the moment."""
    settings = load_settings(config)
    tools = tools_of(settings)
    mortal = Mortal(tools.cluster, moment, config.parent / LOG)
    tools = replace(tools, cluster=mortal, store=type(tools.store)(mortal, settings.ledger_namespace))
    syncer = syncer_of(settings, settings.sets[0], tools)
    while syncer.tick().state not in ENDS:
        time.sleep(PAUSE)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Moment(sys.argv[2], sys.argv[3], int(sys.argv[4])))
