"""The attributes and the type of the tosa dialect, in upstream's spelling."""

from xdsl.dialects.builtin import IntAttr
from xdsl.dialects.tosa import NanMode, NanModeAttr, RoundingMode, RoundingModeAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

__all__ = [
    "NanMode",
    "NanModeAttr",
    "ResizeMode",
    "ResizeModeAttr",
    "RoundingMode",
    "RoundingModeAttr",
    "ShapeType",
]


@irdl_attr_definition
class ShapeType(ParametrizedAttribute, TypeAttribute):
    """A list of `rank` sizes: `!tosa.shape<4>`."""

    name = "tosa.shape"
    rank: IntAttr = param_def()

    @classmethod
    def of(cls, rank: int) -> "ShapeType":
        """The type of a list of `rank` sizes."""
        return cls(IntAttr(rank))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        with parser.in_angle_brackets():
            return [IntAttr(parser.parse_integer(allow_negative=False))]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(str(self.rank.data))


class ResizeMode(StrEnum):
    """Interpolation mode of a Resize."""

    NEAREST_NEIGHBOR = "NEAREST_NEIGHBOR"
    BILINEAR = "BILINEAR"


@irdl_attr_definition
class ResizeModeAttr(EnumAttribute[ResizeMode]):
    """`#tosa.resize_mode<BILINEAR>`."""

    name = "tosa.resize_mode"

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ResizeMode:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(ResizeMode)
