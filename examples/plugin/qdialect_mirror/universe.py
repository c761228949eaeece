"""What `qdialect-opt`, `qdialect compile` and plain `xdsl-opt` find of this package."""

from xdsl.passes import ModulePass
from xdsl.universe import Universe


def _fold_mirrors() -> type[ModulePass]:
    from qdialect_mirror.fold_mirrors import FoldMirrorsPass

    return FoldMirrorsPass


MIRROR = Universe(all_passes={"fold-mirrors": _fold_mirrors})
