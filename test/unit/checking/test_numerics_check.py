"""`--check-numerics`: a pass that keeps its word is silent, one that does not is named, with pattern and node."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import ml_dtypes
import numpy as np
import pytest
from guard_cases import full_context
from onnx import ModelProto, helper
from onnx.parser import parse_model
from onnx_models import onnx_model
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation
from xdsl.parser import Parser

from qdialect.checking.judging import beyond
from qdialect.checking.numerics_check import BeyondClass, NumericsCheck, check_passes
from qdialect.compiler.options import Options
from qdialect.compiler.pipeline import pipeline
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import tensor_type
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, Storage, UniformType
from qdialect.evaluation.feeds import random_feeds
from qdialect.evaluation.observing import Seen, computed, in_steps
from qdialect.evaluation.oracle_form import oracle_form
from qdialect.exactness import Exactness
from qdialect.ir.names import location
from qdialect.onnx_io.importer import import_model
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.manager import PassManager, Timing
from qdialect.rewriting.passes import RewritePass
from qdialect.transforms.raise_opset import RaiseOpsetPass
from qdialect.transforms.raise_qdq import RaiseQdqPass


def make_model() -> ModelProto:
    """x -> Q (u8, 0.03, 120) -> DQ -> LeakyRelu -> Q (u8, 0.021, 40) -> DQ -> y."""
    constants = {
        "s": np.float32(0.03), "z": np.uint8(120), "t": np.float32(0.021), "o": np.uint8(40),
    }  # fmt: skip
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["xq"], "in_q"),
        helper.make_node("DequantizeLinear", ["xq", "s", "z"], ["xd"], "in_dq"),
        helper.make_node("LeakyRelu", ["xd"], ["r"], "leaky", alpha=0.3),
        helper.make_node("QuantizeLinear", ["r", "t", "o"], ["rq"], "out_q"),
        helper.make_node("DequantizeLinear", ["rq", "t", "o"], ["y"], "out_dq"),
    ]
    return onnx_model(nodes, {"x": ["n", 3, 50]}, {"y": ["n", 3, 50]}, constants)


class DropLeaky(Pattern):
    """LeakyRelu goes, as if its slope were 1."""

    def accepts(self, op_class: type[Operation]) -> bool:
        return op_class.name == "onnx.LeakyRelu"

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        rewriter.replace(op, [], [op.operands[0]])
        return None


class ShiftZeroPoint(Pattern):
    """The last quantize is off by some steps, whatever the scale."""

    steps = 1
    label = ""
    """The name of what stands in for the quantized value."""

    def accepts(self, op_class: type[Operation]) -> bool:
        return op_class is QuantizeOp

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        assert isinstance(op, QuantizeOp)
        type = op.element_type
        if not isinstance(op.operands[0].owner, OnnxOp) or type.zero_point != 40:
            return None
        moved = type.replace(zero_points=type.zero_points + self.steps)
        # Reading it back as what it was moves every real number.
        cast = QuantizeOp(op.operands[0], moved)
        from qdialect.dialects.onnx_types import storage_element, with_element
        from qdialect.dialects.quant import StorageCastOp

        stored = StorageCastOp(cast.results[0], with_element(op.results[0].type, storage_element(moved)))
        read = StorageCastOp(stored.results[0], op.results[0].type)
        stored.location = read.location = location("", [self.label])
        rewriter.replace(op, [cast, stored, read])
        return None


class ShiftTwice(ShiftZeroPoint):
    steps = 2


class ShiftNamed(ShiftZeroPoint):
    label = "new"


@dataclass(frozen=True)
class WrongPass(RewritePass):
    """Claims to be exact."""

    name = "wrong"
    exactness: ClassVar[Exactness] = Exactness.EXACT
    rewrite: ClassVar[str] = ""
    pattern: ClassVar[Pattern] = DropLeaky()

    def patterns(self) -> Sequence[Pattern]:
        return [self.pattern]


@dataclass(frozen=True)
class OneStepOffPass(WrongPass):
    """Claims to be close, and is."""

    exactness: ClassVar[Exactness] = Exactness.CLOSE
    pattern: ClassVar[Pattern] = ShiftZeroPoint()


@dataclass(frozen=True)
class OneStepOffNamedPass(OneStepOffPass):
    """Gives a name besides."""

    pattern: ClassVar[Pattern] = ShiftNamed()


@dataclass(frozen=True)
class TwoStepsOffPass(OneStepOffPass):
    """Claims to be close, and is not."""

    pattern: ClassVar[Pattern] = ShiftTwice()


@dataclass(frozen=True)
class ExactlyOneStepOffPass(OneStepOffPass):
    """Claims to be exact, and is only close."""

    exactness: ClassVar[Exactness] = Exactness.EXACT


@pytest.fixture
def module() -> ModuleOp:
    return import_model(make_model())


@pytest.mark.parametrize("target", ["onnxruntime", "openvino", "tensorrt", "generic"])
def test_pipelines_keep_their_word(module: ModuleOp, target: str):
    feeds = [random_feeds(module, seed=1), random_feeds(module, seed=2)]
    assert check_passes(module, pipeline(Options(target)), feeds) is None


def test_a_wrong_pass_is_named(module: ModuleOp):
    finding = check_passes(module, [RaiseQdqPass(), WrongPass()], [random_feeds(module)])
    assert finding is not None
    assert (finding.pass_name, finding.pattern) == ("wrong", "DropLeaky")
    assert finding.difference.tensor == "rq"
    assert "exact" in str(finding)
    assert "\n" not in str(finding)


def test_nothing_runs_after_the_wrong_pass(module: ModuleOp):
    timing, check = Timing(), NumericsCheck(module, [random_feeds(module)])
    with pytest.raises(BeyondClass, match="pass 'wrong'"):
        PassManager(timing, check).run([RaiseQdqPass(), WrongPass(), RaiseQdqPass()], module)
    assert [name for name, _ in timing.seconds] == ["raise-qdq", "wrong"]


class OtherOutput(Pattern):
    """The graph gives a value that was there before: no op changes but the return."""

    def accepts(self, op_class: type[Operation]) -> bool:
        return op_class is ReturnOp

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        last = op.operands[0].owner
        if isinstance(last, DequantizeOp) and not isinstance(last.next_op, DequantizeOp):
            first = next(o for o in op.parent_block().ops if isinstance(o, DequantizeOp))  # pyright: ignore
            if first is not last:
                rewriter.set_operand(op, 0, first.results[0])
        return None


@dataclass(frozen=True)
class OtherOutputPass(WrongPass):
    """Claims to be exact."""

    pattern: ClassVar[Pattern] = OtherOutput()


def test_another_output_is_found(module: ModuleOp):
    finding = check_passes(module, [RaiseQdqPass(), OtherOutputPass()], [random_feeds(module)])
    assert finding is not None
    assert (finding.pass_name, finding.difference.tensor) == ("wrong", "xd")  # what the output is now


@dataclass(frozen=True)
class LateWrongPass(WrongPass):
    """As exact as it says, until it meets what another pass made."""

    name = "late"


def test_another_opset_is_judged_where_it_is_raised():
    """onnxruntime's AveragePool of opset 19 adds in another order: raise-qdq, which ran later, was said to be wrong."""
    casts = "<float s = {0.03}, uint8 z = {120}>"
    model = parse_model(f"""<ir_version: 8, opset_import: ["" : 13]>
        g (float[1,2,4,9] x) => (float[1,2,3,4] y) {casts} {{
            q = QuantizeLinear(x, s, z)
            d = DequantizeLinear(q, s, z)
            y = AveragePool<kernel_shape = [2, 3], strides = [1, 2]>(d)
        }}""")
    module = import_model(model)
    feeds = [{"x": np.random.default_rng(7).normal(size=(1, 2, 4, 9)).astype(np.float32)}]
    check = NumericsCheck(module, feeds)
    PassManager(check).run([RaiseOpsetPass(to=21)], module)
    assert "1 passes changed the graph" in check.summary()
    PassManager(check).run([RaiseQdqPass()], module)
    assert (RaiseOpsetPass().level, RaiseOpsetPass(to=21).level) == (Exactness.EXACT, Exactness.CLOSE)


