"""What a test wants of a pod: annotations `standin.dev/<knob>`, read anew whenever the pod changes."""

from dataclasses import dataclass, fields
from typing import Any, Self

PREFIX = "standin.dev/"


@dataclass(frozen=True)
class Knobs:
    """The knobs of one pod.

    Attributes:
        ready_after: seconds after its start until the pod serves; until then its ports answer 503.
        never_ready: the pod does not serve as long as this stands; on a running pod it is a readiness that is
            lost, and found again when the annotation goes.
        lose_ready_after: seconds after the pod became ready for the first time until it stops serving for
            good.
        crash: seconds after each start until the containers end with exit code 1 and are started again with
            a growing back-off.
        slow_stop: seconds that the pod goes on serving after it was deleted (default 1.5); 0 cuts
            connections.
        blocked_by: `<apiVersion>/<Kind> <namespace>/<name>` (or `<name>` alone): not serving while that
            exists.
        run_for: seconds until the containers of a pod with restartPolicy Never or OnFailure end.
        exit_code: what they end with.
    """

    ready_after: float = 0
    never_ready: bool = False
    lose_ready_after: float | None = None
    crash: float | None = None
    slow_stop: float = 1.5
    blocked_by: str | None = None
    run_for: float = 0.3
    exit_code: int = 0

    @classmethod
    def of(cls, pod: dict[str, Any]) -> Self:
        """Read the knobs of a pod; raise ValueError for an unknown knob or a value that is no number."""
        annotations = pod["metadata"].get("annotations") or {}
        given = {
            key.removeprefix(PREFIX): value for key, value in annotations.items() if key.startswith(PREFIX)
        }
        known = {field.name.replace("_", "-"): field.name for field in fields(cls)}
        if unknown := given.keys() - known.keys():
            raise ValueError(f"unknown knobs {sorted(unknown)}; known are {sorted(known)}")
        return cls(**{known[key]: _value(known[key], value) for key, value in given.items()})


def _value(name: str, text: str) -> Any:
    match name:
        case "never_ready":
            return text != "false"
        case "blocked_by":
            return text
        case "exit_code":
            return int(text)
        case _:
            return float(text)


def parse_blocker(text: str) -> tuple[str, str, str | None, str]:
    """Split `<apiVersion>/<Kind> [<namespace>/]<name>` into apiVersion, kind, namespace and name."""
    kind_part, _, object_part = text.partition(" ")
    api_version, _, kind = kind_part.rpartition("/")
    namespace, _, name = object_part.rpartition("/")
    return api_version, kind, namespace or None, name
