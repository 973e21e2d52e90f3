"""What the API server answered, as one of our errors: what was being done, the object, the server's words.

A refusal of a Secret may quote the Secret (kubernetes/kubernetes#132604, CVE-2025-23216): of messages about
masked objects only reason, managers, keys and the kind of fault remain.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import orjson

from agent.core.model import Body
from agent.errors import (
    ClusterError,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    NotServed,
    Rejected,
    Unauthorized,
    Unreachable,
)

_LONGEST_MESSAGE: Final = 1_000
_UNAUTHORIZED: Final = 401
_TRANSIENT: Final = frozenset({429, 502, 503, 504})

# Words of k8s.io/apiserver/pkg/admission/plugin (webhook/errors, webhook/generic, policy/validating).
_WEBHOOK: Final = re.compile(r'(?:admission webhook|calling webhook) "([\w.-]+)"')
_NO_ANSWER: Final = "failed calling webhook"
_ADMISSION_POLICY: Final = re.compile(r"ValidatingAdmissionPolicy '([\w.:-]+)'")
# Words of k8s.io/apiserver/pkg/endpoints/handlers/responsewriters (errors.go) and rbac/validation.
_LACKS_RIGHT: Final = re.compile(r'[Uu]ser ".*" (?:cannot |\(groups=)', re.DOTALL)
# Words of k8s.io/kubernetes/pkg/apis/*/validation for changes that an update may not make.
_IMMUTABLE: Final = re.compile(
    r"immutable|cannot change roleRef|updates to .* are forbidden"
    r"|(?:may not|can ?not) (?:be )?(?:change|changed|unset|updated?)\b",
    re.IGNORECASE,
)
_UID: Final = "metadata.uid"
# Words of managedfields and of the handlers for what is wrong in itself, sent as 500 (1.36).
_MALFORMED: Final = ("failed to create typed patch object", "failed to convert new object")
_MANAGER: Final = re.compile(r'conflict with ("(?:[^"\\]|\\.)*")')
_FIELD: Final = re.compile(r"\.?[A-Za-z_][\w-]*(?:\.[\w-]+|\[[^\]]*\])*")
_SECRET_FIELD: Final = re.compile(r"(?:data|stringData|type|immutable|metadata)(?:$|[.\[])")
_DIAGNOSIS: Final = re.compile(r"expected (?:string|map|list|numeric|boolean|scalar)\b|illegal base64 data")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request was for.

    ``doing`` reads after "cannot" (``apply Deployment shop/web``); ``who`` names the credentials and how to
    renew them; ``is_masked`` where the server's words may quote what nobody may read; ``body`` what was sent.
    """

    doing: str
    who: str = ""
    is_masked: bool = False
    body: Body | None = None


def status_of(raw: bytes) -> Body | None:
    """The ``Status`` object in an answer, or None where the answer is something else."""
    try:
        answer = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    return answer if isinstance(answer, dict) and answer.get("kind") == "Status" else None


def error_of(code: int, raw: bytes, asked: Asked) -> ClusterError:
    """The error for an answer of HTTP status ``code`` (400 and more) with body ``raw``."""
    status = status_of(raw)
    message = str(status.get("message") or "") if status else raw.decode(errors="replace").strip()
    shown = _masked(code, status, message, asked) if asked.is_masked else _clipped(message)
    text = f"cannot {asked.doing}: {shown or f'HTTP {code}'}"
    if _WEBHOOK.search(message) or _ADMISSION_POLICY.search(message):
        return Rejected(text, is_unanswered=_NO_ANSWER in message)
    if _is_malformed(message):
        return Invalid(text)
    if code >= 500 or code == 429:  # noqa: PLR2004 - HTTP's own classes
        is_unanswered = code in _TRANSIENT or status is None
        return Unreachable(text) if is_unanswered else ClusterError(text)
    return _refusal(code, status, message, f"{text}; {asked.who}" if code == _UNAUTHORIZED else text)


