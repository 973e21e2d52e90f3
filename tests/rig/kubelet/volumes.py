"""What a pod must find before its containers start: ConfigMaps, Secrets and claims that it names."""

import base64
from collections.abc import Iterator
from typing import Any

from tests.rig.api import STRATEGIC, Api
from tests.rig.pki import KeyPair


def missing(admin: Api, pod: dict[str, Any]) -> str | None:
    """Return in words what the pod still waits for; bind the claims that it names to made-up volumes."""
    namespace = pod["metadata"]["namespace"]
    for kind, name in sorted(set(_needed(pod["spec"]))):
        if admin.find(f"/api/v1/namespaces/{namespace}/{kind}/{name}") is None:
            return f'{kind} "{name}" not found'
    for name in _claims(pod):
        if not _bound(admin, namespace, name):
            return f'persistentvolumeclaim "{name}" not found'
    return None


def _needed(spec: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for volume in spec.get("volumes") or []:
        sources = [volume, *volume.get("projected", {}).get("sources", [])]
        for source in sources:
            yield from _reference(source.get("configMap"), "configmaps", "name")
            yield from _reference(
                source.get("secret"), "secrets", "secretName" if source is volume else "name"
            )
    for container in [*(spec.get("initContainers") or []), *spec["containers"]]:
        for source in container.get("envFrom") or []:
            yield from _reference(source.get("configMapRef"), "configmaps", "name")
            yield from _reference(source.get("secretRef"), "secrets", "name")
        for variable in container.get("env") or []:
            source = variable.get("valueFrom") or {}
            yield from _reference(source.get("configMapKeyRef"), "configmaps", "name")
            yield from _reference(source.get("secretKeyRef"), "secrets", "name")
        for word in container.get("args") or []:
            if word.startswith("--tls-secret="):
                yield "secrets", word.partition("=")[2]


def _reference(source: dict[str, Any] | None, kind: str, key: str) -> Iterator[tuple[str, str]]:
    if source and not source.get("optional") and source.get(key):
        yield kind, source[key]


def _claims(pod: dict[str, Any]) -> list[str]:
    volumes = pod["spec"].get("volumes") or []
    claimed = [
        volume["persistentVolumeClaim"]["claimName"]
        for volume in volumes
        if "persistentVolumeClaim" in volume
    ]
    # A generic ephemeral volume's claim is made by its controller and named after pod and volume.
    ephemeral = [f"{pod['metadata']['name']}-{volume['name']}" for volume in volumes if "ephemeral" in volume]
    return claimed + ephemeral


def _bound(admin: Api, namespace: str, name: str) -> bool:
    """Bind a claim to a made-up volume, in place of binder and provisioner; False without a claim."""
    path = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{name}"
    claim = admin.find(path)
    if claim is None:
        return False
    if claim.get("status", {}).get("phase") == "Bound":
        return True
    uid, spec = claim["metadata"]["uid"], claim["spec"]
    volume = f"pvc-{uid}"
    body = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": volume},
        "spec": {
            "capacity": spec["resources"]["requests"],
            "accessModes": spec["accessModes"],
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": spec.get("storageClassName") or "",
            "hostPath": {"path": f"/var/lib/volumes/{uid}"},
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": namespace,
                "name": name,
                "uid": uid,
            },
        },
    }
    if admin.find(f"/api/v1/persistentvolumes/{volume}") is None:
        admin.create("/api/v1/persistentvolumes", body)
    admin.patch(f"/api/v1/persistentvolumes/{volume}/status", {"status": {"phase": "Bound"}})
    admin.patch(path, {"spec": {"volumeName": volume}}, STRATEGIC)
    status = {"phase": "Bound", "accessModes": spec["accessModes"], "capacity": spec["resources"]["requests"]}
    admin.patch(f"{path}/status", {"status": status})
    return True


def serving_pair(admin: Api, namespace: str, secret: str) -> KeyPair:
    """Return the certificate and key of a TLS Secret; raise NotFoundError or KeyError where it has none."""
    data = admin.get(f"/api/v1/namespaces/{namespace}/secrets/{secret}")["data"]
    return KeyPair(base64.b64decode(data["tls.crt"]), base64.b64decode(data["tls.key"]))
