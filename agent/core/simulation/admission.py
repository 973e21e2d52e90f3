"""Admission: namespaces that end, ServiceAccounts that lack, webhooks that refuse or do not answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from agent.core.model import Body, ObjectId
from agent.core.simulation.draft import Draft
from agent.core.simulation.matching import is_meant
from agent.core.simulation.selectors import selects
from agent.core.simulation.serving import backends, through_resolver
from agent.core.simulation.standins import flags_of, one
from agent.core.simulation.tables import Served, dig, put
from agent.core.simulation.world import State
from agent.errors import Forbidden, Invalid, NotFound, Rejected

ADMISSION: Final = "admissionregistration.k8s.io"


def check_namespace(state: State, served: Served, object_id: ObjectId) -> None:
    """A new object needs its namespace, and one that is not ending.

    https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#namespacelifecycle
    """
    if not served.is_namespaced:
        return
    namespace = state.get(ObjectId("", "Namespace", "", object_id.namespace))
    if namespace is None:
        raise NotFound(f'namespaces "{object_id.namespace}" not found')
    if "deletionTimestamp" in namespace["metadata"]:
        raise Rejected(
            f"{object_id} is forbidden: unable to create new content in namespace {object_id.namespace} "
            "because it is being terminated"
        )


def check_service_account(state: State, pod: Body) -> None:
    """A pod needs its ServiceAccount.

    https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#serviceaccount
    """
    name, namespace = pod["spec"].get("serviceAccountName") or "default", pod["metadata"]["namespace"]
    if state.get(ObjectId("", "ServiceAccount", namespace, name)) is None:
        raise Forbidden(
            f'pods "{pod["metadata"]["name"]}" is forbidden: error looking up service account '
            f'{namespace}/{name}: serviceaccount "{name}" not found'
        )


def admitted(
    draft: Draft, served: Served, operation: str, body: Body, before: Body | None, *, is_dry: bool = False
) -> Body:
    """The body after all webhooks that match; raises ``Rejected`` where one refuses or cannot be asked.

    https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
    """
    if served.kind.group == ADMISSION:
        return body
    for hook in _hooks(draft, served, operation, body, before):
        body = _ask(draft, hook, body, is_dry=is_dry)
    return body


def _hooks(draft: Draft, served: Served, operation: str, body: Body, before: Body | None) -> Iterator[Body]:
    for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
        for _, configuration in sorted(draft.of(ADMISSION, kind).items()):
            for hook in configuration.get("webhooks") or ():
                is_matched = any(_matches(rule, served, operation) for rule in hook.get("rules") or ())
                if (
                    is_matched
                    and _is_selected(draft, hook, served, (body, before))
                    and is_meant(hook, served, operation, body, before)
                ):
                    yield hook


def _matches(rule: Body, served: Served, operation: str) -> bool:
    """MatchPolicy Equivalent, the default: any version in which the kind is served will do."""

    def has(field: str, value: str) -> bool:
        values = rule.get(field) or ()
        return "*" in values or value in values

    scope = rule.get("scope", "*")
    return (
        has("operations", operation)
        and has("apiGroups", served.kind.group)
        and any(has("apiVersions", version) for version in served.versions)
        and (has("resources", served.plural) or "*/*" in rule.get("resources", ()))
        and scope in ("*", "Namespaced" if served.is_namespaced else "Cluster")
    )


def _is_selected(draft: Draft, hook: Body, served: Served, bodies: tuple[Body, Body | None]) -> bool:
    """NamespaceSelector on the namespace's labels, objectSelector on the object's, new or old."""
    body, _ = bodies
    labels: Any = None
    if served.is_namespaced:
        namespace = draft.get(ObjectId("", "Namespace", "", body["metadata"]["namespace"]))
        labels = dig(namespace, ("metadata", "labels"))
    elif served.kind.kind == "Namespace":
        labels = body["metadata"].get("labels")
    asks_namespace = served.is_namespaced or served.kind.kind == "Namespace"
    if asks_namespace and not selects(hook.get("namespaceSelector") or {}, labels or {}):
        return False
    selector = hook.get("objectSelector") or {}
    return any(
        side is not None and selects(selector, side["metadata"].get("labels") or {}) for side in bodies
    )


def _ask(draft: Draft, hook: Body, body: Body, *, is_dry: bool) -> Body:
    if is_dry and hook.get("sideEffects") not in ("None", "NoneOnDryRun"):
        raise Invalid(f'admission webhook "{hook["name"]}" does not support dry run')
    ref = hook["clientConfig"].get("service")
    # What stands outside the cluster cannot be judged from its objects: it counts as not answering.
    reason = f"{hook['clientConfig'].get('url')} is outside" if ref is None else ""
    if ref is not None:
        reply = through_resolver(draft, ref)
        reason = "" if reply.is_right else str(reply)
    if reason:
        if hook.get("failurePolicy") == "Ignore":
            return body
        raise Rejected(f'failed calling webhook "{hook["name"]}": {reason}')
    for pod in backends(draft, ref["namespace"], ref["name"]):
        body = _verdict(hook, pod, body)
    return body


def _verdict(hook: Body, pod: Body, body: Body) -> Body:
    flags = flags_of(pod, "webhook") or {}
    key, _, value = one(flags, "deny-label").partition("=")
    meant = not key or (body["metadata"].get("labels") or {}).get(key) == value
    if "deny" in flags and meant:
        raise Rejected(f'admission webhook "{hook["name"]}" denied the request: {one(flags, "deny")}')
    for pair in flags.get("annotate", ()):
        name, _, text = pair.partition("=")
        body = put(body, ("metadata", "annotations", name), text)
    return body
