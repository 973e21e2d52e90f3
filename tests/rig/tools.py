"""helm, kustomize, kubectl and Flux's applying themselves, of two modules."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.rig.golang import GoProgram

_MODULE: Final = Path(__file__).parent / "toolset"

KUSTOMIZE: Final = GoProgram("kustomize", "kustomize", _MODULE, package="sigs.k8s.io/kustomize/kustomize/v5")
HELM_3: Final = GoProgram("helm-3", "Helm 3", _MODULE, package="helm.sh/helm/v3/cmd/helm")
HELM_4: Final = GoProgram("helm-4", "Helm 4", _MODULE, package="helm.sh/helm/v4/cmd/helm")
APPLIERS: Final = GoProgram("appliers", "kubectl and Flux's applying", Path(__file__).parent / "appliers")


def on_path(program: GoProgram, folder: Path) -> str:
    """A folder for PATH in which the program, built first where it is not yet, has its usual name."""
    folder.mkdir(exist_ok=True)
    name = program.name.partition("-")[0]
    (folder / name).symlink_to(program.build())
    return str(folder)
