"""Which cluster, whose credentials, whom to trust, through which proxy: decided as kubectl decides it."""

from __future__ import annotations

import base64
import json
import os
import sys
from pathlib import Path

import pytest
from kubernetes.config import incluster_config

from agent.errors import ConfigError, Unauthorized, Unreachable
from agent.shell.kube import connect
from tests.rig.pki import Authority
from tests.shell.kinds import MAPS, WEB, WEB_BODY, WEB_PATH
from tests.shell.wire import Answer, Wire, kubeconfig, serve, status

VARIABLES = ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY")


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A home without kubeconfig and an environment that says nothing."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def read(path: str | None, context: str | None = None) -> object:
    """Get one object and close."""
    adapter = connect(path, context)
    try:
        return adapter.get(MAPS, WEB)
    finally:
        adapter.close()


def plugin(folder: Path, *lines: str) -> dict[str, object]:
    """A user whose credentials come from a program of these lines."""
    program = folder / "plugin.py"
    program.write_text("\n".join(["import json, pathlib, sys", *lines]))
    api_version = "client.authentication.k8s.io/v1"
    return {
        "exec": {"apiVersion": api_version, "command": sys.executable, "args": [str(program)], "env": None}
    }


def credential(folder: Path, expiry: str) -> tuple[str, ...]:
    """Lines that answer with token 1, 2, 3 ... at each call."""
    answer = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential"}
    return (
        f"calls = pathlib.Path({str(folder / 'calls')!r})",
        "number = int(calls.read_text()) + 1 if calls.exists() else 1",
        "calls.write_text(str(number))",
        f"status = {{'token': f'token-{{number}}', 'expirationTimestamp': {expiry!r}}}",
        f"print(json.dumps({answer!r} | {{'status': status}}))",
    )


def test_the_default_kubeconfig_and_the_variable_are_found(
    wire: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire.answer(f"GET {WEB_PATH}", Answer(body=WEB_BODY))
    (tmp_path / ".kube").mkdir()
    Path(kubeconfig(tmp_path, wire.url)).rename(tmp_path / ".kube" / "config")
    assert read(None) == WEB_BODY
    chosen = kubeconfig(tmp_path, wire.url, {"token": "other"})
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join([str(tmp_path / "absent"), chosen]))
    assert read(None) == WEB_BODY
    assert [seen.headers["authorization"] for seen in wire.seen] == ["Bearer letmein", "Bearer other"]


def test_without_any_configuration_the_way_out_is_named() -> None:
    with pytest.raises(ConfigError, match="name a kubeconfig with --kubeconfig or KUBECONFIG"):
        connect(None, None)


@pytest.mark.parametrize(
    ("text", "context"),
    [
        (None, None),
        ("", None),
        ("{", None),
        ("[]", None),
        ('{"contexts": null, "clusters": [], "users": []}', None),
        ('{"current-context": "x", "contexts": [], "clusters": [], "users": []}', None),
        ('{"current-context": "x", "contexts": [], "clusters": [], "users": []}', "y"),
    ],
)
def test_a_kubeconfig_that_cannot_be_used_is_a_config_error(
    tmp_path: Path, text: str | None, context: str | None
) -> None:
    path = tmp_path / "broken"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigError, match=f"cannot use kubeconfig {path}: .*check the file and --context"):
        connect(str(path), context)


def test_another_context_is_chosen_by_name(wire: Wire, tmp_path: Path) -> None:
    path = Path(kubeconfig(tmp_path, wire.url))
    config = json.loads(path.read_text())
    config["users"].append({"name": "v", "user": {"username": "ann", "password": "pw"}})
    config["contexts"].append({"name": "other", "context": {"cluster": "c", "user": "v"}})
    path.write_text(json.dumps(config))
    wire.answer(f"GET {WEB_PATH}", Answer(body=WEB_BODY))
    read(str(path), "other")
    assert wire.seen[0].headers["authorization"] == "Basic " + base64.b64encode(b"ann:pw").decode()


