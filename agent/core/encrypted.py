"""Encrypted files and documents, recognised by their marks: no manifests until something decrypts them.

Sources of the marks: github.com/getsops/sops (the key ``sops``, values ``ENC[...]``), age-encryption.org/v1,
RFC 4880 (OpenPGP armor), github.com/AGWA/git-crypt, docs.ansible.com (vault),
github.com/viaduct-ai/kustomize-sops.
A SealedSecret or a SopsSecret is an object like any other: a controller in the cluster decrypts it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from agent.core.model import Body, Finding, Origin, Severity


class Encrypted(NamedTuple):
    """By what something is encrypted, and the way out."""

    form: str
    remedy: str


_SEALED: Final = "commit a SealedSecret or an ExternalSecret in its place, or keep the file out of the path"
_UNLOCK: Final = "the agent reads what Git holds: keep such files out of the path, or commit a SealedSecret"
_FILES: Final = (
    (b"\0GITCRYPT\0", Encrypted("git-crypt", _UNLOCK)),
    (b"age-encryption.org/", Encrypted("age", _SEALED)),
    (b"-----BEGIN AGE ENCRYPTED FILE-----", Encrypted("age", _SEALED)),
    (b"-----BEGIN PGP MESSAGE-----", Encrypted("OpenPGP", _SEALED)),
    (b"$ANSIBLE_VAULT;", Encrypted("Ansible Vault", _SEALED)),
)
_SOPS: Final = Encrypted("SOPS", _SEALED)
_KSOPS: Final = Encrypted("ksops", "commit what it renders with a SealedSecret in place, or keep it out")
_DECRYPTED_IN_THE_CLUSTER: Final = "isindir.github.com"
_VALUE: Final = "ENC["


def encrypted_file(data: bytes, file: str) -> Finding | None:
    """The finding for a file that is encrypted as a whole; the others of the set are read all the same."""
    head = data.lstrip()[:64]
    for mark, found in _FILES:
        if head.startswith(mark):
            message = f"the file is encrypted by {found.form}, and no key is at hand to read it"
            return Finding(Severity.OBJECT, message, Origin(file, 1, 1), found.remedy)
    return None


def encrypted_document(body: Body) -> Encrypted | None:
    """By what a document is encrypted; None for a readable one. No value of it is quoted."""
    group = str(body.get("apiVersion", "")).partition("/")[0]
    if group == "viaduct.ai":
        return _KSOPS
    if group == _DECRYPTED_IN_THE_CLUSTER:
        return None
    if isinstance(body.get("sops"), dict):
        return _SOPS
    values = (value for field in ("data", "stringData") for value in _texts(body.get(field)))
    return _SOPS if any(value.startswith(_VALUE) for value in values) else None


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (text for text in value.values() if isinstance(text, str))
