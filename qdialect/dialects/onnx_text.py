"""
Custom assembly format of ONNX operations, one printer and one parser for all:

    onnx.Conv(%x, %w, _) {group = 1 : i64} : (types) -> types

`_` is an omitted input. Discardable attributes follow `attributes`; graphs follow as `name {...}`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Attribute, Region, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from qdialect.dialects.onnx_dense import without_dense
from qdialect.dialects.onnx_segments import SEGMENTS, NodeOp, present


def _with_omitted(op: NodeOp) -> list[SSAValue | None]:
    inputs = op.inputs
    if op.SCHEMA is not None:
        formal = op.SCHEMA.versions[-1].inputs
        inputs += [None for p in formal[len(inputs) :] if p.option == "O"]
    return inputs


def print_op(op: NodeOp, printer: Printer) -> None:
    """Print the operation without its name and results."""
    with printer.in_parens():
        for k, value in enumerate(_with_omitted(op)):
            if k:
                printer.print_string(", ")
            if value is None:
                printer.print_string("_")
            else:
                printer.print_ssa_value(value)
    properties = {k: v for k, v in op.properties.items() if k != SEGMENTS}
    if properties:
        printer.print_string(" ")
        printer.print_attr_dict(properties)
    if op.attributes:
        printer.print_string(" attributes ")
        printer.print_attr_dict(op.attributes)
    for name, region in zip(op.region_names, op.regions, strict=False):
        printer.print_string(f" {name} ")
        printer.print_region(region)
    printer.print_string(" : ")
    printer.print_function_type(op.operand_types, op.result_types)


def _parse_slot(parser: Parser) -> UnresolvedOperand | None:
    return None if parser.parse_optional_keyword("_") else parser.parse_unresolved_operand()


def parse_op(parser: Parser) -> dict[str, Any]:
    """Keyword arguments of `Operation.create`, parsed from the text of `print_op`."""
    slots: Sequence[UnresolvedOperand | None] = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, lambda: _parse_slot(parser)
    )
    properties = without_dense(parser.parse_optional_dictionary_attr_dict(), parser)
    attributes: dict[str, Attribute] = {}
    regions: list[Region] = []
    while (keyword := parser.parse_optional_identifier()) is not None:
        if keyword == "attributes":
            attributes = dict(parser.parse_optional_dictionary_attr_dict())
        else:
            regions.append(parser.parse_region())
    parser.parse_punctuation(":")
    position = parser.pos
    signature = parser.parse_function_type()
    present_operands = [s for s in slots if s is not None]
    operands = parser.resolve_operands(present_operands, signature.inputs.data, position)
    if (sizes := present(slots)) is not None:
        properties[SEGMENTS] = sizes
    return {
        "operands": operands,
        "result_types": signature.outputs.data,
        "properties": properties,
        "attributes": attributes,
        "regions": regions,
    }
