"""Objects with one thing wrong each, as the API server refuses them: the path, the rule and what is said."""

from __future__ import annotations

from typing import Final, NamedTuple

POD: Final = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: web, ports: [{containerPort: 80}], resources: {limits: {cpu: 100m}}}
"""
SERVICE: Final = """
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {selector: {app: web}, ports: [{port: 80, name: http}, {port: 81, name: more}]}
"""
CONFIG: Final = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: default}\ndata: {a: b}\n"
JOB: Final = """
apiVersion: batch/v1
kind: Job
metadata: {name: web, namespace: default}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: web, image: web}]}}}
"""
ROLE: Final = (
    "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: 'a:b'}\n"
    "rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]\n"
)
DEFINITION: Final = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lamps.shop.example}
spec:
  group: shop.example
  scope: Namespaced
  names: {kind: Lamp, plural: lamps}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [watts]
            properties:
              watts: {type: integer, minimum: 1}
              colour: {type: string, enum: [red, green]}
              shape: {type: string, pattern: '^[a-z]+$'}
              size: {x-kubernetes-int-or-string: true}
              more: {type: object, x-kubernetes-preserve-unknown-fields: true}
"""
LAMP: Final = (
    "apiVersion: shop.example/v1\nkind: Lamp\nmetadata: {name: one, namespace: default}\n"
    "spec: {watts: 5, colour: red, shape: round, size: 5, more: {any: thing}}\n"
)


class Bad(NamedTuple):
    """A good object with ``old`` written as ``new``: what is told of it is ``rule`` at ``path``."""

    good: str
    old: str
    new: str
    rule: str
    path: str
    says: str = ""

    @property
    def text(self) -> str:
        """The bad object."""
        assert self.old in self.good
        return self.good.replace(self.old, self.new, 1)


