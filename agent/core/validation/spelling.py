"""How Kubernetes spells names, labels, annotations and keys.

Sources: kubernetes.io/docs/concepts/overview/working-with-objects/names, .../labels and .../annotations;
RFC 1123; RFC 6335 for names of ports.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

LONGEST_LABEL: Final = 63


class Form(NamedTuple):
    """What a text has to match, how long it may be, and that in words."""

    pattern: re.Pattern[str]
    longest: int
    says: str

    def fits(self, text: str) -> bool:
        """Whether the text is spelled like this."""
        return len(text) <= self.longest and self.pattern.fullmatch(text) is not None


_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_NAME: Final = "[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?"

_SAYS: Final = "lower case letters, digits, - and ."

SUBDOMAIN: Final = Form(re.compile(rf"{_LABEL}(\.{_LABEL})*"), 253, f"{_SAYS}, at most 253 (RFC 1123)")
LABEL: Final = Form(
    re.compile(_LABEL), LONGEST_LABEL, "lower case letters, digits and -, at most 63 (RFC 1123)"
)
LABEL_VALUE: Final = Form(
    re.compile(f"({_NAME})?"), LONGEST_LABEL, "letters, digits, -, _ and ., at most 63, or empty"
)
_QUALIFIED: Final = Form(re.compile(_NAME), LONGEST_LABEL, "letters, digits, -, _ and ., at most 63")

FORMS: Final = {
    "subdomain": SUBDOMAIN,
    "label": LABEL,
    "subdomain-52": SUBDOMAIN._replace(longest=52, says=f"{_SAYS}, at most 52"),
    "subdomain-63": SUBDOMAIN._replace(longest=63, says=f"{_SAYS}, at most 63"),
    "segment": Form(re.compile(r"(?!\.{1,2}$)[^/%]+"), 253, "anything but . and .., without / and %"),
    "port-name": Form(
        re.compile("(?!.*--)(?=.*[a-z])[a-z0-9]([-a-z0-9]*[a-z0-9])?"),
        15,
        "lower case letters, digits and single -, with a letter, at most 15 (RFC 6335)",
    ),
    "env-name": Form(re.compile("[ -<>-~]+"), 1 << 20, "printable ASCII without ="),
    "config-key": Form(
        re.compile(r"(?!\.$|\.\.)[-._a-zA-Z0-9]+"), 253, "letters, digits, -, _ and ., not .. first"
    ),
}


def misspelled(form: str, value: Any) -> Iterator[tuple[tuple[str, ...], str]]:
    """Path below ``value`` and what is allowed there, for each thing that is spelled otherwise.

    Values of another type are the business of the schema.
    """
    if form in FORMS:
        if isinstance(value, str) and value and not FORMS[form].fits(value):
            yield (), FORMS[form].says
        return
    if not isinstance(value, dict):
        return
    for key, one in value.items():
        if not _is_qualified(key.lower() if form == "annotations" else key):
            yield (key,), f"a key is a name of {_QUALIFIED.says}, after a DNS prefix and / where it has one"
        if form == "labels" and isinstance(one, str) and not LABEL_VALUE.fits(one):
            yield (key,), f"a value is {LABEL_VALUE.says}"


def _is_qualified(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    return _QUALIFIED.fits(name) and (not slash or SUBDOMAIN.fits(prefix))
