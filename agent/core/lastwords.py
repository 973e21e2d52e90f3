"""What a Job that failed said at last: the end of its pod's log, with whatever is secret in it masked.

The values of the Secrets that the pod uses are masked wherever they stand, plain or in base64; so is what
looks like a credential by its form. Where the values of such a Secret are not known, nothing is shown.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final

from agent.core.model import GroupKind, LiveObject, ObjectId
from agent.core.references import uses
from agent.core.situation import Situation
from agent.core.steps import GateState, Log

_SECRET: Final = GroupKind("", "Secret")
_SHOWN: Final = 600
_MASK: Final = "(masked)"
_CREDENTIALS: Final = (
    re.compile(r"-----BEGIN [A-Z ]*-----.*?(-----END [A-Z ]*-----|$)", re.DOTALL),
    re.compile(r"\beyJ[\w-]+\.[\w-]+(\.[\w-]*)?"),
    re.compile(r"(?<=://)[^/\s@]+(?=@)"),
    re.compile(
        r"(?i)(?<=bearer )\S+|(?<=basic )\S+|"
        r"(?:passw(?:or)?d|pwd|secret|token|api[_-]?key|credential)\w*[\"']?\s*[:=]\s*\S+"
    ),
)


def failed_pods(situation: Situation, job: LiveObject) -> list[LiveObject]:
    """The Job's pods that failed, the last one first."""
    pods = [pod for pod in situation.live.of_kind("", "Pod") if _has_failed(pod, job)]
    return sorted(pods, key=lambda pod: str(pod.metadata.get("creationTimestamp", "")), reverse=True)


def _has_failed(pod: LiveObject, job: LiveObject) -> bool:
    owners = pod.metadata.get("ownerReferences") or ()
    failed = (pod.body.get("status") or {}).get("phase") == "Failed"
    return failed and any(owner.get("uid") == job.uid for owner in owners)


def unmasked(situation: Situation, pod: LiveObject) -> str:
    """A Secret that the pod uses and whose values are not known, or empty."""
    named = (reference.target for reference in uses(pod.body, situation.policy))
    keys = [key for key in named if isinstance(key, ObjectId) and key.group_kind == _SECRET]
    return next((str(key) for key in keys if situation.live.objects.get(key) is None), "")


def last_words(situation: Situation, job: LiveObject) -> str:
    """``"; pod migrate-g2-x said: ..."`` of the pod that failed last; empty where there is none."""
    for pod in failed_pods(situation, job)[:1]:
        secret = unmasked(situation, pod)
        if secret:
            return f"; the log of pod {pod.id.name} is not shown: the values of {secret} are not known"
        answer = situation.answers.get(Log(pod.id))
        if answer is None or not answer.reason.strip():
            return ""
        if answer.state is not GateState.OPEN:
            return f"; {answer.reason}"
        return f"; pod {pod.id.name} said: {masked_log(answer.reason, set(_values(situation)))}"
    return ""


def masked_log(text: str, values: set[str]) -> str:
    """The end of a log on one line, without these values and without what looks like a credential."""
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, _MASK)
    for form in _CREDENTIALS:
        text = form.sub(_MASK, text)
    line = " | ".join(part.strip() for part in text.splitlines() if part.strip())
    return line if len(line) <= _SHOWN else f"...{line[-_SHOWN:]}"


def _values(situation: Situation) -> Iterator[str]:
    """Every value of every Secret that was read, plain, line by line and in base64."""
    for secret in situation.live.of_kind(*_SECRET):
        for encoded in (secret.body.get("data") or {}).values():
            yield str(encoded)
            try:
                plain = base64.b64decode(str(encoded)).decode()
            except (binascii.Error, ValueError):
                continue
            yield from (line.strip() for line in plain.splitlines() if line.strip())
