"""Secret values as digests before anything is shown.

The digest is keyed anew for each run: an unkeyed one in a public comment could be guessed. Equal values have
equal digests within a run, whether they are written under ``data`` or ``stringData``. Masking is for showing
only; what is compared and what is sent are the true values.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Collection
from dataclasses import replace
from typing import Any, Final

from agent.core.model import ABSENT, Body, FieldChange, FieldPath, GroupKind
from agent.core.policy import group_kind_of
from agent.core.steps import Change

SECRETS: Final = frozenset({GroupKind("", "Secret")})
"""Kinds whose values are masked where the caller names no others."""

_ENCODED: Final = ("data",)
_CLEAR: Final = ("stringData",)
_ANNOTATIONS: Final = ("metadata", "annotations")


def masked(change: Change, key: bytes, kinds: Collection[GroupKind] = SECRETS) -> Change:
    """The change with the values of Secrets as digests under ``key``; any other change as it stands."""
    if change.id.group_kind not in kinds:
        return change
    return replace(change, fields=tuple(_masked_field(one, key) for one in change.fields))


def masked_body(body: Body, key: bytes, kinds: Collection[GroupKind] = SECRETS) -> Body:
    """The body with the values of a Secret as digests under ``key``; any other body as it stands."""
    if group_kind_of(body) not in kinds:
        return body
    shown: Body = _masked((), body, key)
    return shown


def _masked_field(change: FieldChange, key: bytes) -> FieldChange:
    before, after = (
        value if value is ABSENT else _masked(change.path, value, key)
        for value in (change.before, change.after)
    )
    return replace(change, before=before, after=after)


def _masked(path: FieldPath, value: Any, key: bytes) -> Any:
    if path[:1] == _ENCODED or path[:1] == _CLEAR:
        return _digests(value, key, is_encoded=path[:1] == _ENCODED)
    # An annotation can hold a whole former object (kubectl's last-applied does), values and all.
    if path[:2] == _ANNOTATIONS and isinstance(value, str):
        return _digest(value.encode("utf-8", "surrogatepass"), key) if _is_object(value) else value
    if isinstance(value, dict):
        return {name: _masked((*path, name), below, key) for name, below in value.items()}
    return value


def _digests(value: Any, key: bytes, *, is_encoded: bool) -> Any:
    if isinstance(value, dict):
        return {name: _digests(below, key, is_encoded=is_encoded) for name, below in value.items()}
    if isinstance(value, str):
        return _digest(_decoded(value) if is_encoded else value.encode("utf-8", "surrogatepass"), key)
    # No valid Secret holds this, so its text may be a value that slipped its quotes.
    return None if value is None else _digest(json.dumps(value, sort_keys=True).encode(), key)


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return text.encode("utf-8", "surrogatepass")


def _digest(value: bytes, key: bytes) -> str:
    return f"masked {hmac.new(key, value, hashlib.sha256).hexdigest()[:8]}"


def _is_object(text: str) -> bool:
    return text.lstrip().startswith(("{", "["))
