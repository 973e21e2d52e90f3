"""A network of its own for each control plane: fixed addresses that collide with nothing and reach nothing.

The calling thread moves into a new network namespace; every thread and process that it starts later is in it
too. A `local` route makes each address of a range bindable, so that a pod is a socket on an address of its
own.
"""

import ctypes
import os
import subprocess

from tests.rig.build import RigError, program

CLONE_NEWNET = 0x40000000
PODS = "10.244.0.0/16"
SERVICES = "10.96.0.0/16"
API_SERVER = "10.0.0.1"
NODE = "10.0.0.2"


def enter_new_network() -> None:
    """Move this thread into a new network namespace with lo up and the rig's ranges bindable.

    Raises RigError where the process may not: it must be root, or root of a user namespace (`unshare -r`).
    """
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(CLONE_NEWNET) != 0:
        reason = os.strerror(ctypes.get_errno())
        raise RigError(
            f"no network namespace can be made ({reason}): run the tests as root, or as"
            " `unshare --user --map-root-user make test` where the kernel allows user namespaces"
        )
    ip = program("ip")
    routes = [["route", "add", "local", range_, "dev", "lo"] for range_ in _local_ranges()]
    for command in (["link", "set", "lo", "up"], *routes):
        subprocess.run([ip, *command], check=True, capture_output=True)


def _local_ranges() -> list[str]:
    return [PODS, SERVICES, f"{API_SERVER}/32", f"{NODE}/32"]
