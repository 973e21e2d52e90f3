"""kustomize and helm: what they are told, by programs that stand in; what they answer, by themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.build import kinds_of
from agent.core.ledger import Source as Base
from agent.core.refs import Ref, RefKind
from agent.core.render_tool import Rendering, Tool
from agent.errors import ConfigError, SourceError
from agent.settings import settings_of
from agent.shell.rendering import Renderer
from agent.shell.repo import Repo
from agent.shell.set_source import GitSource
from agent.shell.source import Source
from tests.core.validation.bad import DEFINITION
from tests.rig.golang import GoProgram
from tests.rig.tools import HELM_3, HELM_4, KUSTOMIZE, on_path
from tests.shell.gitrepos import GitRepo

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {from: git}\n"
Stub = Callable[..., Renderer]


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo(tmp_path / "repo")
    overlay = "resources: [web.yaml]\nnamePrefix: new-\n"
    made.commit({"app/kustomization.yaml": overlay, "app/web.yaml": CONFIG, "v.yaml": "a: 1\n"})
    return made


@pytest.fixture
def stub(tmp_path: Path, repo: GitRepo) -> Stub:
    """A renderer whose tool is this script of a shell."""

    def make(script: str, name: str = "kustomize", tool: Tool = Tool.KUSTOMIZE, **limits: float) -> Renderer:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
        rendering = Rendering(tool, "app", "shop", "front", ("v.yaml",) if tool is Tool.HELM else ())
        mirror = Repo(str(repo.folder), tmp_path / "cache")
        renderer = Renderer(mirror, rendering, search=f"{folder}:/usr/bin:/bin")
        for limit, value in limits.items():
            setattr(renderer, limit, value)
        return renderer

    return make


def head(renderer: Renderer) -> str:
    return renderer.repo.resolve(Ref(RefKind.BRANCH, "main"))


def bodies(renderer: Renderer) -> list[dict[str, object]]:
    return [doc.body for reading in renderer.readings(head(renderer)).values() for doc in reading.documents]


def test_what_the_tool_writes_is_read_and_named_rendered(stub: Stub) -> None:
    renderer = stub("cat $2/web.yaml")
    (document,) = renderer.readings(head(renderer))["rendered:app"].documents
    assert document.body["data"] == {"from": "git"}
    assert str(document.origin) == "rendered:app:1 (document 1)"


def test_helm_is_told_release_namespace_and_values(stub: Stub) -> None:
    script = "printf \"apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: a}\\ndata: {told: '$*'}\\n\""
    (body,) = bodies(stub(script, "helm", Tool.HELM))
    told = "template shop ./app --namespace front --include-crds --values ./v.yaml"
    assert body["data"] == {"told": told}


def test_the_tool_sees_nothing_of_our_environment(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "secret")
    head_of_it = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:"
    renderer = stub(f'echo "{head_of_it}"; env | sed "s/=.*/: x/;s/^/  /"')
    (body,) = bodies(renderer)
    names = body["data"]
    assert isinstance(names, dict)
    assert "KUBECONFIG" not in names
    assert {"HOME", "PATH"} <= set(names)


@pytest.mark.parametrize(
    ("script", "limits", "words"),
    [
        ("echo no such patch >&2; exit 1", {}, "no such patch; try the same by hand"),
        ("exit 3", {}, "it ended with 3"),
        ("sleep 60", {"timeout": 0.2}, r"not done after 0\.2 s"),
        ("head -c 4000 /dev/zero", {"largest": 1000}, "more than 1000 bytes"),
    ],
)
def test_a_tool_that_fails_is_told(stub: Stub, script: str, limits: dict[str, float], words: str) -> None:
    renderer = stub(script, **limits)
    with pytest.raises(SourceError, match=f"rendering app at .* with kustomize: {words}"):
        renderer.readings(head(renderer))


def test_a_tool_that_is_not_here_is_told_with_the_way_out(stub: Stub) -> None:
    renderer = stub("true", "something")
    renderer.search = renderer.search.partition(":")[0] if renderer.search else None
    with pytest.raises(SourceError, match="there is no kustomize or kubectl here; install it, or commit"):
        renderer.readings(head(renderer))


def test_what_was_applied_is_rendered_again(stub: Stub, tmp_path: Path) -> None:
    renderer = stub("cat $2/web.yaml")
    text = {"name": "a", "repo": "x", "ref": "main", "path": "app", "render": "kustomize"}
    (config,) = settings_of({"sets": [text]}, tmp_path / "trapeze.yaml", tmp_path).sets
    source = GitSource(Source(renderer.repo, tmp_path / "cache", renderer), config)
    desired = source.desired(source.resolve(), kinds_of())
    (manifest,) = desired.manifests.values()
    assert desired.findings == ()
    base = Base(desired.revision, manifest.origin.file, manifest.origin.document)
    found, missing = source.source.bodies_at([base])
    assert (found[base]["data"], missing) == ({"from": "git"}, {})


def itself(repo: GitRepo, folder: Path, program: GoProgram, rendering: Rendering) -> Renderer:
    """A renderer whose tool is the real one."""
    search = f"{on_path(program, folder / 'bin')}:/usr/sbin:/usr/bin:/bin"
    return Renderer(Repo(str(repo.folder), folder / "cache"), rendering, search=search)


OVERLAY = """\
resources: [../base]
namePrefix: new-
patches:
- patch: '[{"op": "replace", "path": "/data/from", "value": "overlay"}]'
  target: {kind: ConfigMap, name: web}
