"""A sync that is recorded: the file says what the upgrade gives up, so that it can be verified by itself."""

from __future__ import annotations

from agent.core.interruption import interrupting
from agent.core.model import Body, ObjectId
from agent.core.serving import Routes
from agent.core.situation import Rules
from agent.core.terms import Terms
from agent.shell.recorder import Recorder
from agent.shell.set_source import SetSource
from agent.shell.tick import Tools


class Announcer:
    """Puts the terms of one set's handoff into a recording, anew whenever the ref has moved on."""

    def __init__(
        self, recorder: Recorder, tools: Tools, source: SetSource, set_name: str, rules: Rules
    ) -> None:
        self._recorder = recorder
        self._source = source
        self._allowed = rules.allow_downtime
        self._routes = Routes(tools.policy, tools.health)
        self._kinds = tools.kinds.extended(tools.cluster.discover().kinds)
        last = tools.store.load(set_name)[0].last_in_service
        self._base = self._bodies(last.revision) if last else {}
        self._told = ""

    def announce(self) -> None:
        """Say what the revision that is desired now does without. Raises SourceError."""
        commit = self._source.resolve()
        if commit != self._told:
            wanted = self._bodies(commit)
            terms = Terms.between(self._base, wanted, self._routes)
            self._recorder.announce(interrupting(terms, self._base, wanted, self._allowed, self._routes))
            self._told = commit

    def _bodies(self, commit: str) -> dict[ObjectId, Body]:
        manifests = self._source.desired(commit, self._kinds).manifests
        return {key: manifest.body for key, manifest in manifests.items()}
