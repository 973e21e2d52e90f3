"""Files parsed once: readings by blob id, in memory for a while and on disk for long.

A blob id names content, so nothing here grows stale; another reader gets another folder.
"""

from __future__ import annotations

import hashlib
import shutil
from collections import OrderedDict
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Lock
from typing import Final

import yaml

from agent.core import (
    jsontree,
    reading_format,
    yamlline,
    yamllines,
    yamlread,
    yamlscalars,
    yamlsource,
    yamltext,
    yamltree,
)
from agent.core.yamlread import Reading
from agent.errors import SourceError

_BUDGET: Final = 16 * 2**20
"""Bytes of parsed JSON whose readings stay in memory; as Python objects they are several times that."""

_READERS: Final = (
    jsontree,
    reading_format,
    yamlline,
    yamllines,
    yamlread,
    yamlscalars,
    yamlsource,
    yamltext,
    yamltree,
)


class Readings:
    """A store of readings below ``cache_dir``, for one user alone: it holds what Secrets hold."""

    def __init__(self, cache_dir: Path) -> None:
        self._folder = cache_dir / "readings" / reader_version()
        self._recent: OrderedDict[str, tuple[str, Reading, int]] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def get(self, blob_id: str, file: str) -> Reading | None:
        """What is known of a blob, as a reading of ``file``; None where it was never parsed."""
        with self._lock:
            if blob_id in self._recent:
                self._recent.move_to_end(blob_id)
                name, reading, _ = self._recent[blob_id]
                return reading if name == file else reading_format.renamed(reading, file)
        try:
            data = self._path(blob_id).read_bytes()
            reading = reading_format.parse(data, file)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except ValueError:
            return None  # half a file of a disk that was full: it is parsed and written again
        self._remember(blob_id, file, reading, len(data))
        return reading

    def put(self, blob_id: str, file: str, reading: Reading) -> None:
        """Keep a reading. Raises SourceError when the disk refuses it."""
        data = reading_format.dump(reading)
        path = self._path(blob_id)
        try:
            self._make_folder(path.parent)
            with NamedTemporaryFile(dir=path.parent, delete=False) as new:
                new.write(data)
            Path(new.name).replace(path)
        except OSError as error:
            raise SourceError(
                f"keeping a parsed file in {path.parent}: {error.strerror}; set cache_dir"
            ) from error
        self._remember(blob_id, file, reading, len(data))

    def _path(self, blob_id: str) -> Path:
        return self._folder / blob_id[:2] / blob_id[2:]

    def _make_folder(self, folder: Path) -> None:
        if not self._folder.is_dir():
            self._folder.mkdir(parents=True, mode=0o700, exist_ok=True)
            for other in self._folder.parent.iterdir():
                if other != self._folder:
                    shutil.rmtree(other, ignore_errors=True)  # another process may be at it too
        folder.mkdir(mode=0o700, exist_ok=True)

    def _remember(self, blob_id: str, file: str, reading: Reading, size: int) -> None:
        with self._lock:
            self._size += size - self._recent.pop(blob_id, ("", reading, 0))[2]
            self._recent[blob_id] = (file, reading, size)
            while self._size > _BUDGET and len(self._recent) > 1:
                self._size -= self._recent.popitem(last=False)[1][2]


@cache
def reader_version() -> str:
    """A digest of the code that reads: what another version parsed is not taken for what this one would."""
    digest = hashlib.sha256(yaml.__version__.encode())
    for module in _READERS:
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()[:16]