@pytest.mark.parametrize("target", ["generic", "onnxruntime"])
def test_integers_of_4_bits_cross_a_branch(target: str):
    """No If has a kernel for them: in the oracle form they cross it as real numbers, which stand for the same ones."""
    model = parse_model("""<ir_version: 10, opset_import: ["" : 21]>
        g (float[2,3] x, bool c) => (float[2,3] y) <float s = {0.25}, int4 z = {3}> {
            b = If(c) <
                then_branch = yes () => (float[2,3] o) { o = Relu(x) },
                else_branch = no () => (float[2,3] p) { p = Identity(x) }
            >
            q = QuantizeLinear(b, s, z)
            y = DequantizeLinear(q, s, z)
        }""")
    x = np.random.default_rng(3).normal(size=(2, 3)).astype(np.float32)
    for condition in (True, False):
        module = import_model(model)
        assert check_passes(module, pipeline(Options(target)), [{"x": x, "c": np.array(condition)}]) is None


def test_what_a_pass_left_alone_is_judged_later(module: ModuleOp):
    passes = [RaiseQdqPass(), OneStepOffPass(), LateWrongPass()]
    finding = check_passes(module, passes, [random_feeds(module)])
    assert finding is not None
    assert finding.pass_name == "late"


@pytest.mark.parametrize(
    ("one", "is_found"),
    [(OneStepOffPass(), False), (ExactlyOneStepOffPass(), True), (TwoStepsOffPass(), True)],
)
def test_close_is_one_step(module: ModuleOp, one: RewritePass, is_found: bool):
    finding = check_passes(module, [RaiseQdqPass(), one], [random_feeds(module)])
    assert (finding is not None) == is_found


