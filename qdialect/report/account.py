"""
Account of a compilation by layer: the result of each node of the model as read, and its cost.

A layer is one node of the model as read. The nodes of the result, including those inserted by passes, each belong to
one layer, by their names. All counts are of one run of one sample: an axis of unknown size counts as 1,
and the body of a loop as one iteration.

Definition of the share of multiply-adds in integers:

- *as written*, a product counts as one of integers where the node itself multiplies integers: QLinearConv, QGemm,
  MatMulInteger, ConvInteger, DynamicQuantizeMatMul and their like. A Conv between DequantizeLinear and QuantizeLinear
  is written in float; it counts as *in pairs*, since the runtime chooses its arithmetic. MatMulNBits, and a product of
  floats with a dequantized weight, count as *weights alone*;
- *in the result*, the same holds of the form `qoperator` and `integer`. In the form `qdq` a product of two quantized
  values counts as one of integers if the target fuses the pairs that are written for it, as its file states; so it
  does in the forms of upstream MLIR, which compute with stored integers. What the target cannot read counts as float.

The denominator is the same for both: the multiply-adds of the layers as read, without those that have become
constants. If one layer has become several products, its multiply-adds are divided in proportion to theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from qdialect.compiler.options import UPSTREAM_FORMS
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, quantized_of, shape_of
from qdialect.ir.names import UniqueNames, called, node_name, wish
from qdialect.ir.values import constant
from qdialect.ir.walking import operations
from qdialect.onnx_io.external import tensor_bytes
from qdialect.promises.linear import Linear
from qdialect.promises.window import Window
from qdialect.promises.work import Numbers, SumsProducts, open_sizes
from qdialect.reasons import Blocked
from qdialect.report.graph import Links, Tensor, constant_bytes, links_of, nodes_of, scale_text, tensors_of
from qdialect.report.provenance import Origin, Row, is_kernel
from qdialect.rewriting.remarks import Remark
from qdialect.targets.legality import unread_factor


@dataclass(frozen=True)
class Node:
    """One node of the result."""

    name: str
    """Name in the file; empty if it has none."""
    operator: str
    """Operator, as `QLinearConv`."""
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    bytes: int
    """Bytes of the node's constant operands."""
    is_kernel: bool
    """True for an operator on quantized numbers: QLinearConv, MatMulInteger, QLinearAdd."""
    numbers: Numbers | None = None
    """The kind of numbers that it multiplies; None if it sums no products."""
    unread: Blocked | None = None
    """The reason why the target cannot read the node; None if it can."""


@dataclass(frozen=True)
class Layer:
    """One node of the model as read, and its result."""

    node: str
    """Its name, or that of the first tensor that it computes."""
    operator: str
    """Operator, as `Conv`."""
    became: tuple[Node, ...]
    """The nodes of the result that belong to it, in order."""
    into: str
    """Name of the layer that does its work if `became` is empty; empty if unknown, or if none does."""
    inputs: tuple[Tensor, ...]
    """Inputs as read."""
    outputs: tuple[Tensor, ...]
    macs: int | None
    """Multiply-adds as read; None if it sums no products, or if they cannot be counted."""
    written: Numbers | None
    """Kind of numbers that it multiplied as read; None if it sums no products."""
    integer_macs: int
    """Number of `macs` that are integer in the result."""
    is_gone: bool
    """True if no work of it is left in the result: it was folded, or unused."""
    is_float: bool
    """True if an op of it that has an integer form is in float."""
    bytes_before: int
    """Bytes of the layer's constant operands in the model as read."""
    module: tuple[str, ...] = ()
    """Path of the module that it comes from, as `("body", "0")`; empty if unknown."""
    reasons: tuple[Remark, ...] = ()
    """Reasons why it is in float, the decisive one first, without duplicates."""

    def __repr__(self) -> str:
        """One line: its operator and name, the operators that it became, and the reason if it is in float."""
        became = ", ".join(self.operators) or "nothing of its own"
        reason = f", in float: {self.reasons[0].blocked.id}" if self.is_float else ""
        return f"<Layer: {self.operator} '{self.node}' became {became}{reason}>"

    @property
    def integer(self) -> bool:
        """True if all its multiply-adds are integer, or, if it has none, nothing of it is in float."""
        return self.integer_macs == self.macs if self.macs else not self.is_float

    @property
    def operators(self) -> tuple[str, ...]:
        """Operators of the nodes that it became, without duplicates."""
        return tuple(dict.fromkeys(node.operator for node in self.became))

    @property
    def bytes(self) -> int:
        """Bytes of its nodes' constant operands in the result."""
        return sum(node.bytes for node in self.became)

    @property
    def float_bytes(self) -> int:
        """Bytes of those that are floats."""
        return sum(one.float_bytes for node in self.became for one in node.inputs)

    @property
    def float_bytes_before(self) -> int:
        """Bytes of the layer's constant operands that are floats in the model as read."""
        return sum(one.float_bytes for one in self.inputs)

    @property
    def elements(self) -> int:
        """Number of elements that it computes; an axis of unknown size counts as 1."""
        return sum(prod(size or 1 for size in t.shape or ()) for t in self.outputs)


