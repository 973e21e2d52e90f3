"""How much one revision may take away before a person has to say so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

USUAL_COUNT: Final = 20
USUAL_PERCENT: Final = 50.0


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be pruned at once: ``count`` objects, ``percent`` of all that were and are wanted.

    Each one that is given is a limit of its own. Where none is given, more than 20 objects that are also more
    than half of all are too many: a set that moves as a whole to new names keeps within that, a path that was
    emptied by mistake does not.
    """

    count: int | None = None
    percent: float | None = None

    def exceeded(self, going: int, of: int) -> str:
        """Why ``going`` of ``of`` objects are too many, with numbers, or empty."""
        share = 100.0 * going / of if of else 0.0
        said = f"{going} of {of} objects ({share:.0f} %) would go"
        if self.count is None and self.percent is None:
            is_over = going > USUAL_COUNT and share > USUAL_PERCENT
            return f"{said}, more than {USUAL_COUNT} and more than {USUAL_PERCENT:g} %" if is_over else ""
        limits = []
        if self.count is not None and going > self.count:
            limits.append(f"{self.count} objects")
        if self.percent is not None and share > self.percent:
            limits.append(f"{self.percent:g} %")
        return f"{said}, more than {' and '.join(limits)}" if limits else ""
