"""The policy tables as files: those that are shipped, and the user's."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import orjson

from agent.core.model import Body
from agent.core.policy import Policy
from agent.core.validation.structures import Structures
from agent.core.yamlread import read_documents
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
    """Name and content of each file, read as manifests are; ConfigError names the file and the place."""
    for file in files:
        try:
            reading = read_documents(file.read_bytes(), str(file))
        except OSError as error:
            raise ConfigError(f"policy file {file}: {error}") from error
        for finding in reading.findings:
            raise ConfigError(f"policy file {finding}")
        if len(reading.documents) != 1:
            raise ConfigError(f"policy file {file}: {len(reading.documents)} documents where one is wanted")
        yield file.name, reading.documents[0].body


@cache
def shipped_tables() -> tuple[tuple[str, Body], ...]:
    """The shipped tables by file name, read once in a process. Raises ConfigError."""
    return tuple(read_tables(sorted(shipped_folder().glob("*.yaml"))))


def load_policy(extra: Iterable[Path] = ()) -> Policy:
    """The shipped tables with the user's files over them. Raises ConfigError."""
    return Policy.parse([*shipped_tables(), *read_tables(extra)])


def load_structures() -> Structures:
    """The shipped schemas of the built-in kinds. Raises ConfigError where the file cannot be read."""
    file = shipped_folder() / "schemas.json.gz"
    try:
        return Structures.from_table(orjson.loads(gzip.decompress(file.read_bytes())))
    except (OSError, EOFError, orjson.JSONDecodeError) as error:
        raise ConfigError(f"table of schemas {file}: {error}; install trapeze-agent again") from error
