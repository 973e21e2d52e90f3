"""What an identity may do, asked and shown."""

from __future__ import annotations

import pytest

from agent.errors import Forbidden
from tests.contract.bench import MANAGER, RBAC, Bench, config_map, id_of, named, namespace


def test_the_admin_may_do_everything(bench: Bench) -> None:
    assert bench.cluster.can("delete", bench.resource("", "ConfigMap"), "shop") == ""
    assert bench.cluster.can("escalate", bench.resource(RBAC, "ClusterRole")) == ""


def test_an_account_may_do_what_its_bindings_give_and_nothing_else(bench: Bench) -> None:
    maps = bench.resource("", "ConfigMap")
    bench.apply(named("v1", "ServiceAccount", "reader", "shop"))
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}
    bench.apply(named(f"{RBAC}/v1", "Role", "reader", "shop", rules=[rule]))
    subject = {"kind": "ServiceAccount", "name": "reader", "namespace": "shop"}
    role_ref = {"apiGroup": RBAC, "kind": "Role", "name": "reader"}
    bench.apply(named(f"{RBAC}/v1", "RoleBinding", "reader", "shop", subjects=[subject], roleRef=role_ref))
    made = bench.apply(config_map(a="1"))
    account = bench.acting_as("shop", "reader")
    bench.until("the binding counts", lambda: account.can("get", maps, "shop", "web") == "")
    assert account.whoami() == "system:serviceaccount:shop:reader"
    assert account.get(maps, id_of(made)) == made
    denied = account.can("patch", maps, "shop", "web")
    assert "patch ConfigMap" in denied
    assert "shop" in denied
    assert account.can("list", maps) != ""
    with pytest.raises(Forbidden, match="ConfigMap shop/web"):
        account.apply(maps, config_map(a="2"), manager=MANAGER)
    with pytest.raises(Forbidden):
        account.list(maps)
    with pytest.raises(Forbidden):
        account.delete(maps, id_of(made), uid=made["metadata"]["uid"], resource_version="1")
    with pytest.raises(Forbidden):
        account.apply(bench.resource("", "Namespace"), namespace("mine"), manager=MANAGER)
    assert bench.must(made) == made


def test_granting_what_one_lacks_is_a_missing_right(bench: Bench) -> None:
    # kubernetes.io/docs/reference/access-authn-authz/rbac, "Privilege escalation prevention".
    bench.apply(named("v1", "ServiceAccount", "granter", "shop"))
    rule = {"apiGroups": [RBAC], "resources": ["roles"], "verbs": ["get", "create", "patch"]}
    bench.apply(named(f"{RBAC}/v1", "Role", "granter", "shop", rules=[rule]))
    subject = {"kind": "ServiceAccount", "name": "granter", "namespace": "shop"}
    role_ref = {"apiGroup": RBAC, "kind": "Role", "name": "granter"}
    bench.apply(named(f"{RBAC}/v1", "RoleBinding", "granter", "shop", subjects=[subject], roleRef=role_ref))
    roles, account = bench.resource(RBAC, "Role"), bench.acting_as("shop", "granter")
    bench.until("the binding counts", lambda: account.can("patch", roles, "shop") == "")
    rules = [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]
    with pytest.raises(Forbidden, match="Role shop/more"):
        account.apply(roles, named(f"{RBAC}/v1", "Role", "more", "shop", rules=rules), manager=MANAGER)
    assert account.can("escalate", roles, "shop") != ""
