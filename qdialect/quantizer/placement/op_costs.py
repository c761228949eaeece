"""Expected cost of an op on a target, in float and in integers: the costs that placement minimizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import prod

from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.traits import IsTerminator

from qdialect.dialects.onnx_base import OnnxOp, onnx_opset, promise_of
from qdialect.dialects.onnx_types import DYNAMIC, shape_of
from qdialect.dialects.quant import DequantizeOp, QuantizeOp
from qdialect.forms.kernel_substitutes import KernelOfAnother
from qdialect.forms.recurrent import RECURRENT
from qdialect.forms.table import form_of
from qdialect.ir.values import constant, rank_of, static_shape
from qdialect.kernel_selection.convolution.search import Search, kernel_cost
from qdialect.kernel_selection.convolution.step import Spec
from qdialect.patterns.float_kernels import part_of
from qdialect.patterns.recurrent import pays
from qdialect.promises.base import Commutes
from qdialect.promises.clamping import Clamp
from qdialect.promises.kernels import Kernels
from qdialect.promises.linear import Linear
from qdialect.promises.window import Geometry, Window
from qdialect.promises.work import SumsProducts, sizes
from qdialect.targets import Target
from qdialect.targets.pricing import (
    BLOCKED,
    IMAGE_RANK,
    MAX_TIME_RATIO,
    PRODUCT,
    SPREADING,
    SUM,
    Convolution,
    best_cost,
    cheapest,
    cost,
    float_cost,
    priced,
    quantized_cost,
)

RUN_TIME_KERNEL = "DynamicQuantizeLSTM"
OPEN_BATCH = 8
"""Batch size assumed for a model with an open batch."""
BATCH_OF_ONE = 1
"""Batch size at which such a model must not lose, either."""
NOMINAL_SAVING_NS = 10_000.0
"""Nanoseconds that an integer op is assumed to save on a target without measurements."""

Elements = Callable[[SSAValue], int]


@dataclass(frozen=True)
class Expected:
    """Nanoseconds of one op in each form; None if the target lacks the form."""

    floating: float
    integer: float | None = None
    """Nanoseconds from quantized operands to a quantized result."""
    float_result: float | None = None
    """Nanoseconds from quantized operands to a float result."""
    dynamic: bool = False
    """True if `floating` is the cost of a dynamically quantized kernel."""
    plain: float = 0.0
    """Cost of the float kernel, if `dynamic`."""
    run_time: float = 0.0
    """Cost of the dynamically quantized kernel, if there is one, whether or not it takes less time."""
    whole: OnnxOp | None = None
    """The op in front, if onnxruntime fuses this op into its float kernel."""
    apart: float = 0.0
    """Additional cost of `floating` if `whole` is in integers."""


FLOAT_ONLY = Expected(0.0)


def elements_of(value: SSAValue, counted: int | None = None, batch: int = OPEN_BATCH) -> int:
    """Number of elements of a tensor; with open sizes, `counted` per sample times `batch`, or 1 if not counted."""
    shape = shape_of(value.type)
    if shape is not None and DYNAMIC not in shape:
        return prod(shape)
    if counted is not None:
        return counted * batch
    if shape is None:
        return 1
    first = batch if shape[0] == DYNAMIC else shape[0]
    return first * prod(1 if size == DYNAMIC else size for size in shape[1:])


class Costing:
    """
    The expected costs of ops on a target, in each form that it has there.

    kernels: False if the runtime fuses pairs; then an op gains that meets a linear op, or if `graph` has none.
    """

    def __init__(self, target: Target, elements: Elements, graph: Block | None = None, *, kernels: bool):
        self._all = graph is not None and not any(promise_of(op, Linear) for op in graph.walk())
        self._target, self._elements, self._costs = target, elements, target.costs
        self._search = Search(self._costs)
        self._has_kernels = kernels and "Placement" in self._costs

    @property
    def has_measured_kernels(self) -> bool:
        """True if the times of integer kernels are measured ones of the target."""
        return self._has_kernels

    @property
    def _call(self) -> float:
        """Nanoseconds of any kernel's call."""
        return self._costs["Placement"]["call"]

    def _each(self, name: str) -> float:
        """Nanoseconds for each element of an elementwise op."""
        known = {**self._costs.get("Floating", {}), **self._costs["Elementwise"]}
        return known.get(name, self._costs["Placement"]["move_float"])

    def expected(self, op: OnnxOp) -> Expected:
        """The costs of an op that may become integer."""
        linear, commutes = op.get_trait(Linear), op.get_trait(Commutes)
        if linear is not None:
            costs = self._linear(op, linear)
        else:
            costs = self._computed(op) if commutes is None else self._moved(op, commutes)
        costs = self.in_float(op) if costs is FLOAT_ONLY else costs
        part = part_of(op, self._costs) if self._has_kernels else None
        return costs if part is None else _in_one(costs, part[0], part[1] * self._elements(op.results[0]))

    def recurrent(self, op: OnnxOp) -> Expected | None:
        """The costs of a recurrent op, by its dynamically quantized kernel if that is faster; None for other ops."""
        costs = self._costs.get(RUN_TIME_KERNEL, {})
        if (op.domain, op.op_type) not in RECURRENT or "product" not in costs:
            return None
        weights = [shape_of(op.operands[k].type) for k in (1, 2)]
        steps = self._elements(op.operands[0]) / max((weights[0] or (1,))[-1], 1)
        products = steps * sum(prod(w) for w in weights if w is not None)
        fast = costs["call"] + products * costs["product"]
        plain = costs["float_call"] + products * costs["float"]
        if fast >= plain or not pays(op, self._target):
            return Expected(plain, run_time=fast)
        return Expected(fast, dynamic=True, plain=plain, run_time=fast)

    def in_float(self, op: OnnxOp) -> Expected:
        """The cost of an op that stays in float in any placement, as part of the model's total."""
        if "Placement" not in self._costs or not op.results:
            return FLOAT_ONLY
        commutes = op.get_trait(Commutes)
        if commutes is not None and not commutes.selects:
            moved = sum(map(self._elements, op.results))
            return Expected(self._call + moved * self._costs["Placement"]["move_float"])
        if (products := _products(op, self._elements)) is not None:
            return Expected(self._call + products * self._costs["Gemm"]["product"])
        size = max(self._elements(v) for v in (*op.operands, op.results[0]))
        return Expected(self._call + size * self._each(_name(op)))

    def cast(self, value: SSAValue, count: int, each: float) -> float:
        """Nanoseconds of a quantize or dequantize of `count` elements, each of which takes `each`."""
        return _cast(value, count, each, self._costs["Placement"]) if self._has_kernels else 1.5

    def _linear(self, op: OnnxOp, linear: Linear) -> Expected:
        weight = static_shape(op.operands[1])
        tensor = constant(op.operands[1])
        if weight is None or tensor is None or len(weight) < 2 or linear.weight_axis(op) is None:
            return FLOAT_ONLY
        if op.int_attr("transA", 0):
            return FLOAT_ONLY
        if not self._has_kernels:
            return Expected(2 * NOMINAL_SAVING_NS, 1.0, NOMINAL_SAVING_NS)
        if len(weight) > 2 and rank_of(op.operands[0]) in (None, len(weight)) and linear.result_axis == 1:
            return self._convolution(op, weight)
        return self._product(op, linear, weight) if len(weight) == 2 else FLOAT_ONLY

    def _product(self, op: OnnxOp, linear: Linear, weight: tuple[int, ...]) -> Expected:
        costs, size = self._costs, prod(weight)
        read, written = self._elements(op.operands[0]), self._elements(op.results[0])
        outputs = weight[linear.weight_axis(op) or 0]
        products = written * (size // max(outputs, 1))

        def of(kernel: str) -> float:
            extra = costs[kernel]["product"] * (products - size) if products > size else 0.0
            return self._one_row(kernel, read, written, size) + extra

        floating = of("Gemm")
        plain = op.float_attr("alpha", 1.0) == 1 and op.float_attr("beta", 1.0) == 1
        dynamic = of("DynamicQuantizeMatMul") if plain else floating
        added = 0.0  # of a bias behind the kernel with a float result, which takes none
        if op.input(2) is not None:
            added = self._call + costs["Elementwise"]["Add"] * written
        return Expected(
            min(floating, dynamic),
            of("QGemm"),
            of("QGemmFloat") + added,
            dynamic < floating,
            floating,
            dynamic,
        )

    def _one_row(self, kernel: str, read: int, written: int, size: int) -> float:
        """Nanoseconds of a product of one row with a weight of `size` elements."""
        c = self._costs[kernel]
        return (c["product"] + c["weight"]) * size + c["read"] * read + c["written"] * written + c["call"]

    def _convolution(self, op: OnnxOp, weight: tuple[int, ...]) -> Expected:
        costs, window = self._costs, op.get_trait(Window)
        geometry = None if window is None else window.geometry(op)
        if window is None or not isinstance(geometry, Geometry):
            return FLOAT_ONLY
        if not window.gathers:
            return self._transposed(op, weight)
        shape = priced(geometry, symmetric=True)
        written = self._elements(op.results[0])
        channels = max(shape.outputs * shape.groups, 1)
        shape = shape._replace(images=1, pixels=max(written // channels, 1))
        integer = self._in_best_form(shape, geometry, onnx_opset(op))
        floating = float_cost(costs, shape)
        if shape.groups > 1:
            if shape.is_depthwise and len(shape.kernel) == 2:
                values = written * self._whole_blocks(shape.groups) / shape.groups
                floating = costs["Placement"]["depthwise"] * values * prod(shape.kernel)
            return Expected(self._call + floating, self._call + integer)
        is_row = self._is_row(op, shape)
        if len(shape.kernel) > 2 and not is_row:
            return Expected(floating, integer)
        result = cheapest(costs, (SUM, PRODUCT), shape)[1]
        if not is_row:
            return Expected(floating, integer, result)
        size = shape.inputs * written
        one = self._one_row("DynamicQuantizeMatMul", shape.inputs, written, size) + self._call
        floating = max(floating, self._one_row("Gemm", shape.inputs, written, size))
        return Expected(min(floating, one), integer, result, one < floating, floating, one)

    @staticmethod
    def _is_row(op: OnnxOp, shape: Convolution) -> bool:
        """True for a convolution of one pixel by one, which is the product of a row."""
        size = static_shape(op.results[0])
        is_one = prod(shape.kernel) == 1 and size is not None and prod(size[2:]) == 1
        return is_one and not any(op.ints_attr("pads") or ())

    def _in_best_form(self, shape: Convolution, geometry: Geometry, opset: int) -> float:
        """
        Nanoseconds of a convolution from integers to integers, in the form that `choose-convolution-form` gives it.
        What that saves is counted with the doubt of the fitted costs, as there.
        """
        one = Spec(geometry, 1 if geometry.images == DYNAMIC else geometry.images, True, False, opset)
        gain = self._search.best(one).cost / (MAX_TIME_RATIO * kernel_cost(one, self._costs))
        return min(best_cost(self._costs, shape), gain * quantized_cost(self._costs, shape))

    def _transposed(self, op: OnnxOp, weight: tuple[int, ...]) -> Expected:
        """A transposed convolution, as a convolution with a block of results per pixel, and their interleaving."""
        read, written, ones = *map(self._elements, (op.operands[0], op.results[0])), (1,) * (len(weight) - 2)
        if op.int_attr("group", 1) != 1 or len(weight) > IMAGE_RANK:
            return FLOAT_ONLY
        pixels, strides = max(read // max(weight[0], 1), 1), op.ints_attr("strides") or ones
        spread = Convolution(weight[0], prod(weight[1:]), ones, ones, pixels, True)
        floating = cost(self._costs, SPREADING, spread)
        taps = tuple(max(-(-k // s), 1) for k, s in zip(weight[2:], strides, strict=True))
        conv = Convolution(weight[0], weight[1] * prod(strides), taps, ones, pixels, True)
        integer = best_cost(self._costs, conv) + written * self._costs[SPREADING]["move_byte"]
        return Expected(floating, integer)

    def _moved(self, op: OnnxOp, promise: Commutes) -> Expected:
        if not promise.results(op) or op.regions:
            return FLOAT_ONLY
        if not self._has_kernels:
            return Expected(2.0, 1.0)
        sizes = sum(self._elements(v) for v in promise.operand_values(op))
        if op.get_trait(Clamp) is not None:
            return Expected(0.0 if _follows_linear(op) else sizes * 0.1, 0.0)
        storage = self._target.activations or "u8"
        if not self._target.runs_on_storage(_name(op), storage, onnx_opset(op)):
            return FLOAT_ONLY
        if promise.keeps_order:
            return Expected(0.0, 0.0)
        call, place = self._call, self._costs["Placement"]
        if promise.selects:
            return Expected(call + sizes * self._each(_name(op)), call + sizes * place["window_byte"])
        # a table may be larger than the rows taken from it
        moved = sum(self._elements(v) for v in promise.result_values(op))
        out_of_blocks = 2 * place["reorder"] * moved if self._joins_parts_of_blocks(op, promise) else 0.0
        return Expected(call + moved * place["move_float"] + out_of_blocks, call + moved * place["move_byte"])

    def _whole_blocks(self, channels: int) -> int:
        """Channels in whole blocks, as float convolutions of images compute them."""
        block = int(self._costs[BLOCKED]["outputs_multiple"]) if BLOCKED in self._costs else 1
        return -(-channels // block) * block

    def _joins_parts_of_blocks(self, op: OnnxOp, promise: Commutes) -> bool:
        """
        True if an op joins results of float convolutions whose channels are no whole blocks, so that each leaves its
        blocks in front, and what is joined gets into blocks again behind.
        """
        parts = promise.operand_values(op)
        if (
            len(parts) < 2
            or any(rank_of(v) != IMAGE_RANK for v in parts)
            or not any(map(_is_convolved, parts))
        ):
            return False
        channels = [shape[1] for v in parts if (shape := shape_of(v.type)) is not None]
        return any(count != self._whole_blocks(count) for count in channels if count != DYNAMIC)

    def _computed(self, op: OnnxOp) -> Expected:
        """The costs of a computing op, with a kernel of its own or of another op."""
        promise, other = op.get_trait(Kernels), form_of(type(op), KernelOfAnother)
        if (promise is None and other is None) or (promise is not None and promise.sensitive):
            return FLOAT_ONLY
        if other is not None and other.guard(op) is not None:
            return FLOAT_ONLY
        names = [k.op_type for k in promise.forms if not k.float_result] if promise is not None else []
        names += [other.kernel] if other is not None and not names else []
        if not self._has_kernels:
            return Expected(NOMINAL_SAVING_NS, 1.0) if self._all or _meets_linear(op) else FLOAT_ONLY
        each, name = self._costs["Elementwise"], _name(op)
        operands = len(op.operands) + (other.constants if other is not None else 0)
        if not names or names[0] not in each or name not in each or not self._is_kernel(operands, names[0]):
            return FLOAT_ONLY
        size = max(self._elements(v) for v in (*op.operands, op.results[0]))
        further = other.also if other is not None else ()
        integer = sum(self._call + size * each[kernel] for kernel in (names[0], *further))
        return Expected(self._call + size * each[name], integer)

    def _is_kernel(self, operands: int, kernel: str) -> bool:
        """True if the target has a kernel for as many activations, or for one."""
        storage = self._target.activations or "u8"
        return any(self._target.has_kernel(kernel, [storage] * count, storage) for count in (operands, 1))


def _name(op: OnnxOp) -> str:
    return op.SCHEMA.name if op.SCHEMA is not None else ""


def _products(op: OnnxOp, elements: Elements) -> float | None:
    """Multiply-adds of an op that sums products, of two activations or not; None for others."""
    work = op.get_trait(SumsProducts)
    count = None if work is None else work.count(op)
    if count is None:
        return None
    return count * elements(op.results[0]) / max(prod(sizes(op.results[0]) or ()), 1)


def _in_one(costs: Expected, whole: OnnxOp, fused: float) -> Expected:
    return replace(costs, floating=fused, whole=whole, apart=max(costs.floating - fused, 0.0))


def _cast(value: SSAValue, count: int, each: float, costs: Mapping[str, float]) -> float:
    if rank_of(value) != IMAGE_RANK and not _is_convolved(value):
        return costs["call"] + count * each
    # Channels are last for integers; for float they are first, of images that float ops compute and read in blocks.
    read = any(not use.operation.has_trait(IsTerminator) for use in value.uses)
    in_blocks = rank_of(value) == IMAGE_RANK and read and not isinstance(value, BlockArgument)
    moved = costs["channels_last"] + (costs["reorder"] if in_blocks else 0.0)
    return 3 * costs["call"] + count * (each + moved)


def _is_convolved(value: SSAValue) -> bool:
    """True if a convolution reads the value, or computes it with elementwise ops behind."""
    if any(use.index == 0 and _convolves(use.operation) for use in value.uses):
        return True
    while isinstance(value.owner, OnnxOp) and value.owner.operands:
        if _convolves(value.owner):
            return True
        if shape_of(value.owner.operands[0].type) != shape_of(value.type):
            return False
        value = value.owner.operands[0]
    return False


def _meets_linear(op: OnnxOp) -> bool:
    """
    True if a linear op, or a cast of the model's own, makes an operand or reads a result, also through ops that move or
    select elements.
    """
    above, below = list(op.operands), [use.operation for use in op.results[0].uses]
    while above:
        owner = above.pop().owner
        if promise_of(owner, Linear) is not None or isinstance(owner, DequantizeOp):
            return True
        if (moves := promise_of(owner, Commutes)) is not None and isinstance(owner, OnnxOp):
            above += moves.operand_values(owner)
    while below:
        user = below.pop()
        if promise_of(user, Linear) is not None or isinstance(user, QuantizeOp):
            return True
        if promise_of(user, Commutes) is not None:
            below += [use.operation for use in user.results[0].uses]
    return False


def _convolves(op: Operation) -> bool:
    return promise_of(op, Linear) is not None and op.get_trait(Window) is not None


def _follows_linear(op: Operation) -> bool:
    above = op.operands[0].owner
    return promise_of(above, Linear) is not None and op.operands[0].has_one_use()
