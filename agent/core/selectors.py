"""Objects named by their labels: what a label selector matches.

Source: kubernetes.io/docs/concepts/overview/working-with-objects/labels (set-based requirements).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Requirement(NamedTuple):
    """One matchExpression of a LabelSelector: ``operator`` is In, NotIn, Exists or DoesNotExist."""

    key: str
    operator: str
    values: tuple[str, ...]

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels meet it; an operator that is not known is met by nothing."""
        match self.operator:
            case "In":
                return labels.get(self.key) in self.values
            case "NotIn":
                return labels.get(self.key) not in self.values
            case "Exists":
                return self.key in labels
            case "DoesNotExist":
                return self.key not in labels
            case _:
                return False

    def __str__(self) -> str:
        """``tier in (a,b)``, as kubectl writes it."""
        match self.operator:
            case "In" | "NotIn":
                return f"{self.key} {self.operator.lower()} ({','.join(self.values)})"
            case "DoesNotExist":
                return f"!{self.key}"
            case _:
                return self.key


class Labels(NamedTuple):
    """What labels must have; no pairs and no requirements is met by everything."""

    pairs: tuple[tuple[str, str], ...] = ()
    requirements: tuple[Requirement, ...] = ()

    def match(self, labels: Mapping[str, str]) -> bool:
        """Whether these labels meet it."""
        return all(labels.get(key) == value for key, value in self.pairs) and all(
            requirement.matches(labels) for requirement in self.requirements
        )

    def __str__(self) -> str:
        """``app=web,tier in (a,b)``; empty for everything."""
        return ",".join([*(f"{key}={value}" for key, value in self.pairs), *map(str, self.requirements)])


def labels_wanted(value: Any, select: str) -> Labels | None:
    """What the value of a selector wants; None for nothing.

    ``select`` is ``labels`` (a map, that selects nothing when it is empty, as a Service's) or
    ``label-selector`` (that selects everything when it is empty).
    """
    if not isinstance(value, dict):
        return None
    if select == "labels":
        return Labels(_pairs(value)) if value else None
    requirements = tuple(
        Requirement(str(one.get("key")), str(one.get("operator")), tuple(map(str, one.get("values") or ())))
        for one in value.get("matchExpressions") or ()
    )
    return Labels(_pairs(value.get("matchLabels") or {}), requirements)


def _pairs(labels: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((str(key), str(value)) for key, value in labels.items()))
