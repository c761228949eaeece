"""Expected cost of an op on a target, in float and in integers: the costs that placement minimizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import OnnxOp, opset_of
from qdialect.dialects.onnx_types import DYNAMIC, shape_of
from qdialect.forms.recurrent import RECURRENT
from qdialect.forms.rewritten import KernelOfAnother
from qdialect.forms.table import form_of
from qdialect.ir.values import constant, rank_of, static_shape
from qdialect.patterns.convolution.search import Search, kernel_cost
from qdialect.patterns.convolution.step import Spec, priced
from qdialect.patterns.recurrent import pays
from qdialect.promises.base import Commutes
from qdialect.promises.clamping import Clamp
from qdialect.promises.kernels import Kernels
from qdialect.promises.linear import Linear
from qdialect.promises.window import Geometry, Window
from qdialect.targets import Target
from qdialect.targets.pricing import (
    PRODUCT,
    SUM,
    WORTH,
    Convolution,
    Costs,
    best_cost,
    cheapest,
    cost,
    float_cost,
    quantized_cost,
)

RUN_TIME = "DynamicQuantizeLSTM"
OPEN_BATCH = 8
"""Batch size assumed for a model with an open batch."""
NOMINAL = 10_000.0
"""Nanoseconds that an integer op is assumed to save on a target without measurements."""

Elements = Callable[[SSAValue], int]

_SEARCHES: dict[int, tuple[Costs, Search]] = {}
"""By the costs' identity: the plans of a model's convolutions, which many candidates ask for."""


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


def expected(op: OnnxOp, target: Target, elements: Elements, *, kernels: bool) -> Expected:
    """
    The costs of `op` on `target` in each form that it has there.

    kernels: True if integer ops have kernels of their own; otherwise the runtime fuses pairs, and any op
    between them is assumed to gain.
    """
    linear, commutes = op.get_trait(Linear), op.get_trait(Commutes)
    if linear is not None:
        costs = _linear(op, linear, target, elements, kernels=kernels)
    elif commutes is not None:
        costs = _moved(op, commutes, target, elements, kernels=kernels)
    else:
        costs = _computed(op, target, elements, kernels=kernels)
    return in_float(op, target, elements) if costs is FLOAT_ONLY else costs


def recurrent(op: OnnxOp, target: Target, elements: Elements) -> Expected | None:
    """The costs of a recurrent op, by its dynamically quantized kernel if that is faster; None for other ops."""
    costs = target.costs.get(RUN_TIME, {})
    if (op.domain, op.op_type) not in RECURRENT or "product" not in costs:
        return None
    weights = [shape_of(op.operands[k].type) for k in (1, 2)]
    steps = elements(op.operands[0]) / max((weights[0] or (1,))[-1], 1)
    products = steps * sum(prod(w) for w in weights if w is not None)
    fast, plain = (costs["call"] + products * costs[name] for name in ("product", "float"))
    return Expected(plain) if pays(op, target) is None else Expected(fast, dynamic=True, plain=plain)


def in_float(op: OnnxOp, target: Target, elements: Elements) -> Expected:
    """The cost of an op that stays in float in any placement, as part of the model's total."""
    if "Placement" not in target.costs or not op.results:
        return FLOAT_ONLY
    place, each = target.costs["Placement"], target.costs["Elementwise"]
    name = op.SCHEMA.name if op.SCHEMA is not None else ""
    commutes = op.get_trait(Commutes)
    if commutes is not None and not commutes.selects:
        return Expected(place["call"] + sum(map(elements, op.results)) * place["move_float"])
    size = max(elements(v) for v in (*op.operands, op.results[0]))
    if op.get_trait(Linear) is not None:
        return Expected(place["call"] + size * costs_of_linear(op, elements))
    return Expected(place["call"] + size * each.get(name, place["move_float"]))


def costs_of_linear(op: OnnxOp, elements: Elements) -> float:
    """Nanoseconds for each element of a product of two activations."""
    shape = shape_of(op.operands[1].type)
    return 0.02 * (shape[-1] if shape and shape[-1] > 0 else 16)


