"""Rights that reach a pod by other ways than its ServiceAccount's own binding stay until the pod is gone."""

from __future__ import annotations

import pytest

from tests.shell.judged import Judged
from tests.shell.releases import namespace, server

SLOW = "standin.dev/ready-after: '1', standin.dev/slow-stop: '8'"
BOTH = (namespace("old"), namespace("new"))

GATHERS = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: gathers}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {goes-into: gathers}}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: gathers}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: gathers}
subjects:
- {kind: ServiceAccount, name: api, namespace: old}
- {kind: ServiceAccount, name: api, namespace: new}
"""


def part(*resources: str) -> str:
    """A role whose rules another one gathers."""
    return f"""\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {{name: part, labels: {{goes-into: gathers}}}}
rules: [{{apiGroups: [""], resources: [{", ".join(resources)}], verbs: [get]}}]
"""


def binding(kind: str, name: str) -> str:
    """A ClusterRoleBinding with one subject that is no ServiceAccount."""
    return f"""\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {{name: storage}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}}
subjects: [{{kind: {kind}, apiGroup: rbac.authorization.k8s.io, name: "{name}"}}]
"""


@pytest.mark.parametrize(
    ("kind", "of_old", "of_new"),
    [
        ("User", "system:serviceaccount:old:api", "system:serviceaccount:new:api"),
        ("Group", "system:serviceaccounts:old", "system:serviceaccounts:new"),
        ("Group", "system:serviceaccounts", "system:serviceaccounts:new"),
        ("Group", "system:authenticated", "system:serviceaccounts:new"),
    ],
)
def test_users_and_groups_that_stand_for_accounts_keep_their_rights(
    kind: str, of_old: str, of_new: str
) -> None:
    old = (*BOTH, server("old", knobs=SLOW), binding(kind, of_old))
    written = Judged(old, (*BOTH, server("new", knobs=SLOW), binding(kind, of_new))).run()
    assert "narrow ClusterRoleBinding storage" in written


@pytest.mark.parametrize("left", [(part("pods"),), ()], ids=["narrowed", "removed"])
def test_rules_that_another_role_gathers_stay_for_those_who_are_bound_to_that_one(
    left: tuple[str, ...],
) -> None:
    old = (*BOTH, server("old", knobs=SLOW), GATHERS, part("pods", "secrets"))
    written = Judged(old, (*BOTH, server("new", knobs=SLOW), GATHERS, *left)).run()
    assert {"narrow ClusterRole part", "delete ClusterRole part"} & set(written)


@pytest.mark.parametrize(
    "labels",
    [{"labels": ""}, {"labels": "goes-into: others"}, {"labels": "goes-into: others, plain: more"}],
    ids=["dropped", "changed", "changed beside another"],
)
def test_a_label_that_a_role_is_gathered_by_goes_when_nobody_has_its_rules_from_there(
    labels: dict[str, str],
) -> None:
    new = part("pods").replace("labels: {goes-into: gathers}", f"labels: {{{labels['labels']}}}")
    old = (*BOTH, server("old", knobs=SLOW), GATHERS, part("pods"))
    written = Judged(old, (*BOTH, server("new", knobs=SLOW), GATHERS, new)).run()
    assert written.index("delete Deployment old/api") < written.index("narrow ClusterRole part")


def test_a_role_gathers_by_both_selectors_until_nobody_of_the_old_release_has_rights_from_it() -> None:
    more = part("pods").replace("name: part", "name: more").replace("goes-into: gathers", "goes-to: gathers")
    again = GATHERS.replace("goes-into: gathers", "goes-to: gathers")
    old = (*BOTH, server("old", knobs=SLOW), GATHERS, part("secrets"), more)
    judged = Judged(old, (*BOTH, server("new", knobs=SLOW), again, part("secrets"), more))
    written = judged.run()
    assert written.index("delete Deployment old/api") < written.index("narrow ClusterRole gathers")
    live = judged.job.get("ClusterRole.rbac.authorization.k8s.io", "gathers")
    assert live is not None
    assert live["aggregationRule"] == {"clusterRoleSelectors": [{"matchLabels": {"goes-to": "gathers"}}]}
    assert [rule["resources"] for rule in live["rules"]] == [["pods"]]
