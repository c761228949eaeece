"""Provenance: the node of the model as read to which each node of the result belongs, by names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp
from qdialect.ir.names import QUANTIZED, called, node_name, tensor_name, tensor_names
from qdialect.onnx_io.external import tensor_bytes
from qdialect.patterns.arithmetic_operands import Integers
from qdialect.promises.casts import DequantizeForm, QuantizeForm
from qdialect.promises.fake_quantize import FakeQuantizes
from qdialect.promises.qoperator import QOperator
from qdialect.promises.work import Numbers, SumsProducts, open_sizes
from qdialect.report.graph import Tensor, constant_bytes, links_of, nodes_of, tensors_of
from qdialect.report.modules import module_of
from qdialect.rewriting.manager import Applied, Hook
from qdialect.rewriting.passes import RewritePass

MAX_OPS_TO_MERGED = 8
"""Greatest number of nodes between a product and an op merged with it: a bias, casts, layout ops."""

CAST_OPS = QuantizeOp, DequantizeOp, StorageCastOp


def is_kernel(op: OnnxOp) -> bool:
    """True if an op is defined on quantized numbers."""
    work = op.get_trait(SumsProducts)
    return op.get_trait(QOperator) is not None or (work is not None and work.integers)


@dataclass
class Row:
    """One node of the model as read."""

    node: str
    """Its name, or that of its first result."""
    operator: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    bytes: int
    """Bytes of the node's constant operands."""
    is_cast: bool
    """True for a quantize or dequantize, which types represent."""
    numbers: Numbers | None
    """Kind of numbers that it multiplies as read; None if it sums no products."""
    macs: int | None = None
    """Multiply-adds of one run of the node; None if it has none, or if they cannot be counted."""
    module: tuple[str, ...] = ()
    """Path of the module that it comes from; empty if unknown."""
    open: int = 0
    """Number of unknown sizes of its inputs and outputs, which count as 1."""


def _is_cast(op: OnnxOp) -> bool:
    return op.get_trait(QuantizeForm) is not None or op.get_trait(DequantizeForm) is not None


def _is_quantized(op: OnnxOp, integers: Integers) -> bool:
    """True if an op quantizes, dequantizes or computes with quantized integers, also such as are cast to float."""
    if _is_cast(op) or is_kernel(op) or op.get_trait(FakeQuantizes) is not None:
        return True
    work = op.get_trait(SumsProducts)
    factors = (op.input(k) for k in work.factors) if work is not None else ()
    return (work is not None and work.packed) or any(v is not None and v in integers for v in factors)


def _row(op: OnnxOp, tensors: Mapping[SSAValue, Tensor]) -> Row:
    work = op.get_trait(SumsProducts)
    return Row(
        called(op),
        op.op_type,
        tuple(tensors[v] for v in op.operands),
        tuple(tensors[v] for v in op.results),
        constant_bytes(op),
        _is_cast(op),
        None if work is None else work.numbers(op),
        module=module_of(op),
    )


def _count(row: Row, op: OnnxOp) -> bool:
    """Count the multiply-adds of a row with the sizes known by now; True if all are known."""
    work = op.get_trait(SumsProducts)
    if work is not None and op.parent is not None:
        row.macs, row.open = work.count(op), open_sizes(op)
    return work is None or (row.macs is not None and not row.open)


