"""The policy tables as files: those that are shipped, and the user's."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import orjson
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from agent.core.policy import Policy
from agent.core.validation.structures import Structures
from agent.errors import ConfigError

_PACKAGE: Final = Path(__file__).parents[1]


def shipped_folder() -> Path:
    """Where the shipped tables stand: inside the installed package, else beside it in a checkout.

    Raises ConfigError when neither is there (a broken installation).
    """
    for folder in (_PACKAGE / "policies", _PACKAGE.parent / "policies"):
        if folder.is_dir():
            return folder
    raise ConfigError(f"no policy tables in {_PACKAGE} or beside it; install trapeze-agent again")


def read_tables(files: Iterable[Path]) -> Iterator[tuple[str, Any]]:
    """Name and parsed content of each file; raises ConfigError that names the file and the place."""
    for file in files:
        try:
            yield file.name, YAML(typ="safe").load(file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, YAMLError) as error:
            raise ConfigError(f"policy file {file}: {error}") from error


def load_policy(extra: Iterable[Path] = ()) -> Policy:
    """The shipped tables with the user's files over them. Raises ConfigError."""
    return Policy.parse(read_tables([*sorted(shipped_folder().glob("*.yaml")), *extra]))


def load_structures() -> Structures:
    """The shipped schemas of the built-in kinds. Raises ConfigError where the file cannot be read."""
    file = shipped_folder() / "schemas.json.gz"
    try:
        return Structures.from_table(orjson.loads(gzip.decompress(file.read_bytes())))
    except (OSError, EOFError, orjson.JSONDecodeError) as error:
        raise ConfigError(f"table of schemas {file}: {error}; install trapeze-agent again") from error
