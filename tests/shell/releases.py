"""Small releases for the main job: an API server of its own that moves, a web application, its rights."""

from __future__ import annotations

CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: default}
data: {colour: %s}
"""


def namespace(name: str) -> str:
    return f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n"


def server(where: str, *, replicas: int = 2, knobs: str = "standin.dev/ready-after: '2'") -> str:
    """A Deployment behind a Service in ``where``, under a ServiceAccount of its own."""
    return f"""\
apiVersion: v1
kind: ServiceAccount
metadata: {{name: api, namespace: {where}}}
---
apiVersion: v1
kind: Service
metadata: {{name: api, namespace: {where}}}
spec:
  selector: {{app: api}}
  ports: [{{port: 443, targetPort: 8443}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: api, namespace: {where}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: api}}}}
  template:
    metadata:
      labels: {{app: api}}
      annotations: {{{knobs}}}
    spec:
      serviceAccountName: api
      containers: [{{name: api, image: "standin/http:1", ports: [{{containerPort: 8443}}]}}]
"""


def binding(*namespaces: str, role: str = "view") -> str:
    """A ClusterRoleBinding that keeps its name while its subjects change."""
    subjects = ", ".join(f"{{kind: ServiceAccount, name: api, namespace: {name}}}" for name in namespaces)
    return f"""\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {{name: api-storage}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {role}}}
subjects: [{subjects}]
"""


def ingress(service: str) -> str:
    """A pointer to ``service`` in the namespace ``where`` of both."""
    where, _, name = service.partition("/")
    return f"""\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {{name: front, namespace: {where}}}
spec:
  rules:
  - host: shop.example
    http:
      paths:
      - {{path: /, pathType: Prefix, backend: {{service: {{name: {name}, port: {{number: 80}}}}}}}}
"""


def web(
    name: str, *, replicas: int = 2, knobs: str = "standin.dev/ready-after: '1'", where: str = "front"
) -> str:
    """A web application: a Deployment and its Service, both called ``name``."""
    return f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: {where}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}, annotations: {{{knobs}}}}}
    spec:
      containers: [{{name: web, image: "standin/http:1", ports: [{{containerPort: 8080}}]}}]
---
apiVersion: v1
kind: Service
metadata: {{name: {name}, namespace: {where}}}
spec:
  selector: {{app: {name}}}
  ports: [{{port: 80, targetPort: 8080}}]
"""


def labelled(labels: str, *, selector: str = "", service: str = "", more: str = "") -> str:
    """A Deployment ``web`` with these labels, behind a Service of the same name."""
    return f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: front}}
spec:
  replicas: 2
  selector: {{matchLabels: {{{selector or labels}}}}}
  {more}
  template:
    metadata: {{labels: {{{labels}}}, annotations: {{standin.dev/ready-after: '2'}}}}
    spec:
      containers: [{{name: web, image: "standin/http:1", ports: [{{containerPort: 8080}}]}}]
---
apiVersion: v1
kind: Service
metadata: {{name: web, namespace: front}}
spec:
  selector: {{{service or labels}}}
  ports: [{{port: 80, targetPort: 8080}}]
"""
