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
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

from agent.core.model import ABSENT, Body, FieldChange, FieldPath, GroupKind
from agent.core.policy import group_kind_of
from agent.core.steps import Change

SECRETS: Final = frozenset({GroupKind("", "Secret")})
"""Kinds whose values are masked where the caller names no others."""

_ENCODED: Final = ("data",)
_CLEAR: Final = ("stringData",)
_ANNOTATIONS: Final = ("metadata", "annotations")


_CONTAINED: Final = 6
"""From so many characters on a value is looked for inside an annotation: a shorter one is there by chance."""


def masked(change: Change, key: bytes, kinds: Collection[GroupKind] = SECRETS) -> Change:
    """The change with the values of Secrets as digests under ``key``; any other change as it stands."""
    if change.id.group_kind not in kinds:
        return change
    mask = _Mask(key, change.secrets)
    return replace(change, fields=tuple(_masked_field(one, mask) for one in change.fields))


def masked_body(body: Body, key: bytes, kinds: Collection[GroupKind] = SECRETS) -> Body:
    """The body with the values of a Secret as digests under ``key``; any other body as it stands."""
    if group_kind_of(body) not in kinds:
        return body
    shown: Body = _masked((), body, _Mask(key, secrets_of(body, kinds=kinds)))
    return shown


def secrets_of(*bodies: Body, kinds: Collection[GroupKind] = SECRETS) -> frozenset[str]:
    """The values that those of the bodies which are Secrets hold: as text, where they are, and as base64."""
    found = set()
    for body in bodies:
        if group_kind_of(body) in kinds:
            for text in _texts(body.get("data")):
                found |= {text, _decoded(text).decode("utf-8", "replace")}
            for text in _texts(body.get("stringData")):
                encoded = base64.b64encode(text.encode("utf-8", "surrogatepass"))
                found |= {text, encoded.decode()}
    return frozenset(value.strip() for value in found if value.strip())


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for below in value.values():
            yield from _texts(below)
    elif isinstance(value, str):
        yield value


class _Mask(NamedTuple):
    key: bytes
    secrets: frozenset[str]

    def digest(self, value: bytes) -> str:
        return f"masked {hmac.new(self.key, value, hashlib.sha256).hexdigest()[:8]}"

    def tells(self, text: str) -> bool:
        """Whether the text of an annotation holds a former object, or a value of the Secret's own."""
        if text.lstrip().startswith(("{", "[")) or text.strip() in self.secrets:
            return True
        return any(len(value) >= _CONTAINED and value in text for value in self.secrets)


def _masked_field(change: FieldChange, mask: _Mask) -> FieldChange:
    before, after = (
        value if value is ABSENT else _masked(change.path, value, mask)
        for value in (change.before, change.after)
    )
    return replace(change, before=before, after=after)


def _masked(path: FieldPath, value: Any, mask: _Mask) -> Any:
    if path[:1] == _ENCODED or path[:1] == _CLEAR:
        return _digests(value, mask, is_encoded=path[:1] == _ENCODED)
    # kubectl's last-applied holds a whole former object; OpenShift's token-secret.value is a value itself.
    if path[:2] == _ANNOTATIONS and isinstance(value, str):
        return mask.digest(value.encode("utf-8", "surrogatepass")) if mask.tells(value) else value
    if isinstance(value, dict):
        return {name: _masked((*path, name), below, mask) for name, below in value.items()}
    return value


def _digests(value: Any, mask: _Mask, *, is_encoded: bool) -> Any:
    if isinstance(value, dict):
        return {name: _digests(below, mask, is_encoded=is_encoded) for name, below in value.items()}
    if isinstance(value, str):
        return mask.digest(_decoded(value) if is_encoded else value.encode("utf-8", "surrogatepass"))
    # No valid Secret holds this, so its text may be a value that slipped its quotes.
    return None if value is None else mask.digest(json.dumps(value, sort_keys=True).encode())


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return text.encode("utf-8", "surrogatepass")
