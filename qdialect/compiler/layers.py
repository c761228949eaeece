"""
The account of a compilation, layer by layer: what each node of the model as it was read has become, at what cost.

A layer is one node of the model as it was read. The nodes of the result, those that passes put in too, belong each to
one layer, by the names that they carry. All counts are of one run of one sample: an axis of unknown size counts as 1,
and the body of a loop as one turn.

What a share of multiply-adds in integers is:

- *as written*, a product counts as one of integers where the node itself multiplies integers: QLinearConv, QGemm,
  MatMulInteger, ConvInteger, DynamicQuantizeMatMul and their like. A Conv between DequantizeLinear and QuantizeLinear
  is written in float; it counts as *in pairs*, and what it runs in is up to the runtime. MatMulNBits, and a product of
  floats with a dequantized weight, count as *weights alone*;
- *in the result*, the same holds of the form `qoperator` and `integer`. In the form `qdq` a product of two quantized
  values counts as one of integers if the target fuses the pairs that are written for it, which its file says; so it
  does in the forms of upstream MLIR, which compute with what is stored.

The denominator is the same for both: the multiply-adds of the layers as they were read, without those that have become
constants. Where one layer has become several products, its multiply-adds are shared out as theirs are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from qdialect.compiler.graph import Links, Tensor, constant_bytes, links_of, nodes_of, scale_text, tensor_of
from qdialect.compiler.options import UPSTREAM_FORMS
from qdialect.compiler.provenance import Origin, Row, is_kernel
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import quantized_of
from qdialect.ir.names import UniqueNames, node_name, wish
from qdialect.ir.walking import operations
from qdialect.onnx_io.external import tensor_bytes
from qdialect.promises.work import Multiplies, Numbers, open_sizes
from qdialect.rewriting.remarks import Remark


@dataclass(frozen=True)
class Node:
    """One node of the result."""

    name: str
    """As it is written into the file; empty if it has none."""
    operator: str
    """As `QLinearConv`."""
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    bytes: int
    """Bytes of the constants that the node takes."""
    is_kernel: bool
    """Whether it is an operator of quantized numbers: QLinearConv, MatMulInteger, QLinearAdd."""


@dataclass(frozen=True)
class Layer:
    """One node of the model as it was read, and what became of it."""

    node: str
    """Its name, or that of the first tensor that it computes."""
    operator: str
    """As `Conv`."""
    became: tuple[Node, ...]
    """The nodes of the result that belong to it, in order."""
    into: str
    """The layer whose nodes do its work now, where `became` is empty; empty if it is not known, or if none does."""
    inputs: tuple[Tensor, ...]
    """As they were read."""
    outputs: tuple[Tensor, ...]
    macs: int | None
    """Multiply-adds as it was read; None if it sums no products, or if they cannot be counted."""
    written: Numbers | None
    """What it multiplied as it was written; None if it sums no products."""
    integer_macs: int
    """Those of `macs` that are of integers in the result."""
    is_gone: bool
    """Whether nothing of its work is left in the result: it was computed in advance, or nobody took it."""
    is_float: bool
    """Whether an op of it that has an integer form is in float."""
    bytes_before: int
    """Bytes of the constants that the layer took in the model as it was read."""
    reasons: tuple[Remark, ...] = ()
    """Why it is in float, what decided first; each reason once."""

    @property
    def integer(self) -> bool:
        """Whether all its multiply-adds are of integers, or, where it has none, nothing of it is in float."""
        return self.integer_macs == self.macs if self.macs else not self.is_float

    @property
    def operators(self) -> tuple[str, ...]:
        """The types of the nodes that it became, each once."""
        return tuple(dict.fromkeys(node.operator for node in self.became))

    @property
    def bytes(self) -> int:
        """Bytes of the constants that its nodes take in the result."""
        return sum(node.bytes for node in self.became)

    @property
    def elements(self) -> int:
        """How many elements it computes; an axis of unknown size counts as 1."""
        return sum(prod(size or 1 for size in t.shape or ()) for t in self.outputs)


@dataclass(frozen=True)
class Totals:
    """Multiply-adds of a whole model."""

    macs: int
    """Multiply-adds of one run of all layers that are left."""
    written: dict[Numbers, int]
    """By what they multiplied as they were written."""
    integer: int
    """In integers in the result."""
    uncounted: int
    """How many layers sum products whose number cannot be counted: a rank is not known."""
    is_open: bool
    """Whether an axis of unknown size was counted as 1."""

    @property
    def share_before(self) -> float:
        """The part that was in integers as it was written; 0 if there is none."""
        return self.written.get(Numbers.INTEGER, 0) / (self.macs or 1)

    @property
    def share(self) -> float:
        """The part that is in integers in the result; 0 if there is none."""
        return self.integer / (self.macs or 1)


class _Product(NamedTuple):
    """An op that sums products, in front of the last lowering."""

    macs: int
    open: int
    """Sizes that are not known."""
    is_integer: bool


class Account:
    """What a compilation did, by layer: notes scales, products and reasons while they are there to be read."""

    def __init__(self, origin: Origin, form: str):
        self.origin, self.form = origin, form
        self._scales: dict[str, str] = {}
        self._products: dict[int, list[_Product]] = {}
        self._reasons: dict[int, list[Remark]] = {}
        self._nodes: dict[int, list[Node]] = {}
        self.nodes: list[Node] = []
        """The nodes of the result, in its order."""
        self.links = Links((), (), ())
        """Between these."""
        self._elsewhere: dict[str, int] = {}
        """The row that a tensor of the result belongs to."""
        self.bytes = 0
        """Bytes of the constants of the result."""

    def note_scales(self, module: ModuleOp) -> None:
        """Note what is quantized how, in front of the first lowering."""
        for op in operations(module):
            for value in (*op.results, *(a for region in op.regions for b in region.blocks for a in b.args)):
                if (type := quantized_of(value.type)) is not None:
                    self._scales[wish(value)] = scale_text(type)

    def note_products(self, module: ModuleOp, floats: Mapping[OnnxOp, Remark]) -> None:
        """Note what multiplies integers, and why the rest does not, in front of the last lowering."""
        ops = nodes_of(module)
        rows = self._worked_rows(ops)
        for op in ops:
            if (row := rows.get(op)) is None:
                continue
            if (work := op.get_trait(Multiplies)) is not None:
                numbers = work.numbers(op)
                fuses = self.form in ("qdq", *UPSTREAM_FORMS) and op not in floats
                is_integer = numbers is Numbers.INTEGER or (fuses and numbers is Numbers.PAIRS)
                product = _Product(work.count(op) or 0, open_sizes(op), is_integer)
                self._products.setdefault(row, []).append(product)
            if (reason := floats.get(op)) is not None:
                said = self._reasons.setdefault(row, [])
                said.insert(0 if work is not None else len(said), reason)  # that of a product decides

    def _worked_rows(self, ops: Sequence[OnnxOp]) -> dict[Operation, int]:
        """
        The row of each op. A product may carry the name of an op that was merged with it: it belongs to the product
        above that one, unless that has an op of its own.
        """
        rows = self.origin.rows_of(ops)
        products = [op for op in ops if op.get_trait(Multiplies) is not None and op in rows]
        taken = {rows[op] for op in products}
        for op in products:
            if (above := self.origin.product_at(rows[op])) not in taken:
                rows[op] = above
        return rows

    def finish(self, module: ModuleOp) -> None:
        """Note the nodes of the result."""
        self.bytes = tensor_bytes(module)
        names, ops = UniqueNames(), nodes_of(module)
        self.links = links_of(module, ops)
        rows = self._worked_rows(ops)
        for op in ops:
            name = node_name(op)
            node = Node(
                names.fresh(name) if name else "",
                op.op_type,
                tuple(self._tensor(v) for v in op.operands),
                tuple(self._tensor(v) for v in op.results),
                constant_bytes(op),
                is_kernel(op),
            )
            self.nodes.append(node)
            if op in rows:
                self._nodes.setdefault(rows[op], []).append(node)
                self._elsewhere |= {t.name: rows[op] for t in node.outputs}

    def _tensor(self, value: SSAValue) -> Tensor:
        tensor = tensor_of(value)
        return replace(tensor, scale=self._scales.get(tensor.name, ""))

    def layers(self) -> tuple[Layer, ...]:
        """Every layer, in the order of the model as it was read."""
        return tuple(self._layer(k, row) for k, row in enumerate(self.origin.rows))

    def _layer(self, k: int, row: Row) -> Layer:
        nodes, products = self._nodes.get(k, []), self._products.get(k, [])
        counted, macs = sum(p.macs for p in products), row.macs
        if counted and (macs is None or max(p.open for p in products) < row.open):
            macs = counted  # what was found out of sizes since
        integer = sum(p.macs for p in products if p.is_integer)
        if macs is not None and counted:
            integer = round(macs * integer / counted)
        reasons = [] if macs and integer == macs else self._reasons.get(k, [])  # a bias may be added in float
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
            reasons=tuple(dict.fromkeys(reasons)),
        )

    def _into(self, k: int) -> str:
        """The layer that makes now what row `k` made, or whose product it was merged with."""
        rows = [self._elsewhere[name] for name in self.origin.stand_in(k) if name in self._elsewhere]
        rows += [above for above in (self.origin.product_at(k),) if above in self._nodes]
        return self.origin.rows[rows[0]].node if rows else ""


def totals(layers: Iterable[Layer], *, is_open: bool = False) -> Totals:
    """The multiply-adds of all layers whose work is left. `is_open`: whether a size was counted as 1."""
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
    )