def _refusal(code: int, status: Body | None, message: str, text: str) -> ClusterError:
    error: ClusterError
    match code:
        case 401:
            error = Unauthorized(text)
        case 403:
            # In-tree admission (quotas, pod security, a namespace that is going) also answers 403.
            is_right = status is None or _LACKS_RIGHT.search(message)
            error = Forbidden(text) if is_right else Rejected(text)
        case 404:
            error = NotFound(text) if _names_object(status) else NotServed(text)
        case 409 | 410:
            error = _conflict(text, status)
        case 422 if _fields(status) == {_UID}:
            # An apply with another object's uid reads to the server as a change of the uid.
            error = Conflict(text)
        case 400 | 413 | 422:
            error = Invalid(text, is_immutable=_is_immutable(status, message))
        case _:
            error = ClusterError(text)
    return error


def _causes(status: Body | None) -> list[Body]:
    details = (status or {}).get("details") or {}
    return [cause for cause in details.get("causes") or [] if isinstance(cause, dict)]


def _fields(status: Body | None) -> set[str]:
    return {str(cause.get("field") or "") for cause in _causes(status)}


def _names_object(status: Body | None) -> bool:
    """A missing object is named in the details; a path that is not served answers without a name."""
    return bool(((status or {}).get("details") or {}).get("name"))


def _conflict(text: str, status: Body | None) -> Conflict:
    conflicts = [cause for cause in _causes(status) if cause.get("reason") == "FieldManagerConflict"]
    found = (_MANAGER.search(str(cause.get("message", ""))) for cause in conflicts)
    managers = {_unquoted(match.group(1)) for match in found if match}
    already_exists = (status or {}).get("reason") == "AlreadyExists"
    return Conflict(text, managers=tuple(sorted(managers)), already_exists=already_exists)


def _unquoted(quoted: str) -> str:
    """Go's %q is JSON's quoting for every name that a field manager may have."""
    try:
        return str(orjson.loads(quoted))
    except orjson.JSONDecodeError:
        return quoted.strip('"')


def _is_immutable(status: Body | None, message: str) -> bool:
    """Whether every complaint is about a change rather than about the object itself."""
    said = [str(cause.get("message", "")) for cause in _causes(status)] or [message]
    return all(_IMMUTABLE.search(words) for words in said)


def _clipped(message: str) -> str:
    if len(message) <= _LONGEST_MESSAGE:
        return message
    return f"{message[:_LONGEST_MESSAGE]} (and {len(message) - _LONGEST_MESSAGE} more characters)"


def _masked(code: int, status: Body | None, message: str, asked: Asked) -> str:
    refused_by = _WEBHOOK.search(message) or _ADMISSION_POLICY.search(message)
    # Whoever admits may put anything into its answer; the server's own validation names keys.
    told = set() if refused_by else {field for field in _fields(status) if _SECRET_FIELD.match(field)}
    paths = sorted(told | _paths_in(message, asked.body or {}))
    managers = _conflict("", status).managers
    reason = (
        "it is malformed" if _is_malformed(message) else str((status or {}).get("reason") or f"HTTP {code}")
    )
    parts = [
        reason,
        f"at {', '.join(paths)}" if paths else "",
        f"by {refused_by.group(1)}" if refused_by else "",
        f"owned by {', '.join(managers)}" if managers else "",
        ", ".join(sorted(set(_DIAGNOSIS.findall(message)))),
    ]
    return " ".join(part for part in parts if part)


def _is_malformed(message: str) -> bool:
    return message.startswith(_MALFORMED)


def _paths_in(message: str, body: Body) -> set[str]:
    """The paths in the server's words that lead to a key of ``body``: keys, never values."""
    paths = (word.strip(".") for word in _FIELD.findall(message))
    return {path for path in paths if "." in path and _leads_somewhere(path, body)}


def _leads_somewhere(path: str, body: Body) -> bool:
    at: Any = body
    for key in re.split(r"[.\[]", path):
        name = key.rstrip("]")
        if not isinstance(at, dict) or name not in at:
            return False
        at = at[name]
    return True
