"""python -m tests.rig.kubelet FOLDER: the stand-in of one control plane whose files stand in FOLDER."""

import csv
import sys
from pathlib import Path

from tests.rig import components
from tests.rig.api import Api
from tests.rig.kubelet.node import Node, report_thread_errors
from tests.rig.pki import Authority


def main(folder: Path) -> None:
    """Run until killed."""
    with (folder / "tokens.csv").open() as file:
        tokens = {row[1]: row[0] for row in csv.reader(file)}
    authority = Authority.load(folder, "ca")
    admin = Api(components.SERVER, tokens["admin"], authority.pair.certificate, user_agent="kubelet-stand-in")
    report_thread_errors()
    Node(admin, authority).run()


main(Path(sys.argv[1]))
