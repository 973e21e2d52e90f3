"""What it costs to read the corpus: cold, again from the blob cache, and with other loaders beside it.

Run by ``make bench-read`` where the corpus is beside the checkout. Times are CPU seconds of this process: the
median of ``ROUNDS`` for ours, one round for others. "Cold" begins each round without a line that was seen
before. Other loaders give other values than kubectl and stop at some files, which are counted as failed.
Prints figures; judges nothing.
"""

from __future__ import annotations

import gc
import hashlib
import importlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from rich.console import Console
from rich.table import Table
from ruamel.yaml import YAML

from agent.core import yamllines
from agent.core.yamlread import read_documents
from agent.shell.readings import Readings
from tests.corpus.releases import ARCHIVE, unpacked

ROUNDS = 3
OTHERS = (("yaml_rs", "loads"), ("ryaml", "loads_all"))
"""Rust parsers that are measured where somebody has installed them."""

Load = Callable[[str], Any]


class Figure(NamedTuple):
    """Seconds of CPU for all files, and how many files it stopped at."""

    seconds: float
    failed: int = 0


def files() -> list[bytes]:
    """The corpus, as bytes of its files."""
    names = sorted(file for file in unpacked().rglob("*") if file.suffix in {".yaml", ".yml", ".json"})
    return [file.read_bytes() for file in names]


def seconds(work: Callable[[], int], prepare: Callable[[], Any] = gc.collect, rounds: int = ROUNDS) -> Figure:
    """The median CPU time of ``work``, which says how many files failed; ``prepare`` is not counted."""
    times, failed = [], 0
    for _ in range(rounds):
        prepare()
        start = time.process_time()
        failed = work()
        times.append(time.process_time() - start)
    return Figure(statistics.median(times), failed)


def ours(data: list[bytes]) -> dict[str, Figure]:
    """Our reader: without anything seen before, with the lines known, and from the disk's blob cache."""

    def read() -> int:
        return sum(bool(read_documents(content, "file.yaml").findings) for content in data)

    found = {
        "trapeze, cold": seconds(read, yamllines.forget),
        "trapeze, lines known": seconds(read),
    }
    with tempfile.TemporaryDirectory() as folder:
        blobs = [hashlib.sha256(content).hexdigest() for content in data]
        store = Readings(Path(folder))
        for blob, content in zip(blobs, data, strict=True):
            store.put(blob, "file.yaml", read_documents(content, "file.yaml"))

        def again() -> int:
            fresh = Readings(Path(folder))
            return sum(fresh.get(blob, "file.yaml") is None for blob in blobs)

        found["trapeze, from the blob cache"] = seconds(again)
    return found


def other(data: list[bytes], load: Load) -> Figure:
    """Another loader over the same files; a file that it raises at is failed."""
    texts = [content.decode() for content in data]

    def read() -> int:
        failed = 0
        for text in texts:
            try:
                load(text)
            except Exception:  # noqa: BLE001 - every library has its own errors, and their number is the figure
                failed += 1
        return failed

    return seconds(read, rounds=1)


def loaders() -> dict[str, Load]:
    """The other loaders that are at hand."""
    ruamel = YAML(typ="safe", pure=True)
    found: dict[str, Load] = {
        "ruamel.yaml safe, pure": lambda text: list(ruamel.load_all(text)),
        "PyYAML CSafeLoader": lambda text: list(yaml.load_all(text, yaml.CSafeLoader)),
    }
    for module, function in OTHERS:
        try:
            found[module] = getattr(importlib.import_module(module), function)
        except ImportError:
            continue
    return found


def main() -> int:
    """Print the table."""
    if not ARCHIVE.is_file():
        sys.stderr.write("bench-read: the corpus is not beside the checkout\n")
        return 1
    data = files()
    size = sum(map(len, data)) / 1e6
    documents = sum(len(read_documents(content, "file.yaml").documents) for content in data)
    figures = ours(data) | {name: other(data, load) for name, load in loaders().items()}
    base = figures["trapeze, cold"].seconds
    table = Table(title=f"{len(data)} files, {size:.1f} MB, {documents} documents; CPU time")
    for column in ("reader", "seconds", "MB/s", "documents/s", "times our cold", "files failed"):
        table.add_column(column, justify="left" if column == "reader" else "right")
    for name, figure in figures.items():
        rates = (f"{size / figure.seconds:.1f}", f"{documents / figure.seconds:.0f}")
        table.add_row(
            name, f"{figure.seconds:.2f}", *rates, f"{figure.seconds / base:.2f}", str(figure.failed)
        )
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