class Origin(Hook):
    """
    The nodes of a model as read. As a hook it updates their sizes after the first shape inference, and records the
    replacements of tensors.
    """

    def __init__(self, module: ModuleOp):
        ops = nodes_of(module)
        tensors = tensors_of(ops)
        self.rows = [_row(op, tensors) for op in ops]
        self.links = links_of(module, ops)
        """Edges between the rows."""
        self.bytes = tensor_bytes(module)
        """Bytes of the model's constants."""
        integers = Integers()
        self.is_quantized = any(_is_quantized(op, integers) for op in ops)
        self._uncounted = [(row, op) for row, op in zip(self.rows, ops, strict=True) if not _count(row, op)]
        self._instead: dict[str, str] = {}
        self._by_tensor: dict[str, int] = {}
        self._by_node: dict[str, int | None] = {}
        for k, op in enumerate(ops):
            self._by_tensor |= {name: k for name in tensor_names(op) if name}
            if name := called(op):
                self._by_node[name] = None if name in self._by_node else k

    def after(self, applied: Applied, module: ModuleOp) -> None:
        if not isinstance(applied.one, RewritePass):  # shape inference
            self._uncounted = [(row, op) for row, op in self._uncounted if not _count(row, op)]
        for new, old in applied.records.stands_for.items():
            before, now = _name_of(old), _name_of(new)
            if before and now and before != now:
                self._instead[before] = now

    def _quantized_at(self, row: int) -> int:
        """The row itself or, if it quantizes, the one whose result it quantizes: an op fused from both has its name."""
        if not self.rows[row].is_cast or not self.rows[row].inputs:
            return row
        return self._by_tensor.get(self.rows[row].inputs[0].name, row)

    def product_at(self, row: int) -> int:
        """The row itself if it sums products, or the nearest above that does, if the path is unique."""
        at = row
        for _ in range(MAX_OPS_TO_MERGED):
            if self.rows[at].numbers is not None:
                return at
            above = [k for t in self.rows[at].inputs if (k := self._by_tensor.get(t.name)) is not None]
            products = [k for k in above if self.rows[k].numbers is not None]
            if not products and len(above) != 1:
                return row
            at = (products or above)[0]
        return row

    def products_at(self, row: int, most: int) -> list[int]:
        """The row and, above its first input, products in series that an op computes with it; at most `most`."""
        rows = [row]
        while len(rows) < most and (inputs := self.rows[rows[-1]].inputs):
            above = self._by_tensor.get(inputs[0].name)
            if above is None or self.rows[first := self.product_at(above)].numbers is None:
                break
            rows.append(first)
        return rows

    def stand_in(self, row: int) -> set[str]:
        """The names of the tensors that replaced a row's, and of intermediate ones."""
        waiting, seen = [t.name for t in self.rows[row].outputs], set[str]()
        while waiting:
            if (name := waiting.pop()) not in seen:
                seen.add(name)
                waiting += [self._instead[name]] if name in self._instead else []
        return seen

    def rows_of(self, ops: Sequence[OnnxOp]) -> dict[Operation, int]:
        """
        The row that each op of a later state belongs to: by the name of its node or a tensor; an op without such names
        belongs to its user, behind casts, too, or else to its producer.
        """
        rows: dict[Operation, int] = {}
        for op in ops:
            if (row := self._named_row(op)) is not None:
                rows[op] = self._quantized_at(row) if not _is_cast(op) else row
        for op in reversed(ops):
            if op not in rows:
                below = (self._row_below(user, rows) for user in _users(op))
                if (row := next((k for k in below if k is not None), None)) is not None:
                    rows[op] = row
        for op in ops:
            if op not in rows:
                _take(rows, op, (v.op for v in op.operands if isinstance(v, OpResult)))
        return rows

    def _row_below(self, user: Operation, rows: Mapping[Operation, int]) -> int | None:
        """The row of a user of some op, or of what a cast quantizes that a type stands for; None if it has none."""
        if not isinstance(user, CAST_OPS):
            return rows.get(user)
        row = self._named_row(user)
        return None if row is None else self._quantized_at(row)

    def _named_row(self, op: Operation) -> int | None:
        """The row that has the name of an op, or else of a tensor that it computes; None if none has."""
        named = self._by_node.get(node_name(op))
        # A newly quantized tensor has the name of the real one, with a suffix.
        names = [*tensor_names(op), *(name.removesuffix(QUANTIZED) for name in tensor_names(op))]
        tensors = map(self._by_tensor.get, names)
        return named if named is not None else next((k for k in tensors if k is not None), None)


def _take(rows: dict[Operation, int], op: Operation, others: Iterable[Operation]) -> None:
    row = next((rows[one] for one in others if one in rows), None)
    if row is not None:
        rows[op] = row


def _users(op: Operation) -> Iterator[Operation]:
    """The users of an op's results, through casts, which belong to no row."""
    for use in (use for result in op.results for use in result.uses):
        yield use.operation
        if isinstance(use.operation, CAST_OPS):
            yield from _users(use.operation)


def _name_of(value: SSAValue) -> str:
    return tensor_name(value.op, value.index) if isinstance(value, OpResult) else ""