configMapGenerator:
- name: made
  literals: [port=080]
"""


def test_kustomize_itself_renders_an_overlay(repo: GitRepo, tmp_path: Path) -> None:
    base = {"base/kustomization.yaml": "resources: [web.yaml]\n", "base/web.yaml": CONFIG}
    repo.commit({**base, "over/kustomization.yaml": OVERLAY})
    renderer = itself(repo, tmp_path, KUSTOMIZE, Rendering(Tool.KUSTOMIZE, "over", "a", "b"))
    made, web = sorted(bodies(renderer), key=lambda body: str(body["metadata"]))
    assert (web["metadata"], web["data"]) == ({"name": "new-web"}, {"from": "overlay"})
    assert made["data"] == {"port": "080"}


def test_kustomize_itself_is_told_as_it_fails(repo: GitRepo, tmp_path: Path) -> None:
    repo.commit({"over/kustomization.yaml": "resources: [gone.yaml]\n"})
    renderer = itself(repo, tmp_path, KUSTOMIZE, Rendering(Tool.KUSTOMIZE, "over", "a", "b"))
    with pytest.raises(
        SourceError, match=r"rendering over at .* with kustomize: .*gone\.yaml.*; try the same"
    ):
        renderer.readings(head(renderer))


def test_kustomize_itself_fetches_nothing(repo: GitRepo, tmp_path: Path) -> None:
    repo.commit({"over/kustomization.yaml": "resources: ['https://127.0.0.1:1/base.yaml']\n"})
    renderer = itself(repo, tmp_path, KUSTOMIZE, Rendering(Tool.KUSTOMIZE, "over", "a", "b"))
    with pytest.raises(SourceError, match=r"127\.0\.0\.1"):
        renderer.readings(head(renderer))


CHART = {
    "chart/Chart.yaml": "apiVersion: v2\nname: chart\nversion: 1.2.3\n",
    "chart/values.yaml": "colour: red\nport: 80\n",
    "chart/crds/lamps.yaml": DEFINITION,
    "chart/templates/web.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-web, namespace: {{ .Release.Namespace }}}
data:
  {colour: {{ .Values.colour }}, port: {{ .Values.port | quote }}, shape: {{ required "none" .Values.shape }}}
""",
}
HOOKS = {
    "chart/templates/test.yaml": """\
apiVersion: v1
kind: Pod
metadata: {name: try, annotations: {"helm.sh/hook": test}}
spec: {containers: [{name: try, image: try}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {"helm.sh/hook": "pre-install,pre-upgrade"}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: migrate, image: web}]}}}
""",
}
HELMS = pytest.mark.parametrize("helm", [HELM_3, HELM_4], ids=lambda program: program.name)


@pytest.mark.slow
@HELMS
def test_helm_itself_renders_a_chart_with_values_and_definitions(
    repo: GitRepo, tmp_path: Path, helm: GoProgram
) -> None:
    repo.commit({**CHART, "v.yaml": "colour: green\nshape: round\n"})
    renderer = itself(repo, tmp_path, helm, Rendering(Tool.HELM, "chart", "shop", "front", ("v.yaml",)))
    definition, web = sorted(bodies(renderer), key=lambda body: str(body["kind"]), reverse=True)
    assert web["metadata"] == {"name": "shop-web", "namespace": "front"}
    assert web["data"] == {"colour": "green", "port": "80", "shape": "round"}
    assert definition["metadata"] == {"name": "lamps.shop.example"}


@pytest.mark.slow
@HELMS
def test_hooks_of_a_chart_are_hooks_here_or_left_out(repo: GitRepo, tmp_path: Path, helm: GoProgram) -> None:
    repo.commit({"chart/Chart.yaml": CHART["chart/Chart.yaml"], **HOOKS})
    renderer = itself(repo, tmp_path, helm, Rendering(Tool.HELM, "chart", "shop", "front"))
    reading = renderer.readings(head(renderer))["rendered:chart"]
    (job,) = [document.body for document in reading.documents]
    assert job["metadata"]["annotations"]["trapeze.dev/hook"] == "before everything"
    assert ["Pod try is a hook of Helm for test" in one.message for one in reading.findings] == [True]


@pytest.mark.slow
@HELMS
def test_helm_itself_is_told_as_it_fails(repo: GitRepo, tmp_path: Path, helm: GoProgram) -> None:
    repo.commit(CHART)
    renderer = itself(repo, tmp_path, helm, Rendering(Tool.HELM, "chart", "shop", "front"))
    with pytest.raises(SourceError, match=r"rendering chart at .* with helm: [^:]*: .*: none"):
        renderer.readings(head(renderer))


def test_values_and_release_are_helms(tmp_path: Path) -> None:
    for more in ({"values": ["v.yaml"]}, {"render": "kustomize", "release": "shop"}, {"render": "jsonnet"}):
        text = {"name": "a", "repo": "x", "ref": "main", "path": "app", **more}
        with pytest.raises(ConfigError):
            settings_of({"sets": [text]}, tmp_path / "trapeze.yaml", tmp_path)
