"""Who may do what: RBAC worked out from Roles, ClusterRoles and their bindings, without asking a server.

The rules are those of Kubernetes' own authorizer ("Using RBAC Authorization", and its
``pkg/apis/rbac/v1/evaluation_helpers.go``):

1. A ClusterRoleBinding grants everywhere, a RoleBinding in its own namespace only; a RoleBinding to a
   ClusterRole grants that role's resource rules in the binding's namespace and none of its URLs.
2. A rule allows when verb, API group, resource and name all match. ``*`` matches anything; ``*/scale``
   that subresource of anything; ``pods`` does not match ``pods/log``; a rule without ``resourceNames``
   matches every name, one with them only requests that carry a name of the list.
3. A URL ending in ``*`` matches every URL that begins with what stands before.
4. A ServiceAccount subject without a namespace means the binding's own; a binding whose role does not
   exist grants nothing; the group ``system:masters`` may do everything, without any binding.
5. Aggregated ClusterRoles count as stored: their rules are filled in by a controller.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from agent.core.model import Body, LiveObject, ObjectId

RBAC_GROUP: Final = "rbac.authorization.k8s.io"
ANY: Final = "*"
MASTERS: Final = "system:masters"
AUTHENTICATED: Final = "system:authenticated"

Key: TypeAlias = tuple[str, str]
"""What a binding names, without namespace defaults: ("User", name) or ("Group", name)."""

_RoleKey: TypeAlias = tuple[str, str, str]


class Subject(NamedTuple):
    """Somebody who asks: the user name and all groups that the authenticator gives them."""

    user: str
    groups: frozenset[str] = frozenset()

    @property
    def keys(self) -> frozenset[Key]:
        """Everything that a binding can name to mean this subject."""
        return frozenset({("User", self.user), *(("Group", group) for group in self.groups)})


@lru_cache(maxsize=4096)
def service_account(namespace: str, name: str) -> Subject:
    """A ServiceAccount as its tokens authenticate it, with its three groups."""
    groups = {"system:serviceaccounts", f"system:serviceaccounts:{namespace}", AUTHENTICATED}
    return Subject(f"system:serviceaccount:{namespace}:{name}", frozenset(groups))


class Ask(NamedTuple):
    """One request as a SubjectAccessReview puts it: a resource, or (``path`` not empty) a URL.

    ``namespace`` empty means all namespaces or a cluster-scoped kind, ``name`` empty a request without one.
    """

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""


class Right(NamedTuple):
    """One allowed combination as a rule spells it, wildcards included.

    ``resource`` has its subresource behind a slash; ``name`` is None for every name; ``namespace`` is
    empty for the whole cluster; ``path`` is a URL, and then group and resource are empty.
    """

    verb: str
    group: str
    resource: str
    name: str | None
    namespace: str
    path: str = ""

    def covers(self, other: Right) -> bool:
        """Whether everything that ``other`` allows is allowed by this one as well."""
        return (
            self.verb in (ANY, other.verb)
            and self.namespace in ("", other.namespace)
            and bool(self.path) == bool(other.path)
            and (_url_matches(self.path, other.path) if self.path else self._covers_resource(other))
        )

    def _covers_resource(self, other: Right) -> bool:
        _, _, subresource = other.resource.partition("/")
        return (
            self.group in (ANY, other.group)
            and _resource_matches(self.resource, other.resource, subresource)
            and self.name in (None, other.name)
        )

    def __str__(self) -> str:
        """``get deployments.apps/scale "web" in shop``."""
        if self.path:
            return f"{self.verb} {self.path}"
        resource, slash, subresource = self.resource.partition("/")
        what = (f"{resource}.{self.group}" if self.group else resource) + slash + subresource
        name = "" if self.name is None else f' "{self.name}"'
        return f"{self.verb} {what}{name}" + (f" in {self.namespace}" if self.namespace else "")


def lost(before: frozenset[Right], after: frozenset[Right]) -> frozenset[Right]:
    """What ``before`` allowed and no single right of ``after`` covers any more."""
    return frozenset(right for right in before - after if not any(held.covers(right) for held in after))


class _Binding(NamedTuple):
    keys: frozenset[Key]
    role: _RoleKey
    namespace: str


class Rights:
    """All rights of a cluster at one moment; ``put`` and ``drop`` move it to the next."""

    def __init__(self, objects: Iterable[LiveObject] = ()) -> None:
        self._rules: dict[_RoleKey, tuple[Body, ...]] = {}
        self._bindings: dict[ObjectId, _Binding] = {}
        self._by_key: dict[Key, frozenset[ObjectId]] = {}
        self._by_role: dict[_RoleKey, frozenset[ObjectId]] = {}
        for obj in objects:
            self.put(obj.id, obj.body)

    def copy(self) -> Rights:
        """An independent copy; bodies stay shared."""
        other = Rights()
        other._rules = dict(self._rules)
        other._bindings = dict(self._bindings)
        other._by_key = dict(self._by_key)
        other._by_role = dict(self._by_role)
        return other

    def put(self, object_id: ObjectId, body: Body) -> frozenset[Key]:
        """Take in a new or changed object; the keys whose rights may have changed (none for other kinds)."""
        if object_id.group != RBAC_GROUP:
            return frozenset()
        if object_id.kind in ("Role", "ClusterRole"):
            role = (object_id.kind, object_id.namespace, object_id.name)
            self._rules[role] = tuple(body.get("rules") or ())
            return self._bound_to(role)
        if object_id.kind not in ("RoleBinding", "ClusterRoleBinding"):
            return frozenset()
        before = self._unbind(object_id)
        binding = _binding_of(object_id, body)
        self._bindings[object_id] = binding
        for key in binding.keys:
            self._by_key[key] = self._by_key.get(key, frozenset()) | {object_id}
        self._by_role[binding.role] = self._by_role.get(binding.role, frozenset()) | {object_id}
        return before | binding.keys

    def drop(self, object_id: ObjectId) -> frozenset[Key]:
        """Forget a deleted object; the keys whose rights may have changed."""
        role = (object_id.kind, object_id.namespace, object_id.name)
        if object_id.group == RBAC_GROUP and self._rules.pop(role, None) is not None:
            return self._bound_to(role)
        return self._unbind(object_id)

    def keys(self) -> frozenset[Key]:
        """Every user and group that some binding names."""
        return frozenset(self._by_key)

    def allows(self, subject: Subject, ask: Ask) -> bool:
        """What the API server's RBAC authorizer answers to this request."""
        if MASTERS in subject.groups:
            return True
        return any(
            _rule_allows(rule, ask)
            for binding in self._of(subject)
            if not binding.namespace or (binding.namespace == ask.namespace and not ask.path)
            for rule in self._rules.get(binding.role, ())
        )

    def rights_of(self, subject: Subject) -> frozenset[Right]:
        """Every right of the subject, expanded to one tuple for each combination of its rules."""
        if MASTERS in subject.groups:
            return frozenset({Right(ANY, ANY, ANY, None, ""), Right(ANY, "", "", None, "", ANY)})
        return frozenset(
            right
            for binding in self._of(subject)
            for rule in self._rules.get(binding.role, ())
            for right in expanded(rule, binding.namespace)
        )

    def _of(self, subject: Subject) -> Iterator[_Binding]:
        found = {oid for key in subject.keys for oid in self._by_key.get(key, ())}
        return (self._bindings[oid] for oid in found)

    def _bound_to(self, role: _RoleKey) -> frozenset[Key]:
        bindings = self._by_role.get(role, frozenset())
        return frozenset(key for oid in bindings for key in self._bindings[oid].keys)

    def _unbind(self, object_id: ObjectId) -> frozenset[Key]:
        binding = self._bindings.pop(object_id, None)
        if binding is None:
            return frozenset()
        for key in binding.keys:
            _discard(self._by_key, key, object_id)
        _discard(self._by_role, binding.role, object_id)
        return binding.keys


