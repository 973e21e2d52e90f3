"""The webhook server's stand-in: admission and conversion.

Flags: `--deny=MESSAGE` refuses every object, or with `--deny-label=KEY=VALUE` those that carry the label;
`--annotate=KEY=VALUE` puts an annotation on every object (mutation); `--rename=VERSION:FIELD` says under
which name a version of a custom resource has the one field of its spec that conversion moves (once for each
version); `--need` and the like as for all stand-ins.
"""

import base64
import json
from typing import Any

from tests.rig.kubelet.apps import PlainServer, status
from tests.rig.kubelet.web import Answer, Request


class WebhookServer(PlainServer):
    """Answers AdmissionReview and ConversionReview of v1."""

    def answer(self, request: Request) -> Answer:
        """Answer a review; everything else as the plain server does."""
        if request.method != "POST":
            return super().answer(request)
        if lack := self.unmet_need():
            return status(500, lack)
        review = json.loads(request.body)
        respond = {"AdmissionReview": self._admit, "ConversionReview": self._convert}.get(review.get("kind"))
        if respond is None:
            return status(400, f"no review: {review.get('kind')}")
        response = {"uid": review["request"]["uid"], **respond(review["request"])}
        body = {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}
        return Answer(200, json.dumps(body).encode())

    def _admit(self, asked: dict[str, Any]) -> dict[str, Any]:
        options = self.setting.options
        body = asked.get("object") or {}
        metadata = body.get("metadata") or {}
        key, _, value = options.one("deny-label").partition("=")
        meant = not key or (metadata.get("labels") or {}).get(key) == value
        if options.all("deny") and meant:
            return {"allowed": False, "status": {"code": 403, "message": options.one("deny")}}
        if not options.all("annotate"):
            return {"allowed": True}
        added = dict(pair.partition("=")[::2] for pair in options.all("annotate"))
        annotations = {**(metadata.get("annotations") or {}), **added}
        patch = [{"op": "add", "path": "/metadata/annotations", "value": annotations}]
        return {
            "allowed": True,
            "patchType": "JSONPatch",
            "patch": base64.b64encode(json.dumps(patch).encode()).decode(),
        }

    def _convert(self, asked: dict[str, Any]) -> dict[str, Any]:
        wanted = asked["desiredAPIVersion"]
        names = dict(pair.partition(":")[::2] for pair in self.setting.options.all("rename"))
        converted = [_converted(body, wanted, names) for body in asked["objects"]]
        return {"result": {"status": "Success"}, "convertedObjects": converted}


def _converted(body: dict[str, Any], wanted: str, names: dict[str, str]) -> dict[str, Any]:
    old = names.get(body["apiVersion"].rpartition("/")[2])
    new = names.get(wanted.rpartition("/")[2])
    spec = dict(body.get("spec") or {})
    if old and new and old in spec:
        spec[new] = spec.pop(old)
    return {**body, "apiVersion": wanted, **({"spec": spec} if spec else {})}
