"""The shipped schemas beside the API server that they come from, and what both say of bad objects."""

from __future__ import annotations

from agent.core.model import Body, Severity
from agent.core.validation.checks import validated
from agent.errors import ClusterError
from agent.shell.kube import KubeCluster, connect
from agent.shell.policies import load_structures
from tests.core.casefiles import shipped
from tests.core.upgrades import release
from tests.core.validation.bad import BUILTIN, CUSTOM, DEFINITION, GOOD, LAMP
from tests.rig.cluster import Cluster
from tests.rig.schemas import TABLE, read_table, unpacked


def test_the_shipped_table_is_what_the_server_says(cluster: Cluster) -> None:
    assert read_table(cluster.api) == unpacked(TABLE), "make schemas renews it"


def body_of(text: str) -> Body:
    (manifest,) = release(text).manifests.values()
    return manifest.body


def refused(server: KubeCluster, body: Body) -> str:
    """What the server says to an apply that is not stored; empty where it takes the object."""
    served = {str(r.kind): r for r in server.discover().resources.values()}
    group, _, _ = body["apiVersion"].rpartition("/")
    resource = served[f"{body['kind']}.{group}" if group else body["kind"]]
    try:
        server.dry_run(resource, body, manager="test")
    except ClusterError as error:
        return str(error)
    return ""


def is_told(text: str, beside: str = "") -> bool:
    found = validated(release(beside + text), shipped(), load_structures())
    return any(one.finding.severity is not Severity.WARNING for one in found)


def test_the_server_refuses_what_is_told_to_be_wrong(cluster: Cluster) -> None:
    server = connect(str(cluster.kubeconfig))
    taken = [bad for bad in BUILTIN if bad.rule and not refused(server, body_of(bad.text))]
    assert taken == []
    assert [good for good in GOOD if refused(server, body_of(good)) or is_told(good)] == []


def test_the_server_refuses_bad_objects_of_a_custom_kind(cluster: Cluster) -> None:
    cluster.apply(DEFINITION)
    server = connect(str(cluster.kubeconfig))
    cluster.wait("Lamps are served", lambda: any(k.kind == "Lamp" for k in server.discover().resources))
    assert refused(server, body_of(LAMP)) == ""
    assert [bad for bad in CUSTOM if not refused(server, body_of(bad.text))] == []
