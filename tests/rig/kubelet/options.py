"""A container's image and flags, as its stand-in reads them."""

import re
from dataclasses import dataclass
from typing import Any

FLAGS = frozenset(
    {
        *("need", "need-at-start", "tls", "tls-secret"),
        *("group", "version", "resource", "storage-group", "storage-version"),
        *("deny", "deny-label", "annotate", "rename"),
    }
)
IMAGE = re.compile(r"(?:.*/)?(?P<name>[^/:@]+)(?::(?P<tag>[^@/]+))?(?:@.*)?")


@dataclass(frozen=True)
class Options:
    """What one container is told.

    Attributes:
        stand_in: the name after `standin/`; None for every other image.
        version: the image's tag.
        flags: the values of each `--flag=value`; a flag without a value has an empty one.
    """

    stand_in: str | None
    version: str
    flags: dict[str, list[str]]

    @classmethod
    def of(cls, container: dict[str, Any], namespace: str) -> "Options":
        """Read a container; raise ValueError for a stand-in's flag that is not known."""
        image = container.get("image", "")
        match = IMAGE.fullmatch(image)
        name = match["name"] if match else image
        version = (match["tag"] if match else None) or "latest"
        stand_in = name if "standin/" in image else None
        flags: dict[str, list[str]] = {}
        if stand_in:
            for word in [*container.get("command", []), *container.get("args", [])]:
                key, _, value = word.removeprefix("--").partition("=")
                flags.setdefault(key, []).append(value.replace("{namespace}", namespace))
            if unknown := flags.keys() - FLAGS:
                raise ValueError(f"{image}: unknown flags {sorted(unknown)}; known are {sorted(FLAGS)}")
        return cls(stand_in, version, flags)

    def one(self, flag: str, default: str = "") -> str:
        """Return the only value of a flag, or the default."""
        return self.flags.get(flag, [default])[-1]

    def all(self, flag: str) -> list[str]:
        """Return every value of a flag."""
        return self.flags.get(flag, [])
