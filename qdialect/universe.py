"""Entry point `xdsl.universe`: the dialects and passes of qdialect for plain `xdsl-opt`."""

from xdsl.universe import Universe

from qdialect.ops import get_own_dialects
from qdialect.transforms import get_all_passes

QDIALECT = Universe(all_dialects=get_own_dialects(), all_passes=get_all_passes())
