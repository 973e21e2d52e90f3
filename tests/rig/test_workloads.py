"""Workloads other than Deployments, and what pods need before they start and while they serve."""

from typing import Any

import pytest

from tests.rig.api import Api
from tests.rig.cluster import Cluster
from tests.rig.test_knobs import is_ready, message, pod, state
from tests.rig.test_pods import NAMESPACE, SERVICE, deployment


@pytest.mark.parametrize(("code", "outcome"), [("0", "Complete"), ("3", "Failed")])
def test_job_ends_as_its_pod_does(cluster: Cluster, code: str, outcome: str) -> None:
    template = deployment(exit_code=code)["spec"]["template"]
    template["spec"]["restartPolicy"] = "Never"
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "job", "namespace": "web"},
        "spec": {"backoffLimit": 0, "template": template},
    }
    cluster.apply([NAMESPACE, job])
    path = "/apis/batch/v1/namespaces/web/jobs/job"
    rows = cluster.wait("the end of the job", lambda: cluster.api.get(path)["status"].get("conditions"))
    cluster.wait(
        outcome,
        lambda: outcome in {row["type"] for row in cluster.api.get(path)["status"]["conditions"]},
        timeout=10,
    )
    assert rows


def test_stateful_set_with_claims_gets_volumes_and_starts_in_order(cluster: Cluster) -> None:
    body = deployment("db")
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    body |= {"kind": "StatefulSet"}
    body["spec"] |= {"serviceName": "web", "volumeClaimTemplates": [claim]}
    cluster.apply([NAMESPACE, SERVICE, body])
    path = "/apis/apps/v1/namespaces/web/statefulsets/db"
    cluster.wait("both replicas", lambda: cluster.api.get(path)["status"].get("availableReplicas") == 2)
    claims = cluster.objects("v1", "PersistentVolumeClaim", "web")
    assert [row["status"]["phase"] for row in claims] == ["Bound", "Bound"]


def test_daemon_set_has_one_pod(cluster: Cluster) -> None:
    body = deployment("agent")
    body |= {"kind": "DaemonSet"}
    del body["spec"]["replicas"]
    cluster.apply([NAMESPACE, body])
    path = "/apis/apps/v1/namespaces/web/daemonsets/agent"
    cluster.wait("the pod", lambda: cluster.api.get(path)["status"].get("numberAvailable") == 1)


def test_config_map_missing_the_pod_waits_and_names_it(cluster: Cluster) -> None:
    volumes = [{"name": "settings", "configMap": {"name": "settings"}}]
    cluster.apply([NAMESPACE, pod(spec={"volumes": volumes})])
    cluster.wait("the reason", lambda: 'configmaps "settings" not found' in message(cluster))
    meta = {"name": "settings", "namespace": "web"}
    cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta})
    cluster.wait("readiness", lambda: is_ready(cluster))


def test_need_read_with_the_pods_own_token_answers_500_without_the_right(cluster: Cluster) -> None:
    body = pod()
    body["spec"]["containers"][0]["args"] = ["--need=/api/v1/namespaces/{namespace}/configmaps/settings"]
    meta = {"name": "settings", "namespace": "web"}
    role: dict[str, Any] = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": meta}
    role["rules"] = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}]
    subject = {"kind": "ServiceAccount", "name": "default", "namespace": "web"}
    binding: dict[str, Any] = {**role, "kind": "RoleBinding", "subjects": [subject]}
    del binding["rules"]
    binding["roleRef"] = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "settings"}
    cluster.apply(
        [NAMESPACE, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}, role, binding, body]
    )
    cluster.wait("readiness", lambda: is_ready(cluster))
    client = Api(f"http://{state(cluster)['podIP']}", "none", cluster.api.ca)
    assert client.raw("GET", "/").status == 200
    cluster.delete(binding)
    reply = cluster.wait("a refusal", lambda: _unless_ok(client), timeout=5)
    client.close()
    assert (reply.status, "403" in reply.text) == (500, True)


def _unless_ok(client: Api) -> Any:
    reply = client.raw("GET", "/")
    return None if reply.status == 200 else reply
