"""Where we refuse, on purpose, what kubectl takes: each with its reason. Nothing is read as another value."""

from __future__ import annotations

import re

REFUSED = {
    r"nested deeper than 240 levels": (
        "writers of JSON downstream stop at 254; kubectl goes to 10,000, and no object needs a tenth of ours"
    ),
    r"two byte order marks": "kubectl then loses the first letter of each line that follows",
    r"control characters are not allowed": (
        "libyaml looks further ahead: kubectl does not see a control character far behind a document's end"
    ),
    r"a list or a map cannot be a key": (
        "{} with a key behind it in the line is {} for kubectl, which then refuses an object without a kind"
    ),
    r"more than 100 tags, colons and quotes that are read otherwise": "each costs another reading",
}
"""Patterns of our messages."""

FOUND = {
    "crd-list-items-maps": "a named object whose kind ends in List is one object; kubectl unpacks it",
    "dup-key-merge-types": "kubectl's value, with a finding that stops the set",
    "dup-key-nested": "kubectl's value, with a finding that stops the set",
    "json-dup": "kubectl's value, with a finding that stops the set",
    "same-object-twice": "both are read; the set is refused while they differ",
    "generate-name": "each sync would make another object",
    "no-name": "kubectl's reader leaves it to the server to refuse",
    "null-metadata": "kubectl's reader leaves it to the server to refuse",
    "kustomization": "no API server serves it; kubectl's reader leaves that to the server",
}
"""Documents of the oracle, by name, that kubectl's reader takes and we report."""


def is_refused_on_purpose(message: str) -> bool:
    """Whether one of our refusals is in the list."""
    return any(re.search(pattern, message) for pattern in REFUSED)