@dataclass(frozen=True)
class Totals:
    """Multiply-adds of a whole model."""

    macs: int
    """Multiply-adds of one run of all remaining layers."""
    written: dict[Numbers, int]
    """Multiply-adds by kind of numbers as read."""
    integer: int
    """Integer multiply-adds in the result."""
    uncounted: int
    """Number of layers whose products cannot be counted: a rank is unknown."""
    is_open: bool
    """True if an axis of unknown size was counted as 1."""
    layers: int
    """Number of remaining layers that sum products."""
    integer_layers: int
    """Number of those that are in integers as a whole."""

    @property
    def share_before(self) -> float:
        """Fraction in integers in the model as read; 0 without multiply-adds."""
        return self.written.get(Numbers.INTEGER, 0) / (self.macs or 1)

    @property
    def share(self) -> float:
        """Fraction in integers in the result; 0 without multiply-adds."""
        return self.integer / (self.macs or 1)


class _Product(NamedTuple):
    """An op that sums products, before the last lowering."""

    macs: int
    open: int
    """Number of unknown sizes."""
    is_integer: bool


class Account:
    """Account of a compilation by layer: records scales, products and reasons while the IR contains them."""

    def __init__(self, origin: Origin, form: str):
        self.origin, self.form = origin, form
        self._scales: dict[str, str] = {}
        self._products: dict[int, list[_Product]] = {}
        self._reasons: dict[int, list[Remark]] = {}
        self._unread: dict[int, Remark] = {}
        """By row, why the target cannot read a product of it, or what it multiplies."""
        self._nodes: dict[int, list[Node]] = {}
        self.nodes: list[Node] = []
        """The nodes of the result, in its order."""
        self.links = Links((), (), ())
        """Edges between the nodes of the result."""
        self._elsewhere: dict[str, int] = {}
        """Row of each tensor of the result, by name."""
        self.bytes = 0
        """Bytes of the constants of the result."""

    def note_scales(self, module: ModuleOp) -> None:
        """Record the quantization of tensors, before the first lowering."""
        for op in operations(module):
            for value in (*op.results, *(a for region in op.regions for b in region.blocks for a in b.args)):
                if (type := quantized_of(value.type)) is not None:
                    self._scales[wish(value)] = scale_text(type)

    def note_products(self, module: ModuleOp, floats: Mapping[OnnxOp, Remark]) -> None:
        """Record integer products, and reasons for float ones, before the last lowering."""
        ops = nodes_of(module)
        rows = self._worked_rows(ops)
        for op in ops:
            if (row := rows.get(op)) is None:
                continue
            work = op.get_trait(SumsProducts)
            merged = [row] if work is None else self.origin.products_at(row, work.products)
            if work is not None:
                numbers = work.numbers(op)
                fuses = self.form in ("qdq", *UPSTREAM_FORMS) and op not in floats
                is_integer = numbers is Numbers.INTEGER or (fuses and numbers is Numbers.PAIRS)
                product = _Product((work.count(op) or 0) // len(merged), open_sizes(op), is_integer)
                for one in merged:
                    self._products.setdefault(one, []).append(product)
            if (reason := floats.get(op)) is None:
                continue
            for said in (self._reasons.setdefault(one, []) for one in merged):
                said.insert(0 if work is not None else len(said), reason)  # a product's is decisive

    def _worked_rows(self, ops: Sequence[OnnxOp]) -> dict[Operation, int]:
        """
        The row of each op. A product may carry the name of an op that was merged with it: it belongs to the product
        above that one, unless that has an op of its own.
        """
        rows = self.origin.rows_of(ops)
        products = [op for op in ops if op.get_trait(SumsProducts) is not None and op in rows]
        taken = {rows[op] for op in products}
        for op in products:
            if (above := self.origin.product_at(rows[op])) not in taken:
                rows[op] = above
        return rows

    def finish(self, module: ModuleOp, refused: Mapping[OnnxOp, Blocked]) -> None:
        """Record the nodes of the result. refused: those that the target cannot read, with the reason."""
        self.bytes = tensor_bytes(module)
        ops = nodes_of(module)
        names = UniqueNames(map(node_name, ops))
        self.links = links_of(module, ops)
        known = tensors_of(ops).items()
        tensors = {value: one._replace(scale=self._scales.get(one.name, "")) for value, one in known}
        rows = self._worked_rows(ops)
        for op in ops:
            name = node_name(op)
            node = Node(
                names.claim(name) if name else "",
                op.op_type,
                tuple(tensors[v] for v in op.operands),
                tuple(tensors[v] for v in op.results),
                constant_bytes(op),
                is_kernel(op),
                None if (work := op.get_trait(SumsProducts)) is None else work.numbers(op),
                refused.get(op),
            )
            self.nodes.append(node)
            if op in rows:
                if node.numbers is not None and (why := unread_factor(op, refused)) is not None:
                    self._unread[rows[op]] = Remark("", op.name, called(op), why, op.location)
                self._nodes.setdefault(rows[op], []).append(node)
                self._elsewhere |= {t.name: rows[op] for t in node.outputs}

    def with_new_constants(self, module: ModuleOp) -> list[OnnxOp]:
        """Float products of one row, or of a number that is not known, whose weight became a constant."""
        rows, found = self._worked_rows(nodes_of(module)), list[OnnxOp]()
        for op, k in rows.items():
            linear = op.get_trait(Linear) if isinstance(op, OnnxOp) else None
            work = op.get_trait(SumsProducts)
            if (
                not isinstance(op, OnnxOp)
                or linear is None
                or work is None
                or op.get_trait(Window) is not None
            ):
                continue
            weight, before, result = op.input(1), self.origin.rows[k], shape_of(op.results[0].type)
            was_computed = before.operator == op.op_type and not all(
                t.is_constant for t in before.inputs[1:2]
            )
            is_one_row = result is not None and {*result[:-1]} <= {1, DYNAMIC}
            if was_computed and is_one_row and weight is not None and constant(weight) is not None:
                found += [op] if work.numbers(op) is Numbers.FLOAT else []
        return found

    def layers(self) -> tuple[Layer, ...]:
        """Every layer, in the order of the model as read."""
        return tuple(self._layer(k, row) for k, row in enumerate(self.origin.rows))

    def _layer(self, k: int, row: Row) -> Layer:
        nodes, products = self._nodes.get(k, []), self._products.get(k, [])
        counted, macs = sum(p.macs for p in products), row.macs
        if counted and (macs is None or max(p.open for p in products) < row.open):
            macs = counted  # more sizes are known by now
        integer = sum(p.macs for p in products if p.is_integer)
        if macs is not None and counted:
            integer = round(macs * integer / counted)
        reasons = [] if macs and integer == macs else self._reasons.get(k, [])  # a bias may be added in float
        if (unread := self._unread.get(k)) is not None:
            integer, reasons = 0, [unread, *reasons]
        return Layer(
            row.node,
            row.operator,
            tuple(nodes),
            "" if nodes else self._into(k),
            row.inputs,
            row.outputs,
            macs,
            row.numbers,
            integer,
            is_gone=not products if row.numbers is not None else not nodes,
            is_float=bool(reasons),
            bytes_before=row.bytes,
            module=row.module,
            reasons=tuple(dict.fromkeys(reasons)),
        )

    def _into(self, k: int) -> str:
        """Name of the layer that now computes the result of row `k`, or with whose product it was merged."""
        rows = [self._elsewhere[name] for name in self.origin.stand_in(k) if name in self._elsewhere]
        rows += [above for above in (self.origin.product_at(k),) if above in self._nodes]
        return self.origin.rows[rows[0]].node if rows else ""


def totals(layers: Iterable[Layer], *, is_open: bool = False) -> Totals:
    """The multiply-adds of all remaining layers. is_open: True if a size was counted as 1."""
    working = [one for one in layers if one.written is not None and not one.is_gone]
    written = dict.fromkeys(Numbers, 0)
    for one in working:
        if one.written is not None:
            written[one.written] += one.macs or 0
    return Totals(
        sum(one.macs or 0 for one in working),
        written,
        sum(one.integer_macs for one in working),
        sum(one.macs is None for one in working),
        is_open,
        len(working),
        sum(one.integer for one in working),
    )
