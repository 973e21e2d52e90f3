"""The promise's invariants about what stands behind a pointer: the right certificate, the right pods."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from agent.core.invariant import Invariant, Judgement
from agent.core.model import Body, ObjectId
from agent.core.serving import item_name
from agent.core.states import POD, SLICE, Move, State, service_of

_CERTIFICATE: Final = re.compile(r"-----BEGIN CERTIFICATE-----(.+?)-----END CERTIFICATE-----", re.DOTALL)
_ON_THE_WAY: Final = ("spec", "webhooks", "conversion", "webhook", "clientConfig")


class Client(NamedTuple):
    """How a pointer calls its backend: the Service, the certificates that it trusts, whether it checks."""

    service: str
    certificates: frozenset[str]
    is_verified: bool


class TrustStays(Invariant):
    """A pointer trusts the backend that it names: it keeps a CA bundle, and that of its backend's release.

    The bundle is often put in live by somebody else (a patch by hand, cert-manager's cainjector), so an
    apply can drop it; and a Service that moves without its bundle, or the other way round, points at a
    backend whose certificate is refused. Neither shows in endpoints or in a condition of a webhook.
    """

    name = "trust"

    def start(self, state: State) -> None:
        """Nothing to remember: the object before the event tells, and what is broken stays open."""

    def judge(self, move: Move, state: State) -> Iterator[Judgement]:
        """The clients of a pointer that was written."""
        event = move.event
        del state
        if not self.court.routes.policy.of(event.id.group_kind).pointers:
            return
        before, now = dict(_clients(move.before)), dict(_clients(event.body))
        for place in sorted(before.keys() | now.keys()):
            subject = f"{event.id} {place}".rstrip()
            client = now.get(place)
            if client is None or client.certificates or not client.is_verified:
                yield Judgement(subject, "" if client is None else self._mixed(event.id, place, client))
            elif place in before and before[place].certificates:
                yield Judgement(subject, "its caBundle is gone, and it had one")

    def _mixed(self, pointer: ObjectId, place: str, client: Client) -> str:
        terms = self.court.terms
        releases = [dict(_clients(of.get(pointer))).get(place) for of in (terms.before, terms.after)]
        told = [release for release in releases if release is not None]
        # Only where both releases bring a bundle of their own is it known which belongs to which Service.
        if len({release.service for release in told}) != len(releases) or not client.is_verified:
            return ""
        if not all(release.certificates for release in told):
            return ""
        of_service = [release for release in told if release.service == client.service]
        if not of_service or of_service[0].certificates <= client.certificates:
            return ""
        return f"it calls {client.service} with the caBundle of the other release"


def _clients(body: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[str, Client]]:
    """Where a body names a Service to call, and how it calls it."""
    if isinstance(body, list):
        for number, item in enumerate(body):
            yield from _clients(item, (*place, item_name(item, number)))
    elif isinstance(body, dict):
        service = body.get("service")
        if service:
            bundle = _certificates(str(body.get("caBundle") or ""))
            is_verified = not body.get("insecureSkipTLSVerify")
            named = f"{service.get('namespace')}/{service.get('name')}"
            yield " ".join(place), Client(named, bundle, is_verified)
        for key in _ON_THE_WAY:
            if key in body:
                yield from _clients(body[key], place)


def _certificates(bundle: str) -> frozenset[str]:
    try:
        text = b64decode(bundle, validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        text = bundle
    found = frozenset("".join(certificate.split()) for certificate in _CERTIFICATE.findall(text))
    return found or frozenset({text} if text else ())


class StrangersStayOut(Invariant):
    """Behind a Service stand only pods that the selector of its old or of its new release means.

    A union of two selectors that is too wide lets in pods of something else: there are more endpoints than
    before, and a part of the requests goes to the wrong program. Without an announcement nothing is known
    of the new selector, and nothing is judged.
    """

    name = "strangers"

    def start(self, state: State) -> None:
        """Nothing to remember: the releases tell."""

    def judge(self, move: Move, state: State) -> Iterator[Judgement]:
        """The Service whose EndpointSlice was written."""
        event, terms = move.event, self.court.terms
        if event.id.group_kind != SLICE or event.body is None:
            return
        service = service_of(event.id, event.body)
        bodies = filter(None, (terms.before.get(service), terms.after.get(service)))
        selectors = [s for s in ((body.get("spec") or {}).get("selector") for body in bodies) if s]
        if selectors:
            strangers = sorted(set(_strangers(service, selectors, state)))
            story = f"{', '.join(strangers)} is behind it, and no release's selector means it"
            yield Judgement(str(service), story if strangers else "")


def _strangers(service: ObjectId, selectors: list[Body], state: State) -> Iterator[str]:
    for piece in state.slices_of(service):
        for endpoint in piece.get("endpoints") or ():
            target = endpoint.get("targetRef") or {}
            pod = state.get(ObjectId(*POD, service.namespace, str(target.get("name"))))
            if target.get("kind") != "Pod" or pod is None:
                continue
            labels = (pod["metadata"].get("labels") or {}).items()
            is_ready = (endpoint.get("conditions") or {}).get("ready") is not False
            if is_ready and not any(selector.items() <= labels for selector in selectors):
                yield f"Pod {service.namespace}/{target['name']}"
