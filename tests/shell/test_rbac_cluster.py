"""The RBAC evaluator beside the API server's own answers: hundreds of SubjectAccessReviews."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any, Final

from agent.core.model import Body, LiveObject
from agent.core.policy import id_of
from agent.core.rbac import Ask, Rights, Subject, service_account
from tests.rig.cluster import Cluster

API: Final = "rbac.authorization.k8s.io"
KINDS: Final = ("clusterroles", "clusterrolebindings", "roles", "rolebindings")
NAMESPACES: Final = ("blue", "green")
ASKS: Final = 1500

SUBJECTS: Final[tuple[Body, ...]] = (
    {"kind": "ServiceAccount", "name": "web", "namespace": "blue"},
    {"kind": "ServiceAccount", "name": "web", "namespace": "green"},
    {"kind": "User", "name": "jo", "apiGroup": API},
    {"kind": "User", "name": "system:serviceaccount:blue:web", "apiGroup": API},
    {"kind": "Group", "name": "team", "apiGroup": API},
    {"kind": "Group", "name": "system:serviceaccounts:green", "apiGroup": API},
    {"kind": "Group", "name": "system:serviceaccounts", "apiGroup": API},
)
ASKERS: Final = (
    service_account("blue", "web"),
    service_account("green", "web"),
    service_account("green", "other"),
    service_account("kube-system", "generic-garbage-collector"),
    Subject("jo", frozenset({"system:authenticated"})),
    Subject("jo", frozenset({"team", "system:authenticated"})),
    Subject("ann", frozenset({"team"})),
    Subject("admin", frozenset({"system:masters"})),
    Subject("system:kube-scheduler", frozenset({"system:authenticated"})),
    Subject("nobody"),
)
VERBS: Final = ("get", "list", "update", "delete", "*")
GROUPS: Final = ("", "apps", "example.org", "*")
RESOURCES: Final = ("pods", "pods/log", "deployments", "deployments/scale", "secrets", "*", "*/scale")
NAMES: Final = ("a", "b")
URLS: Final = ("/healthz", "/healthz/*", "/metrics", "/api*", "*")


def some(random: Random, values: tuple[str, ...], least: int = 1) -> list[str]:
    return random.sample(values, random.randint(least, 2))


def rules(random: Random, *, urls: bool) -> list[Body]:
    made: list[Body] = []
    for _ in range(random.randint(1, 2)):
        if urls and random.random() < 0.3:
            made.append({"verbs": some(random, VERBS), "nonResourceURLs": some(random, URLS)})
            continue
        rule: Body = {
            "verbs": some(random, VERBS),
            "apiGroups": some(random, GROUPS),
            "resources": some(random, RESOURCES),
        }
        made.append({**rule, "resourceNames": some(random, NAMES)} if random.random() < 0.3 else rule)
    return made


def space(name: str) -> Body:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def rbac(kind: str, name: str, namespace: str = "", **rest: Any) -> Body:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": f"{API}/v1", "kind": kind, "metadata": metadata, **rest}


def bound(random: Random, kinds: tuple[str, ...]) -> Body:
    ref = {"kind": random.choice(kinds), "name": f"r{random.randrange(8)}", "apiGroup": API}
    subjects = random.sample(SUBJECTS, random.randint(1, 2))
    return {"roleRef": ref, "subjects": [dict(subject) for subject in subjects]}


def made(random: Random) -> list[Body]:
    """Dozens of roles and bindings, some to roles that are not there."""
    bodies = [rbac("ClusterRole", f"r{n}", rules=rules(random, urls=True)) for n in range(7)]
    bodies += [rbac("ClusterRoleBinding", f"b{n}", **bound(random, ("ClusterRole",))) for n in range(6)]
    for space in NAMESPACES:
        bodies += [rbac("Role", f"r{n}", space, rules=rules(random, urls=False)) for n in range(7)]
        bodies += [
            rbac("RoleBinding", f"b{n}", space, **bound(random, ("Role", "ClusterRole"))) for n in range(8)
        ]
    own = bodies[-1]
    own["subjects"].append({"kind": "ServiceAccount", "name": "web"})
    return bodies


def asked(random: Random) -> Ask:
    verb = random.choice(("get", "list", "update", "delete", "create"))
    if random.random() < 0.2:
        return Ask(verb, path=random.choice(("/healthz", "/healthz/etcd", "/metrics", "/api/v1", "/version")))
    resource, sub = random.choice((("pods", ""), ("pods", "log"), ("deployments", "scale"), ("secrets", "")))
    group = random.choice(("", "apps", "example.org"))
    return Ask(verb, group, resource, sub, random.choice(("", *NAMESPACES)), random.choice(("", *NAMES, "c")))


def answer(cluster: Cluster, subject: Subject, ask: Ask) -> bool:
    """What the API server says."""
    if ask.path:
        attributes: Body = {"nonResourceAttributes": {"path": ask.path, "verb": ask.verb}}
    else:
        fields = ("verb", "group", "resource", "subresource", "namespace", "name")
        attributes = {"resourceAttributes": {field: getattr(ask, field) for field in fields}}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": subject.user, "groups": sorted(subject.groups), **attributes},
    }
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    return bool(cluster.api.request("POST", path, review)["status"]["allowed"])


def standing(cluster: Cluster) -> list[LiveObject]:
    """Every RBAC object of the server, its own included."""
    found = []
    for plural in KINDS:
        listed = cluster.api.get(f"/apis/{API}/v1/{plural}")
        kind = listed["kind"].removesuffix("List")
        for item in listed["items"]:
            body = {**item, "apiVersion": f"{API}/v1", "kind": kind}
            found.append(LiveObject(id_of(body), body))
    return found


def marker(namespace: str) -> list[Body]:
    """What comes last through the authorizer's caches: when it is in force, so is all before it."""
    rule = {"verbs": ["get"], "apiGroups": ["marker"], "resources": ["marks"]}
    role = "Role" if namespace else "ClusterRole"
    binding = {
        "roleRef": {"kind": role, "name": "zz", "apiGroup": API},
        "subjects": [{"kind": "User", "name": "marker", "apiGroup": API}],
    }
    return [rbac(role, "zz", namespace, rules=[rule]), rbac(f"{role}Binding", "zz", namespace, **binding)]


def test_the_evaluator_answers_as_the_api_server_does(cluster: Cluster) -> None:
    random = Random(20)  # noqa: S311 - a fixed sequence of rules and asks, nothing secret
    spaces: list[Body] = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": n}} for n in NAMESPACES
    ]
    cluster.apply([*spaces, *made(random), *marker(""), *marker("green")])
    for place in ("", "green"):
        mark = Ask("get", "marker", "marks", "", place, "m")
        cluster.wait("the rules in force", partial(answer, cluster, Subject("marker"), mark))
    objects = standing(cluster)
    rights = Rights(objects)
    assert len(objects) > 150
    wrong, allowed = [], 0
    for _ in range(ASKS):
        subject, ask = random.choice(ASKERS), asked(random)
        said = answer(cluster, subject, ask)
        allowed += said
        if rights.allows(subject, ask) is not said:
            wrong.append((said, subject, ask))
    assert wrong == []
    assert ASKS // 5 < allowed < ASKS - ASKS // 5
