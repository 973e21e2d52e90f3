"""Kubernetes quantities: the same amount has many spellings (``1000m`` = ``1``, ``1Gi`` != ``1G``).

Source: kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal
from typing import Any, Final

_FORM: Final = re.compile(
    r"([+-]?(?:\d+\.?\d*|\.\d+))(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d{1,3}))?", re.ASCII
)
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY: Final = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_EXACT: Final = Context(prec=80)


def amount(value: Any) -> Decimal | None:
    """The exact amount that a quantity says; None for what is no quantity."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    match = _FORM.fullmatch(str(value))
    if match is None:
        return None
    number, suffix, exponent = match.groups()
    scale = Decimal(1024) ** _BINARY[suffix] if suffix in _BINARY else Decimal(1)
    power = int(exponent) if exponent else _DECIMAL.get(suffix or "", 0)
    return _EXACT.scaleb(_EXACT.multiply(Decimal(number), scale), power)


def canonical(value: Any) -> str | None:
    """One spelling for every spelling of an amount; None for what is no quantity."""
    exact = amount(value)
    return None if exact is None else str(_EXACT.normalize(exact) + 0)
