"""trapeze.yaml: what is read, and what each mistake is called."""

import json
from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

from agent.core.budget import Budget
from agent.core.hints import Hint
from agent.core.refs import Ref, RefKind
from agent.core.situation import ConfigChanges, Foreign
from agent.errors import ConfigError
from agent.settings import Settings, load_settings, schema_text

SCHEMA = Path(__file__).parents[1] / "docs" / "config.schema.json"

WHOLE = """
sets:
- name: calico
  repo: ../repos/calico
  ref: {tag: v3.32.0}
  paths: [./install/, "crds/*.yaml"]
  namespace: calico-system
  settle: 1m30s
  prune: {allow: [Namespace, "CustomResourceDefinition.apiextensions.k8s.io a.b.c"]}
  take_over: [kubectl-client-side-apply, helm]
  foreign_entries: keep
  allow_downtime: [Deployment shop/web]
  config_changes: hold
  hints:
  - {object: Deployment shop/web, ready_once_gone: Deployment shop/old, ready_once_done: Job shop/migrate}
  - {object: ServiceAccount shop/api, tokens_outside: true}
- name: shop
  repo: https://git.example.com/shop.git
  ref: main
  path: deploy
ledger_namespace: trapeze
policies: [policies/own.yaml]
cache_dir: cache
kubeconfig: kube/config
context: prod
interval: 30s
"""


def load(tmp_path: Path, text: str) -> Settings:
    file = tmp_path / "trapeze.yaml"
    file.write_text(text)
    return load_settings(file)


def one_set(**more: str) -> str:
    keys = {"name": "web", "repo": "repo", "ref": "main", "path": "deploy"} | more
    return "sets:\n- " + "\n  ".join(f"{key}: {value}" for key, value in keys.items() if value)


def test_whole(tmp_path: Path) -> None:
    settings = load(tmp_path, WHOLE)
    calico, shop = settings.sets
    assert calico.repo == str(tmp_path / "../repos/calico")
    assert calico.ref == Ref(RefKind.TAG, "v3.32.0")
    assert calico.paths == ("install", "crds/*.yaml")
    assert (calico.settle, settings.interval) == (90.0, 30.0)
    assert calico.rules.manager == "trapeze/calico"
    assert calico.rules.foreign is Foreign.KEEP
    assert calico.rules.config_changes is ConfigChanges.HOLD
    assert calico.rules.hints == (
        Hint(gone="Deployment shop/old", done="Job shop/migrate", of="Deployment shop/web"),
        Hint(tokens_outside=True, of="ServiceAccount shop/api"),
    )
    assert calico.rules.allow == {"Namespace", "CustomResourceDefinition.apiextensions.k8s.io a.b.c"}
    assert shop.repo == "https://git.example.com/shop.git"
    assert shop.paths == ("deploy",)
    assert (shop.namespace, shop.settle) == ("default", 10.0)
    assert settings.policies == (tmp_path / "policies/own.yaml",)
    assert settings.cache_dir == tmp_path / "cache"
    assert settings.kubeconfig == tmp_path / "kube/config"
    assert settings.set_named("shop") is shop


def test_the_least(tmp_path: Path) -> None:
    settings = load(tmp_path, one_set())
    assert settings.ledger_namespace == "trapeze-system"
    assert settings.cache_dir == Path.home() / ".cache/trapeze"
    assert settings.sets[0].ref == Ref(RefKind.ANY, "main")