def _linear(op: OnnxOp, linear: Linear, target: Target, elements: Elements, *, kernels: bool) -> Expected:
    weight = static_shape(op.operands[1])
    tensor = constant(op.operands[1])
    if weight is None or tensor is None or len(weight) < 2 or linear.weight_axis(op) is None:
        return FLOAT_ONLY
    if op.int_attr("transA", 0):
        return FLOAT_ONLY
    costs = target.costs
    if not kernels or "Placement" not in costs:
        return Expected(2 * NOMINAL, 1.0, NOMINAL)
    if len(weight) > 2 and rank_of(op.operands[0]) in (None, len(weight)):
        if linear.result_axis == 1:
            return _convolution(op, weight, target, elements)
    if len(weight) != 2:
        return FLOAT_ONLY
    return _product(op, linear, weight, costs, elements)


def _product(
    op: OnnxOp, linear: Linear, weight: tuple[int, ...], costs: Costs, elements: Elements
) -> Expected:
    read, written, size = elements(op.operands[0]), elements(op.results[0]), prod(weight)
    outputs = weight[linear.weight_axis(op) or 0]
    products = written * (size // max(outputs, 1))

    def of(kernel: str) -> float:
        extra = costs[kernel]["product"] * (products - size) if products > size else 0.0
        return _product_cost(costs, kernel, read, written, size) + extra

    floating = of("Gemm")
    plain = op.float_attr("alpha", 1.0) == 1 and op.float_attr("beta", 1.0) == 1
    dynamic = of("DynamicQuantizeMatMul") if plain and not op.int_attr("transA", 0) else floating
    added = 0.0  # of a bias behind the kernel with a float result, which takes none
    if op.input(2) is not None:
        added = costs["Placement"]["call"] + costs["Elementwise"]["Add"] * written
    return Expected(
        min(floating, dynamic), of("QGemm"), of("QGemmFloat") + added, dynamic < floating, floating
    )


def _product_cost(costs: Costs, kernel: str, read: int, written: int, size: int) -> float:
    """Nanoseconds of a product of one row with a weight of `size` elements."""
    c = costs[kernel]
    return (c["product"] + c["weight"]) * size + c["read"] * read + c["written"] * written + c["call"]


def _convolution(op: OnnxOp, weight: tuple[int, ...], target: Target, elements: Elements) -> Expected:
    costs, window = target.costs, op.get_trait(Window)
    geometry = None if window is None else window.geometry(op)
    if window is None or not isinstance(geometry, Geometry):
        return FLOAT_ONLY
    if not window.gathers:
        return _transposed(op, weight, costs, elements)
    shape = priced(geometry, symmetric=True)
    written = elements(op.results[0])
    channels = max(shape.outputs * shape.groups, 1)
    shape = shape._replace(images=1, pixels=max(written // channels, 1))
    call = costs["Placement"]["call"]
    integer = _in_best_form(costs, shape, geometry, opset_of(op, "") or 13)
    if shape.groups > 1:
        floating = float_cost(costs, shape)
        if shape.is_depthwise and len(shape.kernel) == 2:
            floating = costs["Placement"]["depthwise"] * written * prod(shape.kernel)
        return Expected(call + floating, call + integer)
    floating = float_cost(costs, shape)
    size = static_shape(op.results[0])
    if (
        prod(shape.kernel) == 1
        and size is not None
        and prod(size[2:]) == 1
        and not any(op.ints_attr("pads") or ())
    ):
        one = (
            _product_cost(costs, "DynamicQuantizeMatMul", shape.inputs, written, shape.inputs * written)
            + call
        )
        result = cheapest(costs, (SUM, PRODUCT), shape)[1]
        plain = _product_cost(costs, "Gemm", shape.inputs, written, shape.inputs * written)
        floating = max(floating, plain)
        return Expected(min(floating, one), integer, result, one < floating, floating)
    if len(shape.kernel) > 2:
        return Expected(floating, integer)
    result = cheapest(costs, (SUM, PRODUCT), shape)[1]
    return Expected(floating, integer, result)


def _in_best_form(costs: Costs, shape: Convolution, geometry: Geometry, opset: int) -> float:
    """
    Nanoseconds of a convolution from integers to integers, in the form that `choose-convolution-form` gives it. What
    that saves is counted with the doubt of the fitted costs, as there.
    """
    _, search = _SEARCHES.setdefault(id(costs), (costs, Search(costs)))
    one = Spec(geometry, 1 if geometry.images == DYNAMIC else geometry.images, True, False, opset)
    gain = search.best(one).cost / (WORTH * kernel_cost(one, costs))
    return min(best_cost(costs, shape), gain * quantized_cost(costs, shape))


def _transposed(op: OnnxOp, weight: tuple[int, ...], costs: Costs, elements: Elements) -> Expected:
    """A transposed convolution, as a convolution with a block of results per pixel, and their interleaving."""
    read, written = elements(op.operands[0]), elements(op.results[0])
    if op.int_attr("group", 1) != 1 or len(weight) != 4:
        return FLOAT_ONLY
    terms = costs["ConvTranspose"]
    pixels = max(read // max(weight[0], 1), 1)
    spread = Convolution(weight[0], prod(weight[1:]), (1, 1), (1, 1), pixels, True)
    floating = cost(costs, "ConvTranspose", spread)
    times = prod(op.ints_attr("strides") or (1, 1))
    taps = tuple(
        max(-(-k // s), 1) for k, s in zip(weight[2:], op.ints_attr("strides") or (1, 1), strict=True)
    )
    conv = Convolution(weight[0], weight[1] * times, taps, (1, 1), pixels, True)
    return Expected(floating, best_cost(costs, conv) + written * terms["move_byte"])


def _moved(op: OnnxOp, promise: Commutes, target: Target, elements: Elements, *, kernels: bool) -> Expected:
    if not promise.results(op) or op.regions:
        return FLOAT_ONLY
    sizes = sum(elements(v) for v in promise.operand_values(op))
    clamp = op.get_trait(Clamp) is not None
    costs = target.costs
    if not kernels or "Placement" not in costs:
        return Expected(2.0, 1.0)
    if clamp:
        return Expected(0.0 if _follows_linear(op) else sizes * 0.1, 0.0)
    opset = opset_of(op, "") or 13
    name = op.SCHEMA.name if op.SCHEMA is not None else ""
    if not target.runs_on_storage(name, target.activations or "u8", opset):
        return FLOAT_ONLY
    place, each = costs["Placement"], costs["Elementwise"]
    if promise.keeps_order:
        return Expected(0.0, 0.0)
    if promise.selects:
        return Expected(
            place["call"] + sizes * each.get(name, place["move_float"]),
            place["call"] + sizes * place["window_byte"],
        )
    moved = sum(
        elements(v) for v in promise.result_values(op)
    )  # a table may be larger than the rows taken from it
    return Expected(place["call"] + moved * place["move_float"], place["call"] + moved * place["move_byte"])


def _follows_linear(op: Operation) -> bool:
    above = op.operands[0].owner
    return isinstance(above, OnnxOp) and above.get_trait(Linear) is not None and op.operands[0].has_one_use()


def _computed(op: OnnxOp, target: Target, elements: Elements, *, kernels: bool) -> Expected:
    """The costs of a computing op, with a kernel of its own or of another op."""
    promise, other = op.get_trait(Kernels), form_of(type(op), KernelOfAnother)
    if promise is None and other is None:
        return FLOAT_ONLY
    if promise is not None and promise.sensitive:
        return FLOAT_ONLY
    names = [k.op_type for k in promise.forms if not k.float_result] if promise is not None else []
    names += [other.kernel] if other is not None and not names else []
    if not kernels or "Placement" not in target.costs:
        return Expected(NOMINAL, 1.0)
    place, each = target.costs["Placement"], target.costs["Elementwise"]
    name = op.SCHEMA.name if op.SCHEMA is not None else ""
    operands = len(op.operands) + (other.constants if other is not None else 0)
    if not names or names[0] not in each or name not in each or not _has_kernel(operands, names[0], target):
        return FLOAT_ONLY
    size = max(elements(v) for v in (*op.operands, op.results[0]))
    return Expected(place["call"] + size * each[name], place["call"] + size * each[names[0]])


def _has_kernel(operands: int, kernel: str, target: Target) -> bool:
    storage = target.activations or "u8"
    return target.has_kernel(kernel, [storage] * operands, storage) or target.has_kernel(
        kernel, [storage], storage
    )
