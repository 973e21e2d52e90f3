"""What every stand-in shares, and the plain HTTP server."""

import json
import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.rig.api import Api
from tests.rig.kubelet.options import Options
from tests.rig.kubelet.web import Answer, Request
from tests.rig.pki import KeyPair


@dataclass(frozen=True)
class Setting:
    """What a container's app stands on.

    Attributes:
        own: the API as the pod's ServiceAccount sees it.
        serving: the certificate to serve TLS with; None for plain HTTP.
    """

    namespace: str
    pod: str
    options: Options
    own: Api
    serving: KeyPair | None


def status(code: int, message: str) -> Answer:
    """Return an answer that is a Kubernetes Status."""
    body = {"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "message": message}
    return Answer(code, json.dumps(body).encode())


def tls_context(serving: KeyPair, client_ca: str | None = None) -> ssl.SSLContext:
    """Return a server's TLS side; with a CA, client certificates are asked for and verified, not required."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cadata=client_ca)
    if client_ca is not None:
        context.verify_mode = ssl.CERT_OPTIONAL
    with tempfile.TemporaryDirectory() as folder:
        context.load_cert_chain(*serving.write(Path(folder), "serving"))
    return context


class PlainServer:
    """Answers every request with its version and pod name, if it may read what it needs.

    Paths: `/healthz`, `/livez` and `/readyz` answer as the rest. 500 when a `--need` cannot be read.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    def start(self) -> None:
        """Read every `--need-at-start`."""
        for path in self.setting.options.all("need-at-start"):
            self.setting.own.get(path)

    def context(self) -> ssl.SSLContext | None:
        """TLS when the container has a certificate."""
        return tls_context(self.setting.serving) if self.setting.serving else None

    def unmet_need(self) -> str | None:
        """Return what of `--need` cannot be read now under the pod's own identity, in words."""
        for path in self.setting.options.all("need"):
            try:
                reply = self.setting.own.raw("GET", path, timeout=4)
            except ConnectionError as error:
                return str(error)
            if reply.status != 200:
                return f"{path}: {reply.status} {reply.text}"
        return None

    def answer(self, request: Request) -> Answer:
        """Answer 200 with version and pod, or 500."""
        if lack := self.unmet_need():
            return status(500, lack)
        setting = self.setting
        body = {
            "app": setting.options.stand_in,
            "version": setting.options.version,
            "namespace": setting.namespace,
            "pod": setting.pod,
            "path": request.path,
        }
        return Answer(200, json.dumps(body).encode())
