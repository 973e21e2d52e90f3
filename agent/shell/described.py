"""What the API server's own documents say of the kinds that are synced, derived once for each document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agent.core.model import Desired, Finding, GroupKind, Live, ObjectId, Severity
from agent.core.policy import Policy
from agent.core.schemas import Schema, described
from agent.core.validation.checks import with_refusals
from agent.core.validation.structures import Structures
from agent.errors import ClusterError
from agent.shell.cluster import Cluster, Document


class Describer:
    """Asks the cluster, and keeps what came of the documents until one of them changes.

    ``policy`` are the tables with the server's lists and defaults over them, as of the last look.
    """

    def __init__(self, tables: Policy) -> None:
        self.policy = tables
        self._tables = tables
        self._structures = Structures()
        self._keys: frozenset[tuple[str, str]] = frozenset()

    def look(
        self, cluster: Cluster, desired: Desired, live: Live, manager: str
    ) -> tuple[Desired, Mapping[ObjectId, Finding]]:
        """The set with what the server would refuse of it, and the objects that have no steps for that.

        ``manager`` is the field manager that would apply it to what is ``live``. Where the documents
        cannot be read the tables stand in, which is told.
        """
        versions = {manifest.api_version for manifest in desired.manifests.values()}
        findings = desired.findings
        try:
            self._take(cluster.openapi(versions))
        except ClusterError as error:
            told = f"the server's OpenAPI documents cannot be read, the shipped tables stand in: {error}"
            findings = (*findings, Finding(Severity.WARNING, told))
        desired = replace(desired, findings=findings)
        return with_refusals(desired, self.policy, self._structures, live, manager)

    def _take(self, documents: Mapping[str, Document]) -> None:
        keys = frozenset((api_version, document.key) for api_version, document in documents.items())
        if keys == self._keys:
            return
        schemas: dict[GroupKind, Schema] = {}
        structures = Structures()
        for api_version, document in sorted(documents.items()):
            schemas |= described(document.body, api_version)
            structures = structures.with_document(document.body)
        self.policy = self._tables.with_schemas(schemas)
        self._structures, self._keys = structures, keys
