"""The rows of ``policies/validation.yaml``: what the API server refuses of an object, field by field."""

from __future__ import annotations

from typing import Literal

from agent.core.table_row import PathText, Row, Texts


class NameRow(Row):
    """How a text, the keys of a map or a map of labels at ``path`` is spelled.

    ``keys`` says that the keys of the map are meant. A row of a kind goes before one of all kinds.
    Source: kubernetes.io/docs/concepts/overview/working-with-objects/names.
    """

    form: Literal[
        "subdomain",
        "label",
        "subdomain-52",
        "subdomain-63",
        "segment",
        "port-name",
        "env-name",
        "config-key",
        "labels",
        "annotations",
    ]
    keys: bool = False


class UniqueRow(Row):
    """Items of the list at ``path`` (and of those ``beside`` it) that differ in the field ``by``.

    Lists with merge keys need no row: their keys are unique by themselves.
    """

    by: str
    beside: Texts = ()


class BoundRow(Row):
    """Numbers, or quantities, at ``path`` that are not below ``least`` and not above ``most``."""

    least: int = 0
    most: int | None = None


class AllowedRow(Row):
    """The ``values`` that a text at ``path`` may have, where the schema names none; empty is absent."""

    values: Texts


class ChoiceRow(Row):
    """Of these ``fields`` of the map at ``path`` at least ``least`` and at most ``most`` are filled."""

    fields: Texts
    least: int = 0
    most: int = 1

    @property
    def key(self) -> tuple[str, ...]:
        """One row for each choice of one map."""
        return (*super().key, *self.fields)


class SelectingRow(Row):
    """A selector at ``path`` that has to match the labels at ``labels`` of the same object."""

    labels: PathText
    select: Literal["labels", "label-selector"] = "label-selector"


class RemovalRow(Row):
    """API versions of these kinds (plain names) that Kubernetes ``removed`` serves no longer; what to use.

    Source: kubernetes.io/docs/reference/using-api/deprecation-guide.
    """

    api: Texts
    removed: str
    instead: str

    @property
    def key(self) -> tuple[str, ...]:
        """One row for each kind and its versions."""
        return (*self.kind, *self.api)


class FilledRow(Row):
    """A field that the schema calls required and the server fills in all the same."""
