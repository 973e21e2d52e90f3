"""Handshakes with the endpoints of a Service, to see which certificates they serve.

Only the handshake is made; nothing is sent. The agent reaches pods where it runs in the cluster, elsewhere
mostly not: then the answer is that it could not be asked.
"""

from __future__ import annotations

import base64
import binascii
import socket
import ssl
from collections.abc import Iterable
from typing import Final, NamedTuple

from agent.core.model import Body
from agent.errors import Unreachable

_SECONDS: Final = 3.0


class Address(NamedTuple):
    """A ready endpoint."""

    host: str
    port: int


def addresses(service: Body, slices: Iterable[Body], port: int) -> list[Address]:
    """The ready endpoints behind one port of a Service, by its EndpointSlices."""
    names = [p.get("name") or "" for p in service["spec"].get("ports") or () if p.get("port") == port]
    found = []
    for item in slices:
        numbers = [p["port"] for p in item.get("ports") or () if (p.get("name") or "") in names]
        for endpoint in item.get("endpoints") or ():
            if (endpoint.get("conditions") or {}).get("ready") is not False:
                found += [Address(host, number) for host in endpoint["addresses"] for number in numbers]
    return sorted(set(found))


def trouble_with(endpoints: Iterable[Address], name: str, bundle: str) -> str:
    """What is wrong with the certificates for ``name``; empty where all verify.

    Raises Unreachable where no endpoint can be dialed, or there is none.
    """
    try:
        roots = base64.b64decode(bundle, validate=False).decode("ascii")
        context = ssl.create_default_context(cadata=roots)
    except (binascii.Error, UnicodeDecodeError, ssl.SSLError) as error:
        return f"the CA bundle is no PEM: {error}"
    missed = "it has no ready endpoint"
    answered = False
    for endpoint in endpoints:
        try:
            with socket.create_connection(endpoint, timeout=_SECONDS) as plain:
                context.wrap_socket(plain, server_hostname=name).close()
            answered = True
        except ssl.SSLCertVerificationError as error:
            return f"{endpoint.host}:{endpoint.port} serves no certificate for {name}: {error.verify_message}"
        except OSError as error:
            missed = f"{endpoint.host}:{endpoint.port}: {error}"
    if not answered:
        raise Unreachable(f"cannot look at the certificate of {name}: {missed}")
    return ""
