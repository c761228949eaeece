"""
The oracle form: every op on quantized types written as dequantize, op, quantize in float, each value an output.

    op(a, b) : T   ->  QuantizeLinear(op(DequantizeLinear(a), DequantizeLinear(b)))

Nothing is merged or moved, and results of half precision are rounded behind each op: it defines the meaning of ops on
quantized types and is the reference of every pass. A value can be cut: its users take a graph input instead of its
producer, which is still an output.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    UnrankedTensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, YieldOp
from qdialect.dialects.onnx_types import (
    element_of,
    expressed_type,
    onnx_element,
    quantized_of,
    stored_type,
    uniform_of,
)
from qdialect.dialects.quant import DequantizeOp, Half, QuantizeOp, StorageCastOp, UniformType
from qdialect.errors import UserError
from qdialect.forms.casts import (
    Parameters,
    cast_op,
    clamped,
    clamped_real,
    clamps_integers,
    converted,
    parameter_constants,
    written_type,
)
from qdialect.ir.insertion import end_of
from qdialect.ir.interface import attributes_of_inputs, main_of
from qdialect.ops.generated import op_named
from qdialect.promises.base import Commutes

MIN_OBSERVED_BITS = 8
"""Fewest bits of observed values: narrower ones are packed in ONNX, computed but not observed."""
FLOAT_EXACT = 16
"""Greatest number of bits of integers that survive a round trip through float32."""

IR_VERSION = 10
OPSET = DictionaryAttr({"ai.onnx": int_attr(21)})
"""Opset imports assumed for a module that states none."""

Cut = Callable[[SSAValue], "Attribute | None"]
"""Maps a value to the tensor type with which it becomes an input; None to compute it."""


def is_visible(value: SSAValue) -> bool:
    """True if a value can be an output of the oracle form and compared."""
    if not isinstance(value.type, TensorType | UnrankedTensorType):
        return False
    element = onnx_element(stored_type(value.type))
    return element is None or element.bits >= MIN_OBSERVED_BITS


@dataclass(frozen=True)
class OracleForm:
    """A module without quantized types, with the mapping of its inputs and outputs to values."""

    module: ModuleOp
    """Its inputs are called `i0`, `i1`, ..., then `c0`, ... for cut values; its outputs `o0`, `o1`, ..."""
    cuts: Sequence[SSAValue]
    """The values that `c0`, `c1`, ... replace."""
    outputs: Sequence[SSAValue]
    """The values of the original module that `o0`, `o1`, ... hold."""


class _Constants(Parameters):
    """Scales and zero points as constants at the head of the block that uses them."""

    def __init__(self, block: Block):
        super().__init__()
        self._block = block
        self._by_type: dict[UniformType, tuple[SSAValue, SSAValue]] = {}

    def of(self, type: UniformType, user: Operation, tensor: SSAValue | str) -> tuple[SSAValue, SSAValue]:
        """Scale and zero point of `type`."""
        pair_of_values = self._by_type.get(type)
        if pair_of_values is None:
            pair = parameter_constants(type)
            self._block.add_ops(pair)
            pair_of_values = self._by_type[type] = pair[0].results[0], pair[1].results[0]
        return pair_of_values


class _Writer:
    """Writes one block of the oracle form; values are mapped to their stored elements."""

    def __init__(
        self,
        block: Block,
        values: dict[SSAValue, SSAValue],
        cut: Cut | None,
        only: Collection[Operation] | None = None,
    ):
        self.block, self.values, self._cut, self._only = block, values, cut, only
        self._constants = _Constants(block)
        self._dequantized: dict[SSAValue, SSAValue] = {}
        self.cuts: list[SSAValue] = []
        self.outputs: list[tuple[SSAValue, SSAValue]] = []
        """(value, its stored elements in the oracle form), in order."""

    def write(self, ops: Sequence[Operation]) -> None:
        """Write the ops of a block, except its terminator."""
        for op in ops:
            if self._only is None or op in self._only:
                for old, new in zip(op.results, self._op(op), strict=True):
                    self.values[old] = new
                    if self._cut is not None and not isinstance(op, ConstantOp) and is_visible(old):
                        self.outputs.append((old, new))
            if self._cut is None:
                continue
            for value in op.results:
                if (outside := self._cut(value)) is not None:
                    self.values[value] = self.block.insert_arg(outside, len(self.block.args))
                    self.cuts.append(value)

    def _add(self, op: Operation) -> Sequence[SSAValue]:
        self.block.add_op(op)
        return op.results

    def _op(self, op: Operation) -> Sequence[SSAValue]:
        if isinstance(op, DequantizeOp):
            return [self._float(op.operands[0], op)]
        if isinstance(op, QuantizeOp):
            return [self._quantize(self.values[op.operands[0]], op.results[0].type, op)]
        if isinstance(op, StorageCastOp):
            return [self.values[op.operands[0]]]
        if isinstance(op, ConstantOp) and op.value is not None:
            return self._add(ConstantOp.of(op.value))
        if not isinstance(op, OnnxOp):
            raise UserError(f"{op.name} has no oracle form", "run the check on onnx and quant ops")
        return self._onnx(op)

    def _float(self, value: SSAValue, user: Operation) -> SSAValue:
        if value not in self._dequantized:
            type = uniform_of(value.type)
            cast = cast_op(False, self.values[value], written_type(type), self._constants, user, "")
            self._dequantized[value] = self._rounded(self._converted(self._add(cast)[0], type.expressed))
        return self._dequantized[value]

    def _quantize(self, real: SSAValue, result: Attribute, user: Operation) -> SSAValue:
        type = uniform_of(result)
        before = [] if clamps_integers(type, user) else clamped_real(real, type, user)
        self.block.add_ops(before)
        real, wide = before[-1].results[0] if before else real, written_type(type)
        cast = cast_op(True, self._converted(real, wide.expressed), wide, self._constants, user, "")
        ops = [cast, *(() if before else clamped(cast.results[0], type))]
        self.block.add_ops(ops)
        return ops[-1].results[0]

    def _converted(self, real: SSAValue, element: Attribute) -> SSAValue:
        """`real` cast to another float type; itself if it has it."""
        return real if element_of(real.type) == element else self._add(converted(real, element))[0]

    def _onnx(self, op: OnnxOp) -> Sequence[SSAValue]:
        stays = bool(op.regions) or _moves_wide(op)  # stored elements cross the boundary
        is_real = [quantized_of(v.type) is not None and not (stays and _crosses(v.type)) for v in op.operands]
        operands = [
            self._float(v, op) if real else self.values[v]
            for v, real in zip(op.operands, is_real, strict=True)
        ]
        results = [stored_type(t) if stays and _crosses(t) else expressed_type(t) for t in op.result_types]
        new = op.__class__.create(
            operands=operands,
            result_types=results,
            properties=op.properties,
            regions=[self._region(region) for region in op.regions],
        )
        written = [self._rounded(value) for value in self._add(new)]
        return [
            real if quantized_of(old) is None or (stays and _crosses(old)) else self._quantize(real, old, op)
            for old, real in zip(op.result_types, written, strict=True)
        ]

    def _rounded(self, value: SSAValue) -> SSAValue:
        """
        A result, rounded to its type if that is of half precision.

        onnxruntime has few kernels for such types: it computes runs of such ops in float32, and rounds once. The copies
        end a run.
        """
        if not isinstance(element_of(value.type), Half):
            return value
        for _ in range(2):  # onnxruntime computes a single one between ops without kernels in float32 too
            (value,) = self._add(op_named("", "Identity").build([value], [value.type]))
        return value

    def _region(self, region: Region) -> Region:
        old = region.block
        types = [stored_type(a.type) if _crosses(a.type) else expressed_type(a.type) for a in old.args]
        block = Block(arg_types=types)
        inner = _Writer(block, self.values | dict(zip(old.args, block.args, strict=True)), None)
        end = end_of(old, YieldOp)
        for argument, real in zip(old.args, block.args, strict=True):
            if not _crosses(argument.type):
                inner.values[argument] = inner._quantize(real, argument.type, end)
        inner.write([op for op in old.ops if op is not end])
        block.add_op(
            YieldOp.create(
                operands=[
                    inner.values[v] if _crosses(v.type) else inner._float(v, end) for v in end.operands
                ],
                properties=end.properties,
                attributes=end.attributes,
            )
        )
        return Region(block)


def _crosses(type: Attribute) -> bool:
    """True if a value crosses a subgraph's boundary as stored: If and Loop have no kernels for less than 8 bits."""
    quantized = quantized_of(type)
    return quantized is None or quantized.storage.width >= MIN_OBSERVED_BITS


