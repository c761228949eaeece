"""What plain `xdsl-opt` finds under the entry point `xdsl.universe`: our own names, none of xDSL's."""

from xdsl.universe import Universe

from qdialect.ops import get_own_dialects
from qdialect.transforms import get_all_passes

QDIALECT = Universe(all_dialects=get_own_dialects(), all_passes=get_all_passes())