BUILTIN: Final = (
    Bad(
        POD,
        "image: web",
        "imagee: web",
        "unknown-field",
        "spec.template.spec.containers[web].imagee",
        "image?",
    ),
    Bad(POD, "selector:", "replica: 2\n  selector:", "unknown-field", "spec.replica", "replicas?"),
    Bad(
        POD,
        "metadata: {name: web,",
        "metadata: {lables: {a: b}, name: web,",
        "unknown-field",
        "metadata.lables",
    ),
    Bad(
        POD,
        "containerPort: 80",
        'containerPort: "80"',
        "wrong-type",
        "spec.template.spec.containers[web].ports[0]",
    ),
    Bad(POD, "cpu: 100m", "cpu: 100x", "quantity", "spec.template.spec.containers[web].resources.limits.cpu"),
    Bad(
        POD,
        "labels: {app: web}",
        "labels: {app: 1}",
        "wrong-type",
        "spec.template.metadata.labels.app",
        "quotes",
    ),
    Bad(POD, "image: web", "image: web, env: [{name: A, value: 1}]", "wrong-type", "env[A].value", "quotes"),
    Bad(POD, "name: web, image", "name: Web, image", "name", "spec.template.spec.containers[Web].name"),
    Bad(POD, "labels: {app: web}", "labels: {app: shop}", "selector", "spec.selector", "app=web"),
    Bad(
        POD,
        "containers:",
        "initContainers: [{name: web, image: web}]\n      containers:",
        "duplicate",
        "spec.template.spec.initContainers[web].name",
    ),
    Bad(
        POD,
        "image: web",
        "image: web, env: [{name: A, value: x}, {name: A, value: y}]",
        "twice",
        "spec.template.spec.containers[web].env[A]",
    ),
    Bad(
        POD,
        "containerPort: 80",
        "containerPort: 80, name: much-too-long-name",
        "name",
        "ports[much-too-long-name]",
    ),
    Bad(
        POD,
        "containerPort: 80",
        "containerPort: 0",
        "bounds",
        "ports[0].containerPort",
        "between 1 and 65535",
    ),
    Bad(POD, "selector:", "replicas: -1\n  selector:", "bounds", "spec.replicas", "below 0"),
    Bad(POD, "cpu: 100m", "cpu: -100m", "bounds", "containers[web].resources.limits.cpu", "below 0"),
    Bad(POD, "image: web, ", "", "missing-field", "spec.template.spec.containers[web]", "lacks image"),
    Bad(
        POD,
        "image: web",
        "image: web, startupProbe: {periodSeconds: 1}",
        "missing-field",
        "startupProbe",
        "exec",
    ),
    Bad(
        POD,
        "image: web",
        "image: web, env: [{name: A, value: x, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]",
        "choice",
        "spec.template.spec.containers[web].env[A]",
        "has value and valueFrom",
    ),
    Bad(
        POD,
        "containers:",
        "volumes: [{name: a, emptyDir: {}, hostPath: {path: /a}}]\n      containers:",
        "choice",
        "spec.template.spec.volumes[a]",
        "has emptyDir and hostPath",
    ),
    Bad(
        POD,
        "[{containerPort: 80}]",
        "[{containerPort: 80, name: a}, {containerPort: 81, name: a}]",
        "duplicate",
        "ports[a].name",
    ),
    Bad(
        DEFINITION,
        "{type: integer, minimum: 1}",
        "{type: string, default: y}",
        "definition",
        "watts",
        "no string",
    ),
    Bad(
        DEFINITION,
        "{type: integer, minimum: 1}",
        "{type: int}",
        "definition",
        "properties.watts",
        "none of array",
    ),
    Bad(
        DEFINITION,
        "{type: integer, minimum: 1}",
        "{type: object, properties: {a: {type: string}}, additionalProperties: {type: string}}",
        "definition",
        "properties.watts",
        "keep one",
    ),
    Bad(
        DEFINITION,
        "scope:",
        "preserveUnknownFields: true\n  scope:",
        "definition",
        "spec.preserveUnknownFields",
    ),
    Bad(JOB, "{restartPolicy: Never, ", "{", "missing-field", "spec.template.spec", "lacks restartPolicy"),
    Bad(JOB, "Never", "Always", "wrong-value", "spec.template.spec.restartPolicy", "OnFailure, Never"),
    Bad(
        POD,
        "containers:",
        "restartPolicy: Never\n      containers:",
        "wrong-value",
        "spec.template.spec.restartPolicy",
    ),
    Bad(ROLE, "resources: [pods], ", "", "missing-field", "rules[0]", "lacks resources or nonResourceURLs"),
    Bad(CONFIG, "data: {a: b}", "data: {..a: b}", "name", "data", "not .. first"),
    Bad(CONFIG, "data: {a: b}", "binaryData: {a: b}", "base64", "binaryData.a"),
    Bad(SERVICE, "name: more", "name: http", "duplicate", "spec.ports[http].name"),
    Bad(SERVICE, "port: 81, ", "", "missing-field", "spec.ports[more]", "lacks port"),
    Bad(
        SERVICE, "spec: {", "spec: {type: clusterip, ", "wrong-value", "spec.type", "did you mean ClusterIP?"
    ),
    Bad(SERVICE, "name: web,", "name: web.shop,", "name", "metadata.name", "RFC 1123"),
    Bad(CONFIG, "name: web,", "name: Web,", "name", "metadata.name", "RFC 1123"),
    Bad(CONFIG, "data: {a: b}", "data: {a: 1}", "wrong-type", "data.a", "quotes"),
    Bad(CONFIG, "data: {a: b}", "data: {a/b: b}", "name", "data['a/b']"),
    Bad(CONFIG, "name: web,", "name: web, labels: {a: 'b c'},", "labels", "metadata.labels.a"),
    Bad(CONFIG, "name: web,", "name: web, labels: {-a: b},", "labels", "metadata.labels.-a"),
    Bad(
        CONFIG,
        "name: web,",
        "name: web, annotations: {a/b/c: b},",
        "annotations",
        "metadata.annotations['a/b/c']",
    ),
    Bad(ROLE, "verbs: [get]", "verb: [get]", "unknown-field", "rules[0].verb", "verbs?"),
    Bad(ROLE, "a:b", "a/b", "", ""),
    Bad(DEFINITION, "lamps.shop.example", "lamp.shop.example", "definition", "metadata.name"),
    Bad(DEFINITION, "storage: true", "storage: false", "definition", "spec.versions", "0 versions"),
    Bad(
        DEFINITION,
        "colour: {type: string, enum: [red, green]}",
        "colour: {}",
        "definition",
        "spec.versions[v1].schema.openAPIV3Schema.properties.spec.properties.colour",
        "no type",
    ),
)
CUSTOM: Final = (
    Bad(LAMP, "watts: 5", "wats: 5, watts: 5", "unknown-field", "spec.wats", "did you mean watts?"),
    Bad(LAMP, "watts: 5, ", "", "missing-field", "spec", "lacks watts"),
    Bad(LAMP, "watts: 5", "watts: many", "wrong-type", "spec.watts"),
    Bad(LAMP, "watts: 5", "watts: 0", "wrong-value", "spec.watts"),
    Bad(LAMP, "colour: red", "colour: gren", "wrong-value", "spec.colour", "did you mean green?"),
    Bad(LAMP, "shape: round", "shape: ROUND", "wrong-value", "spec.shape"),
)
SIDES: Final = POD.replace(
    "containers:",
    "initContainers: [{name: first, image: web, ports: [{containerPort: 80, name: a}]}]\n      containers:\n"
    "      - {name: more, image: web, ports: [{containerPort: 81, name: a}], env: [{name: A, value: ''}]}",
)
"""Two containers may each have a port of one name."""
GOOD: Final = (POD, SIDES, JOB, SERVICE, CONFIG, ROLE, DEFINITION)
