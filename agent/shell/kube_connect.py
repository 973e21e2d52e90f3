"""The connection to one API server: kubeconfig or the pod's own credentials, and pools of sockets.

The official client reads the configuration, runs credential plugins and renews tokens. Two variables of
the environment are decided here as kubectl decides them: the proxy comes from ``proxy-url`` of the
kubeconfig, else from ``HTTPS_PROXY``/``HTTP_PROXY`` unless ``NO_PROXY`` names the host or the host is
loopback (golang.org/x/net/http/httpproxy); trust comes from the kubeconfig's certificate authority alone,
``REQUESTS_CA_BUNDLE`` and ``CURL_CA_BUNDLE`` are not read.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, Final
from urllib.parse import urlsplit

import urllib3

from agent import __version__
from agent.errors import ConfigError, Unauthorized

_IN_CLUSTER: Final = "KUBERNETES_SERVICE_HOST"
USER_AGENT: Final = f"trapeze/{__version__}"


class Connection:
    """Credentials and sockets of one API server; thread-safe.

    ``pool_size`` is the number of connections for requests; each watch has one more of its own.
    Raises ``ConfigError`` where the kubeconfig is missing or wrong, ``Unauthorized`` where its credential
    plugin gives nothing.
    """

    def __init__(self, kubeconfig: str | None, context: str | None, pool_size: int) -> None:
        self._kubeconfig = _kubeconfig_path(kubeconfig)
        self._context = context
        self._pool_size = pool_size
        self._lock = Lock()
        self._renewals = 0
        self._load()

    def _load(self) -> None:
        self._configuration = _configuration(self._kubeconfig, self._context)
        self._configuration.connection_pool_maxsize = self._pool_size
        self.host: str = self._configuration.host
        self.requests = _pool(self._configuration, is_shared=True)
        self.streams = _pool(self._configuration, is_shared=False)

    @property
    def who(self) -> str:
        """Whose credentials these are and how to renew them, for error messages."""
        if not self._kubeconfig:
            return "the pod's service account token is not accepted; restart the pod or check its account"
        context = f"context {self._context}" if self._context else "the current context"
        return f"renew the credentials of {context} in {self._kubeconfig}"

    @property
    def number(self) -> int:
        """How often the credentials were read anew."""
        return self._renewals

    def identity(self) -> Mapping[str, str]:
        """The headers that say who asks; a token about to expire is renewed first."""
        with self._lock:
            settings: Mapping[str, Any] = self._configuration.auth_settings()
        return {"user-agent": USER_AGENT} | {item["key"]: item["value"] for item in settings.values()}

    def renew(self, seen: int) -> None:
        """Read configuration and credentials anew, unless that was done since number ``seen``.

        A 401 leads here: plugins, token files and client certificates are all asked again, as client-go does.
        """
        with self._lock:
            if self._renewals == seen:
                old = (self.requests, self.streams)
                self._load()
                self._renewals += 1
                for pool in old:
                    pool.clear()

    def close(self) -> None:
        """Close the idle connections."""
        self.requests.clear()
        self.streams.clear()


def _kubeconfig_path(given: str | None) -> str | None:
    """The kubeconfig as kubectl chooses it, or None for the pod's own credentials."""
    chosen = given or os.environ.get("KUBECONFIG")
    if chosen:
        return chosen
    default = Path("~/.kube/config").expanduser()
    if default.exists():
        return str(default)
    if os.environ.get(_IN_CLUSTER):
        return None
    raise ConfigError(
        f"no cluster to talk to: {default} does not exist and this is no pod; "
        "name a kubeconfig with --kubeconfig or KUBECONFIG"
    )


def _client(module: str) -> Any:
    """A module of the official client; importing it costs half a second, so only when it is needed."""
    return import_module(f"kubernetes.{module}")


def _configuration(kubeconfig: str | None, context: str | None) -> Any:
    client, config = _client("client"), _client("config")
    configuration = client.Configuration()
    configuration.proxy = None
    configuration.keep_alive = True
    try:
        if kubeconfig:
            config.load_kube_config(kubeconfig, context, configuration)
        else:
            config.load_incluster_config(configuration)
    except Exception as error:
        # The client raises whatever a malformed file leads to.
        what = f"kubeconfig {kubeconfig}" if kubeconfig else "the pod's own credentials"
        is_shapeless = isinstance(error, (AttributeError, KeyError, TypeError))
        why = "it is no kubeconfig" if is_shapeless else " ".join(str(error).split())
        raise ConfigError(f"cannot use {what}: {why}; check the file and --context") from error
    if kubeconfig and not (configuration.api_key or configuration.cert_file):
        _refuse_silent_plugin(kubeconfig, context)
    _decide_proxy(configuration)
    return configuration


def _refuse_silent_plugin(kubeconfig: str, context: str | None) -> None:
    """The client goes on as nobody when a plugin fails: that would read as missing rights."""
    merged = _client("config.kube_config").KubeConfigMerger(kubeconfig).config
    chosen = merged["contexts"].get_with_name(context or merged["current-context"])["context"]
    user = merged["users"].get_with_name(chosen["user"], safe=True) if chosen.safe_get("user") else None
    if user and "exec" in user["user"]:
        command = user["user"]["exec"].safe_get("command")
        raise Unauthorized(
            f"the credential plugin {command} of {kubeconfig} gave no credentials; run it by hand to see why"
        )


def _decide_proxy(configuration: Any) -> None:
    """An explicit proxy-url always counts; one of the environment not for loopback and NO_PROXY hosts."""
    if configuration.proxy:
        configuration.no_proxy = ""
        return
    parts = urlsplit(configuration.host)
    if _is_loopback(parts.hostname or ""):
        return
    configuration.proxy = _variable(f"{parts.scheme}_proxy") or None
    configuration.no_proxy = _variable("no_proxy")


def _variable(name: str) -> str:
    return os.environ.get(name.upper()) or os.environ.get(name) or ""


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _pool(configuration: Any, *, is_shared: bool) -> urllib3.PoolManager:
    pool: urllib3.PoolManager = _client("client.rest").RESTClientObject(configuration).pool_manager
    # Requests wait for a free connection; a watch holds its own for minutes and must not starve them.
    pool.connection_pool_kw["block"] = is_shared
    return pool