def _moves_wide(op: OnnxOp) -> bool:
    """True if an op moves integers that float32 cannot hold: ONNX has no quantize to i32."""
    promise = op.get_trait(Commutes)
    types = [t for v in (*op.operands, *op.results) if (t := quantized_of(v.type)) is not None]
    return promise is not None and promise.moves_storage and any(t.storage.width > FLOAT_EXACT for t in types)


def _named(prefix: str, count: int) -> list[DictionaryAttr]:
    return [DictionaryAttr({"onnx.name": StringAttr(f"{prefix}{k}")}) for k in range(count)]


def _renamed(func: FuncOp) -> list[DictionaryAttr]:
    rows = enumerate(attributes_of_inputs(func))
    return [DictionaryAttr({**row.data, "onnx.name": StringAttr(f"i{k}")}) for k, row in rows]


def oracle_form(
    module: ModuleOp, cut: Cut = lambda value: None, only: Collection[Operation] | None = None
) -> OracleForm:
    """
    The oracle form of `module`, which is not modified: a module of onnx ops in which every tensor of the graph that an
    op computes is an output, and every value for which `cut` returns a type is an input where it is used.

    only: ops of the graph to include, without all others; `cut` must cover the results of others in use.

    Raises UserError if the module holds ops of other dialects than onnx, quant and func.
    """
    func = main_of(module)
    old = func.body.block
    block = Block(arg_types=[stored_type(a.type) for a in old.args])
    writer = _Writer(block, dict(zip(old.args, block.args, strict=True)), cut, only)
    end = end_of(old, ReturnOp)
    writer.write([op for op in old.ops if op is not end])
    outputs = [(old, _own(new, block)) for old, new in writer.outputs]
    block.add_op(ReturnOp(*[new for _, new in outputs]))
    new_func = FuncOp(
        "main",
        ([a.type for a in block.args], [new.type for _, new in outputs]),
        Region(block),
        arg_attrs=ArrayAttr([*_renamed(func), *_named("c", len(writer.cuts))]),
        res_attrs=ArrayAttr(_named("o", len(outputs))),
    )
    others = [op.clone() for op in module.ops if not isinstance(op, FuncOp)]
    attributes: dict[str, Attribute] = {"onnx.ir_version": int_attr(IR_VERSION), "onnx.opset_import": OPSET}
    attributes |= {k: v for k, v in module.attributes.items() if k in attributes}
    return OracleForm(ModuleOp([*others, new_func], attributes), writer.cuts, [old for old, _ in outputs])


def _own(value: SSAValue, block: Block) -> SSAValue:
    """A value usable as an output: inputs are copied, since ONNX would only rename them."""
    if not isinstance(value, BlockArgument):
        return value
    copy = op_named("", "Identity").build([value], [value.type])
    block.add_op(copy)
    return copy.results[0]