def _discard(index: dict[Any, frozenset[ObjectId]], key: Any, object_id: ObjectId) -> None:
    rest = index[key] - {object_id}
    if rest:
        index[key] = rest
    else:
        del index[key]


def _binding_of(object_id: ObjectId, body: Body) -> _Binding:
    ref = body.get("roleRef") or {}
    kind = str(ref.get("kind", ""))
    role_namespace = object_id.namespace if kind == "Role" else ""
    keys = (_key(subject, object_id.namespace) for subject in body.get("subjects") or ())
    return _Binding(
        frozenset(key for key in keys if key is not None),
        (kind, role_namespace, str(ref.get("name", ""))),
        object_id.namespace,
    )


def _key(subject: Body, namespace: str) -> Key | None:
    name = str(subject.get("name", ""))
    if subject.get("kind") != "ServiceAccount":
        return (str(subject.get("kind")), name) if subject.get("kind") in ("User", "Group") else None
    namespace = str(subject.get("namespace") or namespace)
    return ("User", service_account(namespace, name).user) if namespace else None


def _rule_allows(rule: Body, ask: Ask) -> bool:
    verbs = rule.get("verbs") or ()
    if ANY not in verbs and ask.verb not in verbs:
        return False
    if ask.path:
        return any(_url_matches(url, ask.path) for url in rule.get("nonResourceURLs") or ())
    groups, names = rule.get("apiGroups") or (), rule.get("resourceNames") or ()
    resource = f"{ask.resource}/{ask.subresource}" if ask.subresource else ask.resource
    return (
        (ANY in groups or ask.group in groups)
        and (not names or ask.name in names)
        and any(_resource_matches(held, resource, ask.subresource) for held in rule.get("resources") or ())
    )


def _resource_matches(held: str, wanted: str, subresource: str) -> bool:
    return held in (ANY, wanted) or (bool(subresource) and held == f"*/{subresource}")


def _url_matches(held: str, wanted: str) -> bool:
    return held in (ANY, wanted) or (held.endswith(ANY) and wanted.startswith(held.rstrip(ANY)))


def expanded(rule: Body, namespace: str) -> Iterator[Right]:
    """One right for each combination that a rule names, in a namespace or (empty) everywhere."""
    names = rule.get("resourceNames") or (None,)
    for verb in rule.get("verbs") or ():
        for group in rule.get("apiGroups") or ():
            for resource in rule.get("resources") or ():
                for name in names:
                    yield Right(verb, group, resource, name, namespace)
        # A URL has no namespace, so a RoleBinding never grants one.
        for url in () if namespace else rule.get("nonResourceURLs") or ():
            yield Right(verb, "", "", None, "", url)
