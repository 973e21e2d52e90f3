"""The Typer application, the top of the command, the console script."""

from __future__ import annotations

import sys
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from agent import __version__
from agent.cli.codes import ERROR, INTERRUPTED, OK
from agent.cli.showing import complain
from agent.errors import TrapezeError

ORDER: Final = (
    *("preview", "validate", "rehearse", "explain", "snapshot"),
    *("plan", "sync", "run", "adopt", "status", "history", "verify"),
    *("approve", "override", "revoke", "pin", "rollback", "abort", "unpin", "suspend", "resume"),
)
"""Commands as help lists them: what needs no cluster, what an upgrade needs, what people decide."""


class _Listed(TyperGroup):
    """Commands in an order that tells a story, not that of their modules."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names in the order of help."""
        return sorted(super().list_commands(ctx), key=ORDER.index)


app = typer.Typer(
    name="trapeze",
    cls=_Listed,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help=(
        "Moves a cluster between release generations in Git without dropping a request. "
        "Exit codes: 0 nothing to do or in service, 1 error, 2 changes, 3 not safe or held."
    ),
)


@app.callback(invoke_without_command=True)
def top(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:  # noqa: FBT002 - typer's own way to a flag
    """Exit codes: 0 nothing to do or in service, 1 error, 2 changes, 3 not safe or held."""
    if version:
        sys.stdout.write(f"trapeze {__version__}\n")


def main() -> None:
    """The console script. Wrong usage exits 1: 2 would read as changes."""
    try:
        code = app(standalone_mode=False)
    except TrapezeError as error:
        complain(str(error))
        code = ERROR
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception as error:
        # typer keeps the base class of its usage errors to itself; what it shows is what marks them.
        if not hasattr(error, "show"):
            raise
        error.show()
        code = ERROR
    sys.exit(code if isinstance(code, int) else OK)