UNNAMED = """
func.func @main(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %l = onnx.LeakyRelu(%x) {alpha = 3.0e-01 : f32} : (tensor<2x5xf32>) -> tensor<2x5xf32>
  %q = quant.qcast %l : tensor<2x5xf32> to tensor<2x5x!quant.uniform<u8:f32, 0.021:40>>
  %m = onnx.Mul(%q, %q) : (tensor<2x5x!quant.uniform<u8:f32, 0.021:40>>,
    tensor<2x5x!quant.uniform<u8:f32, 0.021:40>>) -> tensor<2x5x!quant.uniform<u8:f32, 0.003:7>>
  %y = quant.dcast %m : tensor<2x5x!quant.uniform<u8:f32, 0.003:7>> to tensor<2x5xf32>
  func.return %y : tensor<2x5xf32>
}
"""
"""A step of %q is more than one of %m, and no value of the graph has a name."""


@pytest.mark.parametrize(
    ("one", "found_at"),
    [(OneStepOffPass(), None), (OneStepOffNamedPass(), None), (TwoStepsOffPass(), "quant.scast")],
)
def test_what_stands_in_for_a_value_without_a_name_is_judged_there(one: RewritePass, found_at: str | None):
    context = full_context()
    module = Parser(context, UNNAMED).parse_module()
    finding = check_passes(
        module, [one], [{"input_0": np.linspace(-0.5, 2, 10, dtype=np.float32).reshape(2, 5)}]
    )
    assert (finding and finding.difference.op) == found_at


def test_the_oracle_form_shows_every_value(module: ModuleOp):
    RaiseQdqPass().apply(Context(), module)
    form = oracle_form(module)
    # Each cast and the LeakyRelu; the casts to storage and back are values too.
    assert [v.owner.name for v in form.outputs if isinstance(v.owner, Operation)].count("onnx.LeakyRelu") == 1
    assert not any(op.name.startswith("quant.") for op in form.module.walk())
    assert form.cuts == []


