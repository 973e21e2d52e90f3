"""A cluster left as it was found: what is new is deleted, what was changed or deleted is put back.

Quick, since it does not wait for anybody: webhooks and aggregated servers of the test go first, so that
nothing can refuse; namespaces are emptied here and then finalized, since the namespace controller waits five
seconds before it begins and stops at every group that does not answer.
"""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from tests.rig.api import Api, ApiError, NotFoundError
from tests.rig.build import RigError
from tests.rig.resources import Object, Resource, all_resources

Key = tuple[Resource, str, str]

WITHIN = 90.0
SETTLE = 0.5
# Written by the control plane itself all the time, or following what they belong to.
FOLLOWERS = frozenset({"events", "leases", "endpoints", "endpointslices", "ipaddresses", "componentstatuses"})
UNSTABLE_META = ("resourceVersion", "managedFields", "generation", "uid", "creationTimestamp", "selfLink")
NO_CONVERSION = {"spec": {"conversion": {"strategy": "None", "webhook": None}}}
ADMISSION = "admissionregistration.k8s.io"
# In this order: first what can refuse writes or hide kinds, then the rest.
BLOCKERS = (
    (ADMISSION, "validatingwebhookconfigurations"),
    (ADMISSION, "mutatingwebhookconfigurations"),
    (ADMISSION, "validatingadmissionpolicybindings"),
    (ADMISSION, "mutatingadmissionpolicybindings"),
    ("apiregistration.k8s.io", "apiservices"),
)


@dataclass(frozen=True)
class Baseline:
    """The objects that were there before, whole, by resource, namespace and name."""

    objects: dict[Key, Object]

    @classmethod
    def take(cls, api: Api) -> "Baseline":
        """Read everything, once the control plane has made what it makes for itself.

        Raises RigError when two looks half a second apart still differ after 30 s.
        """
        resources = all_resources(api)
        deadline = time.monotonic() + WITHIN
        before = _everything(api, resources)
        while time.monotonic() < deadline:
            time.sleep(SETTLE)
            after = _everything(api, resources)
            if before.keys() == after.keys() and all(_same(before[key], after[key]) for key in after):
                return cls(after)
            before = after
        raise RigError("the control plane does not come to rest")

    def restore(self, api: Api) -> None:
        """Bring the cluster back to this; raise RigError naming what would not go within 30 s."""
        deadline = time.monotonic() + WITHIN
        self._unblock(api)
        resources = all_resources(api)
        while True:
            live = _everything(api, resources)
            new = {key: body for key, body in live.items() if key not in self.objects}
            differing = [key for key, body in self.objects.items() if not _same(body, live.get(key))]
            if not new and not differing:
                break
            if time.monotonic() > deadline:
                names = [f"{key[0].kind} {key[1]}/{key[2]}" for key in [*new, *differing]]
                raise RigError(f"the test left behind: {', '.join(sorted(names)[:20])}")
            _each(lambda row: _remove(api, row[0], row[1]), new.items())
            _each(
                lambda row: _put_back(api, *row),
                [(key, self.objects[key], live.get(key)) for key in differing],
            )
            _finalize_empty_namespaces(api, new)
        _each(lambda namespace: _drop_events(api, namespace), {key[1] for key in self.objects if key[1]})

    def _unblock(self, api: Api) -> None:
        """Take away what could refuse or hide the rest."""
        resources = {(row.group, row.name): row for row in all_resources(api)}
        for blocker in BLOCKERS:
            live = _everything(api, [resources[blocker]] if blocker in resources else [])
            _each(
                lambda row: _remove(api, row[0], row[1]),
                [row for row in live.items() if row[0] not in self.objects],
            )
        definitions = resources["apiextensions.k8s.io", "customresourcedefinitions"]
        for key, body in _everything(api, [definitions]).items():
            if key not in self.objects and body["spec"].get("conversion", {}).get("strategy") == "Webhook":
                # A dead conversion webhook would keep the objects of the kind from being listed and deleted.
                _ignoring_absence(partial(api.patch, _path(key), NO_CONVERSION))


def _each(act: Callable[[Any], None], rows: Iterable[Any]) -> None:
    with ThreadPoolExecutor(8) as pool:
        for _ in pool.map(act, list(rows)):
            pass  # map raises what a call raised when its turn comes


def _path(key: Key) -> str:
    return key[0].path(key[2], key[1] or None)


def _everything(api: Api, resources: list[Resource]) -> dict[Key, Object]:
    found: dict[Key, Object] = {}

    def read(resource: Resource) -> None:
        try:
            items = api.get(resource.collection())["items"]
        except NotFoundError:  # its CRD went between discovery and now
            return
        for body in items:
            meta = body["metadata"]
            found[resource, meta.get("namespace", ""), meta["name"]] = body

    _each(read, [resource for resource in resources if resource.name not in FOLLOWERS])
    return found


def _same(before: Object, live: Object | None) -> bool:
    return live is not None and _comparable(before) == _comparable(live)


def _comparable(body: Object) -> Object:
    meta = {key: value for key, value in body["metadata"].items() if key not in UNSTABLE_META}
    return {**{key: value for key, value in body.items() if key != "status"}, "metadata": meta}


def _ignoring_absence(act: Callable[[], object]) -> None:
    try:
        act()
    except NotFoundError:
        return


def _remove(api: Api, key: Key, body: Object) -> None:
    """Delete one object without any wait, and take its finalizers off."""
    resource, meta = key[0], body["metadata"]
    if "kube-aggregator.kubernetes.io/automanaged" in (meta.get("labels") or {}):
        return  # it goes with its CRD
    path = _path(key)
    if "deletionTimestamp" not in meta:
        api.delete(path, gracePeriodSeconds=0, propagationPolicy="Background")
    elif resource.name == "pods":
        api.delete(path, gracePeriodSeconds=0)
    if meta.get("finalizers") and resource.name != "customresourcedefinitions":
        _ignoring_absence(lambda: api.patch(path, {"metadata": {"finalizers": None}}))


def _put_back(api: Api, key: Key, before: Object, live: Object | None) -> None:
    """Write an object as it was; a conflict is left to the next look."""
    dropped = ("resourceVersion", "uid", "managedFields")
    meta = {name: value for name, value in before["metadata"].items() if name not in dropped}
    resource = key[0]
    body = {**before, "apiVersion": resource.api_version, "kind": resource.kind, "metadata": meta}
    try:
        if live is None:
            api.create(resource.collection(key[1] or None), body)
        else:
            api.replace(_path(key), body)
    except ApiError as error:
        if error.status != 409:
            raise


def _finalize_empty_namespaces(api: Api, new: dict[Key, Object]) -> None:
    """Let namespaces go that are being deleted and hold nothing any more."""
    inhabited = {key[1] for key in new}
    for key, body in new.items():
        empty = key[0].kind == "Namespace" and key[2] not in inhabited
        if empty and "deletionTimestamp" in body["metadata"]:
            _drop_events(api, key[2])
            # One that a test made by hand follows nothing: no controller would ever delete it.
            api.request("DELETE", f"/apis/discovery.k8s.io/v1/namespaces/{key[2]}/endpointslices")
            whole = {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": key[2]},
                "spec": {"finalizers": []},
            }
            _ignoring_absence(partial(api.replace, f"{_path(key)}/finalize", whole))


def _drop_events(api: Api, namespace: str) -> None:
    _ignoring_absence(lambda: api.request("DELETE", f"/api/v1/namespaces/{namespace}/events"))