def test_credentials_are_read_anew_after_a_401(wire: Wire, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("old")
    adapter = connect(kubeconfig(tmp_path, wire.url, {"tokenFile": str(token)}), None)
    wire.answer(f"GET {WEB_PATH}", status(401, "Unauthorized", "Unauthorized"), Answer(body=WEB_BODY))
    token.write_text("new")
    assert adapter.get(MAPS, WEB) == WEB_BODY
    assert [one.headers["authorization"] for one in wire.seen] == ["Bearer old", "Bearer new"]
    wire.answer(f"GET {WEB_PATH}", status(401, "Unauthorized", "Unauthorized"))
    with pytest.raises(Unauthorized, match="renew the credentials of the current context in"):
        adapter.get(MAPS, WEB)
    adapter.close()


@pytest.mark.parametrize(
    ("expiry", "tokens"),
    [
        ("2999-01-01T00:00:00Z", ["token-1", "token-1"]),
        ("2001-01-01T00:00:00Z", ["token-2", "token-3"]),
    ],
)
def test_a_credential_plugin_is_asked_again_when_its_token_expires(
    wire: Wire, tmp_path: Path, expiry: str, tokens: list[str]
) -> None:
    wire.answer(f"GET {WEB_PATH}", Answer(body=WEB_BODY))
    adapter = connect(kubeconfig(tmp_path, wire.url, plugin(tmp_path, *credential(tmp_path, expiry))), None)
    adapter.get(MAPS, WEB)
    adapter.get(MAPS, WEB)
    adapter.close()
    assert [seen.headers["authorization"] for seen in wire.seen] == [f"Bearer {token}" for token in tokens]


def test_a_plugin_that_fails_is_no_anonymous_request(wire: Wire, tmp_path: Path) -> None:
    user = plugin(tmp_path, "sys.exit('log in first')")
    with pytest.raises(Unauthorized, match="gave no credentials; run it by hand to see why"):
        connect(kubeconfig(tmp_path, wire.url, user), None)
    assert wire.seen == []


def test_a_pod_uses_its_own_credentials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = Authority.create("test")
    certificate = authority.issue("server", ("127.0.0.1",)).write(tmp_path, "server")
    (tmp_path / "token").write_text("pod-token")
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(tmp_path / "token"))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(tmp_path / "ca.crt"))
    authority.pair.write(tmp_path, "ca")
    with serve(certificate) as wire:
        host, port = wire.url.removeprefix("https://").split(":")
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)
        wire.answer(f"GET {WEB_PATH}", Answer(body=WEB_BODY), status(401, "Unauthorized", "Unauthorized"))
        assert read(None) == WEB_BODY
        assert wire.seen[0].headers["authorization"].lower() == "bearer pod-token"
        with pytest.raises(Unauthorized, match="the pod's service account token is not accepted"):
            read(None)


def test_the_kubeconfigs_authority_alone_decides_whom_to_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, other = Authority.create("ours"), Authority.create("other")
    ours.pair.write(tmp_path, "ours")
    other.pair.write(tmp_path, "other")
    certificate = ours.issue("server", ("127.0.0.1",)).write(tmp_path, "server")
    with serve(certificate) as wire:
        wire.answer(f"GET {WEB_PATH}", Answer(body=WEB_BODY))
        for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
            monkeypatch.setenv(name, str(tmp_path / "other.crt"))
        right = {"certificate-authority-data": ours.bundle}
        assert read(kubeconfig(tmp_path, wire.url, None, **right)) == WEB_BODY
        for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
            monkeypatch.setenv(name, str(tmp_path / "ours.crt"))
        wrong = {"certificate-authority-data": other.bundle}
        with pytest.raises(Unreachable, match=r"certificate not trusted: .*certificate-authority decides"):
            read(kubeconfig(tmp_path, wire.url, None, **wrong))
        assert len(wire.seen) == 1


def everywhere(url: str) -> str:
    """The server's address by a name that is not loopback to a proxy's rules."""
    return url.replace("127.0.0.1", "0.0.0.0")  # noqa: S104 - an address to connect to, not to listen on


DEAD = "http://127.0.0.1:1"


def test_a_proxy_of_the_environment_is_used_but_never_for_loopback(
    wire: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire.answer(f"GET {WEB_PATH}", Answer(body=WEB_BODY))
    monkeypatch.setenv("HTTP_PROXY", wire.url)
    assert read(kubeconfig(tmp_path, "http://cluster.invalid:6443")) == WEB_BODY
    monkeypatch.setenv("HTTP_PROXY", DEAD)
    monkeypatch.setenv("ALL_PROXY", DEAD)
    assert read(kubeconfig(tmp_path, wire.url)) == WEB_BODY
    with pytest.raises(Unreachable):
        read(kubeconfig(tmp_path, everywhere(wire.url)))
    assert len(wire.seen) == 2


def test_no_proxy_names_hosts_that_are_asked_directly(
    wire: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire.answer(f"GET {WEB_PATH}", Answer(body=WEB_BODY))
    monkeypatch.setenv("HTTP_PROXY", DEAD)
    monkeypatch.setenv("NO_PROXY", "example.dev,0.0.0.0/8")
    assert read(kubeconfig(tmp_path, everywhere(wire.url))) == WEB_BODY


def test_a_proxy_of_the_kubeconfig_counts_before_the_environment(
    wire: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire.answer(f"GET {WEB_PATH}", Answer(body=WEB_BODY))
    monkeypatch.setenv("HTTP_PROXY", DEAD)
    monkeypatch.setenv("NO_PROXY", "*")
    path = kubeconfig(tmp_path, "http://cluster.invalid:6443", None, **{"proxy-url": wire.url})
    assert read(path) == WEB_BODY