@pytest.mark.parametrize(
    "repo", ["ssh://git@host/a.git", "git@host.example.com:a/b.git", "file:///srv/a.git", "/srv/a"]
)
def test_a_repo_that_stays_as_written(tmp_path: Path, repo: str) -> None:
    assert load(tmp_path, one_set(repo=repo)).sets[0].repo == repo


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            one_set(settel="5s"),
            ":6: unknown key sets[web].settel, did you mean settle?; allowed: name, repo, ref,",
        ),
        (one_set() + "\n  prune: {alow: []}", ":6: unknown key sets[web].prune.alow, did you mean allow?"),
        ("set: []\n", ":1: unknown key set, did you mean sets?"),
        (one_set(repo=""), ":2: sets[web].repo is missing"),
        (one_set(path=""), ":2: sets[web].paths is missing"),
        (one_set(paths="[b]"), ":2: sets[web]: say path or paths, not both"),
        (one_set(name="Web_1"), ":2: sets[Web_1].name = 'Web_1': allowed is a DNS label"),
        (one_set(ref="1.20"), ":4: sets[web].ref = 1.2: a ref is a name, or one of {branch: NAME}"),
        (one_set(ref="{tga: v1}"), ":4: sets[web].ref: a ref is a name, or one of {branch: NAME}"),
        (one_set(ref="{commit: HEAD}"), ":4: sets[web].ref: a commit is 7 to 64 hexadecimal digits"),
        (one_set(ref="--upload-pack=x"), ":4: sets[web].ref = '--upload-pack=x': a ref's name is as"),
        (one_set(path="../x"), ":5: sets[web].paths[0] = '../x': a path starts at the repo's top"),
        (one_set(path="/x"), ":5: sets[web].paths[0] = '/x': a path starts at the repo's top"),
        (one_set(settle="10"), ""),
        (one_set(settle="ten"), ":6: sets[web].settle = 'ten': a duration is written like 10s"),
        (
            one_set(repo="git://a/b"),
            ":3: sets[web].repo = 'git://a/b': a repo is a local path, or a URL of file,",
        ),
        (one_set(repo="ext::sh -c x"), ":3: sets[web].repo = 'ext::sh -c x': a repo is a local path, or"),
        (
            one_set(repo="http://u:marker@h/r"),
            ":3: sets[web].repo = 'http://***@h/r': a repo is a local path, or",
        ),
        (
            one_set(foreign_entries="maybe"),
            ":6: sets[web].foreign_entries = 'maybe': input should be 'hold', 'keep' or",
        ),
        (
            one_set(allow_downtime="[web]"),
            ":6: sets[web].allow_downtime[0] = 'web': allowed is an object like",
        ),
        (
            one_set(hints="[{object: Deployment shop/web, ready_once_gone: the old one}]"),
            ":6: sets[web].hints[0].ready_once_gone = 'the old one': allowed is an object like",
        ),
        (
            one_set(prune="{allow: [namespace]}"),
            ":6: sets[web].prune.allow[0] = 'namespace': allowed is a kind like",
        ),
        (
            one_set() + one_set().removeprefix("sets:"),
            "the config: set names are unique, and web stands twice",
        ),
        ("sets: []\n", ":1: sets = []: at least one is needed"),
        ("sets: [\n", "trapeze.yaml:2: "),
        ("- a\n", "a config is a map that names sets"),
        ("", "a config is a map that names sets"),
        ("sets: 1\nsets: 2\n", 'trapeze.yaml:2: found duplicate key "sets"'),
    ],
)
def test_mistake(tmp_path: Path, text: str, message: str) -> None:
    if not message:
        assert load(tmp_path, text).sets[0].settle == 10.0
        return
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, text)
    assert message in str(raised.value)
    assert str(tmp_path / "trapeze.yaml") in str(raised.value)
    assert "marker" not in str(raised.value)


def test_all_mistakes_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, one_set(settle="x", ref="a b"))
    assert len(str(raised.value).splitlines()) == 2


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file or directory; name another with --config"):
        load_settings(tmp_path / "none.yaml")


def test_no_such_set(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no set is called wep, did you mean web"):
        load(tmp_path, one_set()).set_named("wep")


def test_the_published_schema_is_up_to_date() -> None:
    """Write it anew: python -c 'from agent.settings import schema_text; print(schema_text(), end="")'."""
    assert SCHEMA.read_text() == schema_text()


@pytest.mark.parametrize("text", [WHOLE, one_set()])
def test_the_schema_takes_what_is_read(text: str) -> None:
    jsonschema.validate(YAML(typ="safe", pure=True).load(text), json.loads(schema_text()))


@pytest.mark.parametrize("text", ["sets: []", one_set(path=""), one_set(paths="[b]"), one_set(settle="ten")])
def test_the_schema_refuses_what_is_refused(text: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(YAML(typ="safe", pure=True).load(text), json.loads(schema_text()))


def sets(*more: str) -> str:
    """Sets ``a``, ``b`` ... with more keys each."""
    rows = [
        f"- {{name: {name}, repo: r, ref: main, path: p{keys}}}"
        for name, keys in zip("abc", more, strict=False)
    ]
    return "sets:\n" + "\n".join(rows)


def test_what_a_set_says_of_the_others(tmp_path: Path) -> None:
    more = (
        ", state: absent",
        ", dependsOn: [a]",
        ", formerly: [shop], prune: {budget: {count: 3, percent: 5}}",
    )
    settings = load(tmp_path, sets(*more))
    a, b, c = (settings.rules_of(one) for one in settings.sets)
    assert (a.is_absent, a.dependents, a.allow) == (True, ("b",), frozenset({"*"}))
    assert (b.depends_on, b.is_absent) == (("a",), False)
    assert (c.formerly, c.budget) == (frozenset({"shop"}), Budget(3, 5.0))
    assert c.ledger_namespace == "trapeze-system"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ((", dependsOn: [b]", ", dependsOn: [c]", ", dependsOn: [a]"), "in a circle: a -> b -> c -> a"),
        ((", dependsOn: [a]",), "in a circle: a -> a"),
        ((", dependsOn: [shop]",), "set a depends on shop, which is no set"),
        ((", formerly: [b]", ""), "set a was formerly b, and b is a set of its own"),
        ((", state: gone",), "sets[a].state"),
        ((", prune: {budget: {percent: 101}}",), "sets[a].prune.budget.percent"),
    ],
)
def test_what_sets_may_not_say_of_each_other(more: tuple[str, ...], said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, sets(*more))
    assert said in str(caught.value)
