"""Encrypted files and documents: named, refused with the way out, never quoted."""

from __future__ import annotations

import pytest

from agent.core.encrypted import encrypted_document, encrypted_file
from agent.core.model import Severity
from tests.core.upgrades import release, upgrade

FILES = {
    "git-crypt": b"\0GITCRYPT\0\x01\x02\x03rest",
    "age": b"age-encryption.org/v1\n-> X25519 abc\n",
    "OpenPGP": b"-----BEGIN PGP MESSAGE-----\n\nhQEM\n",
    "Ansible Vault": b"$ANSIBLE_VAULT;1.1;AES256\n6162\n",
}


@pytest.mark.parametrize("form", FILES)
def test_file_that_is_encrypted_as_a_whole(form: str) -> None:
    finding = encrypted_file(FILES[form], "secrets/db.yaml")
    assert finding is not None
    assert finding.severity is Severity.OBJECT
    assert f"secrets/db.yaml:1 (document 1): the file is encrypted by {form}" in str(finding)
    assert finding.remedy


def test_armored_age_is_age_and_readable_files_are_nothing() -> None:
    armored = encrypted_file(b"\n-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n", "a")
    assert armored is not None
    assert " age," in armored.message
    assert encrypted_file(b"# age-encryption.org/v1 is not used here\napiVersion: v1\n", "a") is None


SEALABLE = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n"
CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
SOPS = "sops: {mac: x, version: 3.9.0}\n"
VALUE = "{k: 'ENC[AES256_GCM,data:qq,type:str]'}\n"
DOCUMENTS = {
    "SOPS": f"{SEALABLE}data: {VALUE}{SOPS}",
    "SOPS without its metadata": f"{SEALABLE}stringData: {VALUE}",
    "SOPS in a ConfigMap": f"{CONFIG}data: {{k: v}}\n{SOPS}",
    "ksops": "apiVersion: viaduct.ai/v1\nkind: ksops\nmetadata: {name: gen}\nfiles: [./db.enc.yaml]\n",
}


@pytest.mark.parametrize("form", DOCUMENTS)
def test_encrypted_document_is_refused_alone_and_holds_every_removal(form: str) -> None:
    text = DOCUMENTS[form] + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {k: v}\n"
    desired = release(text)
    (finding,) = desired.findings
    assert f"encrypted by {form.split(maxsplit=1)[0]}" in finding.message
    assert "qq" not in str(finding)
    assert not desired.is_complete
    assert [step.key for step in upgrade("", text).plan().steps] == ["create ConfigMap shop/b"]


@pytest.mark.parametrize(
    "body",
    [
        {
            "apiVersion": "bitnami.com/v1alpha1",
            "kind": "SealedSecret",
            "spec": {"encryptedData": {"k": "AgBy"}},
        },
        {"apiVersion": "isindir.github.com/v1alpha3", "kind": "SopsSecret", "sops": {"mac": "x"}},
        {"apiVersion": "external-secrets.io/v1", "kind": "ExternalSecret"},
        {"apiVersion": "v1", "kind": "Secret", "data": {"k": "RU5DWw=="}},
    ],
)
def test_what_a_controller_decrypts_is_an_object_like_any_other(body: dict[str, object]) -> None:
    assert encrypted_document(body) is None
