"""Label selectors, as objects hold them and as requests spell them.

https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from agent.core.model import Body
from agent.errors import Invalid

TERM: Final = re.compile(r"(?P<key>[^\s=!,()]+)\s+(?P<operator>in|notin)\s*\((?P<values>[^)]*)\)|[^,]+")


def selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """A LabelSelector on labels; an empty one selects all. Raises ``Invalid`` on an unknown operator."""
    for key, value in (selector.get("matchLabels") or {}).items():
        if labels.get(key) != value:
            return False
    return all(_expressed(rule, labels) for rule in selector.get("matchExpressions") or ())


def _expressed(rule: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    value, values = labels.get(rule["key"]), rule.get("values") or ()
    match rule["operator"]:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case other:
            raise Invalid(f"{other!r} is no operator of a label selector")


def parsed(text: str) -> Body:
    """A request's ``labelSelector`` (``a=b,c!=d,e in (x,y),f,!g``) as a LabelSelector."""
    rules = []
    for term in TERM.finditer(text):
        if term["operator"]:
            values = [value.strip() for value in term["values"].split(",")]
            operator = "In" if term["operator"] == "in" else "NotIn"
            rules.append({"key": term["key"], "operator": operator, "values": values})
        else:
            rules.append(_simple(term[0].strip()))
    return {"matchExpressions": rules}


def _simple(term: str) -> Body:
    if "!=" in term:
        key, _, value = term.partition("!=")
        return {"key": key.strip(), "operator": "NotIn", "values": [value.strip()]}
    if "=" in term:
        key, _, value = term.replace("==", "=").partition("=")
        return {"key": key.strip(), "operator": "In", "values": [value.strip()]}
    is_absent = term.startswith("!")
    return {"key": term.lstrip("!"), "operator": "DoesNotExist" if is_absent else "Exists"}
