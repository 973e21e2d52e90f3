"""Flags and files of the control plane's components."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.rig import netns

Check = Callable[[], bool]
SERVER = f"https://{netns.API_SERVER}:6443"
ETCD = "http://127.0.0.1:2379"
ETCD_PEERS = "http://127.0.0.1:2380"
NODE_NAME = "node"

# Nothing here has nodes, clouds or disks to attach; the binder would wait for a provisioner.
CONTROLLERS_OFF = (
    "node-lifecycle-controller",
    "node-ipam-controller",
    "cloud-node-lifecycle-controller",
    "persistentvolume-attach-detach-controller",
    "persistentvolume-binder-controller",
    "persistentvolume-expander-controller",
)


def etcd_flags(folder: Path) -> list[str]:
    """Return the flags of etcd: no fsync, since no data outlives the run."""
    return [
        f"--data-dir={folder / 'etcd'}",
        "--unsafe-no-fsync",
        f"--listen-client-urls={ETCD}",
        f"--advertise-client-urls={ETCD}",
        f"--listen-peer-urls={ETCD_PEERS}",
        f"--initial-advertise-peer-urls={ETCD_PEERS}",
        f"--initial-cluster=default={ETCD_PEERS}",
        "--log-level=warn",
    ]


def apiserver_flags(folder: Path, *, aggregator_routing: bool) -> list[str]:
    """Return the flags of kube-apiserver."""
    return [
        f"--etcd-servers={ETCD}",
        f"--bind-address={netns.API_SERVER}",
        f"--advertise-address={netns.API_SERVER}",
        "--secure-port=6443",
        f"--service-cluster-ip-range={netns.SERVICES}",
        "--authorization-mode=RBAC",
        f"--token-auth-file={folder / 'tokens.csv'}",
        f"--client-ca-file={folder / 'ca.crt'}",
        f"--tls-cert-file={folder / 'apiserver.crt'}",
        f"--tls-private-key-file={folder / 'apiserver.key'}",
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        f"--service-account-key-file={folder / 'service-account.pub'}",
        f"--service-account-signing-key-file={folder / 'service-account.key'}",
        f"--requestheader-client-ca-file={folder / 'front-proxy-ca.crt'}",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={folder / 'front-proxy-client.crt'}",
        f"--proxy-client-key-file={folder / 'front-proxy-client.key'}",
        f"--enable-aggregator-routing={str(aggregator_routing).lower()}",
        "--shutdown-delay-duration=0s",
        # Releases of network and storage projects run privileged pods.
        "--allow-privileged=true",
    ]


def controller_manager_flags(folder: Path) -> list[str]:
    """Return the flags of kube-controller-manager."""
    kubeconfig = folder / "kube-controller-manager.kubeconfig"
    return [
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1",
        "--leader-elect=false",
        f"--controllers={','.join(['*', *(f'-{name}' for name in CONTROLLERS_OFF)])}",
        f"--root-ca-file={folder / 'ca.crt'}",
        f"--service-account-private-key-file={folder / 'service-account.key'}",
        f"--cluster-signing-cert-file={folder / 'ca.crt'}",
        f"--cluster-signing-key-file={folder / 'ca.key'}",
        "--kube-api-qps=300",
        "--kube-api-burst=600",
    ]


def proxy_flags(folder: Path) -> list[str]:
    """Return the flags of kube-proxy; the rest stands in its config file."""
    return [f"--config={folder / 'kube-proxy.json'}", f"--hostname-override={NODE_NAME}"]


def proxy_config(folder: Path) -> dict[str, Any]:
    """Return kube-proxy's config: a clusterCIDR over everything, so that nothing is masqueraded."""
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "nftables",
        "clusterCIDR": "10.0.0.0/8",
        "clientConnection": {"kubeconfig": str(folder / "admin.kubeconfig"), "qps": 100, "burst": 200},
        "conntrack": {"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
        "nftables": {"minSyncPeriod": "100ms"},
        "healthzBindAddress": "127.0.0.1:10256",
        "metricsBindAddress": "127.0.0.1:10249",
    }


def kubeconfig(ca_bundle: str, token: str) -> dict[str, Any]:
    """Return a kubeconfig for one token."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "rig",
        "contexts": [{"name": "rig", "context": {"cluster": "rig", "user": "rig"}}],
        "clusters": [{"name": "rig", "cluster": {"server": SERVER, "certificate-authority-data": ca_bundle}}],
        "users": [{"name": "rig", "user": {"token": token}}],
    }
