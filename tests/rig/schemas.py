"""python -m tests.rig.schemas: writes the shipped table of schemas from the control plane's own documents."""

import gzip
from pathlib import Path

import orjson

from agent.core.model import Body
from agent.core.validation.table import table_of
from tests.rig.api import Api
from tests.rig.build import KUBERNETES
from tests.rig.controlplane import ControlPlane
from tests.rig.netns import enter_new_network

TABLE = Path(__file__).parents[2] / "policies" / "schemas.json.gz"


def read_table(api: Api) -> Body:
    """The table that a control plane comes to."""
    paths = api.get("/openapi/v3")["paths"]
    documents = [api.get(entry["serverRelativeURL"]) for _, entry in sorted(paths.items())]
    return table_of(KUBERNETES, documents)


def unpacked(file: Path) -> Body:
    """The table as it is shipped."""
    table: Body = orjson.loads(gzip.decompress(file.read_bytes()))
    return table


def main() -> None:
    """Start a control plane, ask it, write the table."""
    enter_new_network()
    with ControlPlane.start(aggregator_routing=True) as plane:
        table = read_table(plane.api)
    TABLE.write_bytes(gzip.compress(orjson.dumps(table, option=orjson.OPT_SORT_KEYS), 9, mtime=0))


if __name__ == "__main__":
    main()
