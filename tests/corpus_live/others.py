"""What other people and controllers write into a release's objects: fields that are not ours."""

from __future__ import annotations

from typing import Any

from agent.core.model import Body, LiveObject, ObjectId
from tests.corpus_live.install import Install
from tests.rig.api import APPLY, MERGE, Api, ApiError

KUBECTL = "kubectl"
CONFLICT = 409
SCALED = ("Deployment", "StatefulSet", "ReplicaSet")
EXTRA = {"name": "ADDED_BY_HAND", "value": "yes"}
PODS = ("Deployment", "DaemonSet", "StatefulSet")


class Others:
    """Writes beside the release; ``written`` counts them by what kubectl would have been asked."""

    def __init__(self, install: Install) -> None:
        self._install = install
        self._api: Api = install.cluster.api
        self.written = {"annotate": 0, "scale": 0, "apply": 0, "apply the same": 0, "conflict": 0}

    def write(self) -> None:
        """Annotate everything, scale what says no size, apply more fields and the very same ones."""
        wanted = self._install.wanted()
        for key, obj in self._install.members().items():
            self._annotate(obj)
            self._scale(obj, wanted[key])
            self._apply(obj, wanted[key])

    def withdraw(self) -> None:
        """Let go of what was applied, so that the release's fields have one owner again."""
        for obj in self._install.members().values():
            meta = {key: obj.metadata[key] for key in ("name", "namespace") if key in obj.metadata}
            empty = {"apiVersion": obj.body["apiVersion"], "kind": obj.id.kind, "metadata": meta}
            self._api.request("PATCH", f"{self._path(obj)}?fieldManager={KUBECTL}", empty, APPLY)

    def _path(self, obj: LiveObject) -> str:
        return self._install.path(obj.id, obj.body)

    def _annotate(self, obj: LiveObject) -> None:
        note = {
            "metadata": {"annotations": {"example.org/seen": "yes"}, "labels": {"example.org/team": "red"}}
        }
        self._api.patch(f"{self._path(obj)}?fieldManager=kubectl-annotate", note, MERGE)
        self.written["annotate"] += 1

    def _scale(self, obj: LiveObject, wanted: Body) -> None:
        if obj.id.kind in SCALED and "replicas" not in wanted["spec"]:
            scale = {"spec": {"replicas": 2}}
            self._api.patch(f"{self._path(obj)}/scale?fieldManager=kubectl-scale", scale, MERGE)
            self.written["scale"] += 1

    def _apply(self, obj: LiveObject, wanted: Body) -> None:
        more = _more(obj.id, wanted)
        body = {**wanted, **more} if more else wanted
        query = f"?fieldManager={KUBECTL}&force=false"
        try:
            self._api.request("PATCH", self._path(obj) + query, without_nulls(body), APPLY)
        except ApiError as error:
            # Equal manifests conflict where the server filled in something atomic: kubectl gives up too.
            if error.status != CONFLICT:
                raise
            self.written["conflict"] += 1
        else:
            self.written["apply" if more else "apply the same"] += 1


def _more(key: ObjectId, wanted: Body) -> Body:
    """What is added beside the release's own fields, by kind."""
    if key.kind == "ConfigMap":
        return {"data": {**(wanted.get("data") or {}), "added-by-hand": "yes"}}
    if key.kind in PODS:
        spec = wanted["spec"]
        pod = spec["template"]["spec"]
        first, *rest = pod["containers"]
        more = {**first, "env": [*(first.get("env") or ()), EXTRA]}
        return {
            "spec": {**spec, "template": {**spec["template"], "spec": {**pod, "containers": [more, *rest]}}}
        }
    return {}


def without_nulls(value: Any) -> Any:
    """A manifest without explicit nulls, which server-side apply does not take everywhere."""
    if isinstance(value, dict):
        return {key: without_nulls(below) for key, below in value.items() if below is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value