HALVES = """
func.func @main(%x: tensor<2x40xf16>) -> tensor<2x40xf16> {
  %w = onnx.Constant() {value = #onnx.tensor<WEIGHT : tensor<40x40xf16>>} : () -> tensor<40x40xf16>
  %q = quant.qcast %x : tensor<2x40xf16> to tensor<2x40x!quant.uniform<u16:f16, 0.00013:30000>>
  %r = quant.dcast %q : tensor<2x40x!quant.uniform<u16:f16, 0.00013:30000>> to tensor<2x40xf16>
  %a = onnx.MatMul(%r, %w) : (tensor<2x40xf16>, tensor<40x40xf16>) -> tensor<2x40xf16>
  %m = onnx.Neg(%a) : (tensor<2x40xf16>) -> tensor<2x40xf16>
  %t = onnx.Transpose(%m) {perm = array<i64: 0, 1>} : (tensor<2x40xf16>) -> tensor<2x40xf16>
  %b = onnx.MatMul(%t, %w) : (tensor<2x40xf16>, tensor<40x40xf16>) -> tensor<2x40xf16>
  func.return %b : tensor<2x40xf16>
}
"""
"""Ops in half precision between which onnxruntime, as it runs the model, rounds in some places alone."""


def test_the_oracle_form_rounds_half_precision_behind_each_op():
    draw = np.random.default_rng(9)
    weight = draw.normal(size=1600).astype(np.float16)
    context = full_context()
    module = Parser(context, HALVES.replace("WEIGHT", f"[{', '.join(map(str, weight))}]")).parse_module()
    feeds = {"input_0": draw.normal(size=(2, 40)).astype(np.float16)}
    values = computed(module, feeds, {})
    again = [op for value in values if isinstance(op := value.owner, OnnxOp)]
    assert len(again) == 4
    for op in again:  # by itself, on what the oracle gave it
        alone = computed(module, feeds, {v: values[v] for v in op.operands if v in values}, [op])
        np.testing.assert_array_equal(alone[op.results[0]], values[op.results[0]])


def test_an_integer_of_rank_0_is_fed_as_an_array():
    then, now = (UniformType.per_tensor(Storage.of("u8"), 0.5, zero) for zero in (3, 7))
    moved = in_steps(Seen(np.array(5, np.uint8), then, computed=True), tensor_type(now, ()))
    assert isinstance(moved, np.ndarray)
    assert moved == 9


@pytest.mark.parametrize(
    ("got", "exactness", "is_beyond"),
    [
        ([7, 8], Exactness.EXACT, False),
        ([7, 9], Exactness.EXACT, True),
        ([6, 9], Exactness.CLOSE, False),
        ([7, 10], Exactness.CLOSE, True),
        ([90, 90], Exactness.LOSSY, False),
    ],
)
def test_integers_are_counted_in_steps(got: list[int], exactness: Exactness, is_beyond: bool):
    assert (beyond(np.array([7, 8], np.uint8), np.array(got, np.uint8), exactness) is not None) == is_beyond


@pytest.mark.parametrize(
    ("got", "is_beyond"),
    [([200.0, 1.019], False), ([200.0, 1.021], True), ([np.nan, 1.0], True), ([200.0], True)],
)
def test_floats_are_judged_by_the_largest(got: list[float], is_beyond: bool):
    wanted = np.array([200.0, 1.0], np.float32)
    assert (beyond(wanted, np.array(got, np.float32), Exactness.CLOSE) is not None) == is_beyond


@pytest.mark.parametrize(("kind", "bits"), [(np.float16, 10), (ml_dtypes.bfloat16, 7)])
@pytest.mark.parametrize(("exactness", "steps"), [(Exactness.EXACT, 0), (Exactness.CLOSE, 1)])
def test_half_precision_is_close_up_to_a_step(kind: type, bits: int, exactness: Exactness, steps: int):
    wanted = np.array([1.0, 0.75], kind)
    for count in range(3):
        got = np.array([1.0 + count * 2.0**-bits, 0.75], kind)
        assert (beyond(wanted, got, exactness) is None) == (count <= steps)


def test_random_feeds_cover_the_quantized_range(module: ModuleOp):
    feeds = random_feeds(module, seed=3, size=4)
    assert feeds["x"].shape == (1, 3, 50)
    assert feeds["x"].min() < -3.3 < 3.9 < feeds["x"].max()  # (0 - 120) * 0.03 to (255 - 120) * 0.03
    assert np.array_equal(feeds["x"], random_feeds(module, seed=3)["x"])
