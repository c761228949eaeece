"""`qdialect compare`: who moved the numbers, where it began, and data that does not fit."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_models import onnx_model

import qdialect
from qdialect.cli import main
from qdialect.measuring.layers import compare_layers
from qdialect.measuring.outputs import (
    AS_IT_RUNS,
    OPTIMIZATION_OFF,
    REFERENCE_AS_IT_RUNS,
    Comparison,
    Difference,
    compare,
)
from qdialect.measuring.weights import compare_weights

X_SCALE, X_ZERO, Y_SCALE = 0.02, 117, 0.05


def model_of(
    nodes: list[onnx.NodeProto],
    constants: dict[str, Any],
    shape: tuple[int, ...],
    kind: int = TensorProto.FLOAT,
) -> onnx.ModelProto:
    """A model from x to y."""
    return onnx_model(nodes, {"x": (kind, shape)}, {"y": None}, constants)


def scale_model(factor: float, shape: tuple[int, ...] = (2, 3)) -> onnx.ModelProto:
    """y = x * factor."""
    return model_of([helper.make_node("Mul", ["x", "f"], ["y"])], {"f": np.float32(factor)}, shape)


def pair(source: str, result: str, scale: str = "xs", zero: str = "xz") -> list[onnx.NodeProto]:
    """A quantize and a dequantize."""
    return [
        helper.make_node("QuantizeLinear", [source, scale, zero], [f"{source}_q"]),
        helper.make_node("DequantizeLinear", [f"{source}_q", scale, zero], [result]),
    ]


def linear_model(*, quantized: bool) -> onnx.ModelProto:
    """x (5, 6) -> MatMul by 8-bit weights (6, 4) -> y, between casts or in float."""
    rng = np.random.default_rng(5)
    weight = rng.integers(-128, 128, (6, 4)).astype(np.int8)
    constants: dict[str, Any] = {
        "xs": np.float32(X_SCALE), "xz": np.uint8(X_ZERO), "ys": np.float32(Y_SCALE), "yz": np.uint8(121),
        "w": weight, "ws": np.float32(0.01), "wz": np.int8(0),
    }  # fmt: skip
    if not quantized:
        return model_of(
            [helper.make_node("MatMul", ["x", "v"], ["y"])], {"v": weight * np.float32(0.01)}, (5, 6)
        )
    nodes = [
        *pair("x", "r"),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["v"]),
        helper.make_node("MatMul", ["r", "v"], ["p"]),
        *pair("p", "y", "ys", "yz"),
    ]
    return model_of(nodes, constants, (5, 6))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with models and data of several kinds."""
    monkeypatch.chdir(tmp_path)
    onnx.save(scale_model(1.5), "a.onnx")
    onnx.save(scale_model(1.25), "b.onnx")
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.savez("x.npz", x=x)
    np.save("x.npy", x)
    np.savez("none.npz", x=x[:0])
    np.savez("nan.npz", x=np.where(x > 3, np.nan, x))
    np.savez("infinite.npz", x=np.where(x > 3, np.inf, x))
    np.savez("bytes.npz", x=x.astype(np.uint8))
    np.savez("double.npz", x=x.astype(np.float64))
    np.savez("short.npz", x=x[:1])
    (tmp_path / "nothing").mkdir()
    return tmp_path


def command(*words: str) -> int:
    return main(["compare", *words])


def test_three_rows_over_batches(folder: Path, capfd: pytest.CaptureFixture[str]):
    assert command("a.onnx", "b.onnx", "--data", "x.npz", "--json") == 0
    measured = json.loads(capfd.readouterr().out)
    # x is 0..11 in two batches of 2x3; outputs are 1.5 x and 1.25 x, so the noise is a sixth of the signal.
    assert measured["batches"] == 2
    [output] = measured["outputs"]
    assert output["shape"] == [2, 3]
    for row in (output, output[OPTIMIZATION_OFF]):
        assert row["max_abs_diff"] == 0.25 * 11
        assert row["sqnr_db"] == pytest.approx(20 * np.log10(6), abs=1e-4)
        assert row["argmax_agreement"] == 1.0
        assert not row["identical"]
    assert output[REFERENCE_AS_IT_RUNS]["identical"]
    assert measured["verdict"].startswith("noisy: 15.6 dB on 'y' as it runs")


def test_a_model_with_itself(folder: Path, capfd: pytest.CaptureFixture[str]):
    assert command("a.onnx", "a.onnx", "--data", "x.npz") == 0
    header, first, second, third, count, data, verdict = capfd.readouterr().out.splitlines()
    assert header.split()[:2] == ["output", "shape"]
    assert first.split() == ["y", "2x3", *"B, optimization off 0 identical 100.00 %".split()]
    assert second.split() == "A as it runs 0 identical 100.00 %".split()
    assert third.split() == "B as it runs 0 identical 100.00 %".split()
    assert count == "2 batches"
    assert data == "data: 2 samples of 1 file; 'x' in 0 to 11, mean 5.5, deviation 3.45"
    assert verdict.startswith("verdict: identical")


def test_a_single_array_is_the_only_input(folder: Path, capfd: pytest.CaptureFixture[str]):
    assert command("a.onnx", "b.onnx", "--data", "x.npy") == 0
    assert "2 batches" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("none.npz", "has shape 0x3, the model takes 2x3; give at least 2 along the first axis"),
        ("short.npz", "has shape 1x3, the model takes 2x3; give at least 2 along the first axis"),
        ("nan.npz", "input 'x' holds NaN or infinity in sample 0"),
        ("infinite.npz", "input 'x' holds NaN or infinity in sample 0"),
        ("bytes.npz", "is uint8, the model takes float32; convert the data: array.astype('float32')"),
        ("double.npz", "is float64, the model takes float32; convert the data: array.astype('float32')"),
        ("nothing", "there is no data in folder 'nothing'"),
        ("a.onnx", "'a.onnx' is not a supported kind of data"),
        ("no.npz", "no such file or folder"),
        ("no_such_module:samples", "cannot import data"),
    ],
)
def test_data_that_does_not_fit_is_refused(
    data: str, says: str, folder: Path, capfd: pytest.CaptureFixture[str]
):
    assert command("a.onnx", "b.onnx", "--data", data) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert says in err


def test_no_samples_of_any_batch(folder: Path, capfd: pytest.CaptureFixture[str]):
    free = scale_model(1.5)
    free.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    onnx.save(free, "free.onnx")
    assert command("free.onnx", "free.onnx", "--data", "none.npz") == 1
    assert "the data is empty" in capfd.readouterr().err


def test_a_denoiser_has_no_decisions(folder: Path):
    onnx.save(scale_model(1.5, (1, 3, 4)), "image.onnx")
    np.savez("image.npz", x=np.ones((1, 3, 4), np.float32))
    [one] = compare("image.onnx", "image.onnx", "image.npz").differences[AS_IT_RUNS]
    assert one.agreement is None


def test_equal_infinities_do_not_differ():
    one = Difference("y")
    one.add(np.array([np.inf, np.nan, 1.0]), np.array([np.inf, np.nan, 1.0]))
    assert (one.largest, one.sqnr) == (0, math.inf)


@pytest.mark.parametrize("odd", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("where", ["first", "second"])
def test_a_number_that_is_not_finite_in_one_model_alone_is_no_agreement(where: str, odd: float):
    plain, other = np.array([3.0, 1.0]), np.array([odd, 1.0])
    one = Difference("y")
    one.add(*((other, plain) if where == "first" else (plain, other)))
    assert (one.largest, one.sqnr) == (math.inf, -math.inf)
    assert Comparison(1, {OPTIMIZATION_OFF: [one], AS_IT_RUNS: [one]}).verdict().startswith("far: -inf dB")


@pytest.mark.parametrize("odd", [np.inf, -np.inf, np.nan])
def test_other_numbers_beside_an_infinity_of_both_models_count(odd: float):
    """An infinite signal would be identical to all that is not as large."""
    one = Difference("y")
    one.add(np.array([odd, 1.0]), np.array([odd, 1.1]))
    assert one.sqnr == pytest.approx(20)
    assert one.largest == pytest.approx(0.1)


def differing(noise: float) -> Difference:
    return Difference("y", (2, 3), noise, 100.0, noise)


@pytest.mark.parametrize(
    ("changed", "runs", "word"),
    [
        (0, 0, "identical"),
        (0, 0.01, "exact: B computes the numbers of A with optimization off; the 40.0 dB of B as it runs"),
        (0.01, 0.01, "close"),
        (0.01, 0.5, "noisy"),
        (90, 90, "far"),
    ],
)
def test_the_verdict_tells_apart_who_moved_the_numbers(changed: float, runs: float, word: str):
    measured = Comparison(1, {OPTIMIZATION_OFF: [differing(changed)], AS_IT_RUNS: [differing(runs)]})
    assert measured.verdict().startswith(word)


@pytest.mark.parametrize("other", ["float.onnx", "qdq.onnx"])
def test_an_integer_interface_is_compared_in_real_numbers(other: str, folder: Path):
    onnx.save(linear_model(quantized=True), "qdq.onnx")
    onnx.save(linear_model(quantized=False), "float.onnx")
    np.savez("inside.npz", x=np.random.default_rng(3).uniform(-2.2, 2.6, (10, 6)).astype(np.float32))
    module = qdialect.load("qdq.onnx")
    qdialect.compile(module, integer_io=True)
    qdialect.save(module, "bytes.onnx")
    kinds = {v.type.tensor_type.elem_type for v in onnx.load("bytes.onnx").graph.input}
    assert kinds == {TensorProto.UINT8}
    for pair_ in ((other, "bytes.onnx"), ("bytes.onnx", other)):
        [one] = compare(*pair_, "inside.npz").differences[AS_IT_RUNS]
        assert one.largest < 3 * Y_SCALE
        assert one.sqnr > 25
    with np.load("inside.npz") as archive:
        stored = np.clip(np.rint(archive["x"] / np.float32(X_SCALE)) + X_ZERO, 0, 255).astype(np.uint8)
    np.savez("stored.npz", x=stored)  # what the model takes is taken too
    [one] = compare("bytes.onnx", other, "stored.npz").differences[AS_IT_RUNS]
    assert one.sqnr > 25


def test_integers_that_stand_for_nothing_are_refused(folder: Path, capfd: pytest.CaptureFixture[str]):
    nodes = [helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT)]
    onnx.save(model_of(nodes, {}, (2, 3), TensorProto.UINT8), "cast.onnx")
    assert command("a.onnx", "cast.onnx", "--data", "x.npz") == 1
    assert (
        "input 'x' is float32 in one model and uint8 in the other, whose metadata" in capfd.readouterr().err
    )


def test_layers_in_steps_of_the_scale(folder: Path, capfd: pytest.CaptureFixture[str]):
    onnx.save(linear_model(quantized=True), "qdq.onnx")
    module = qdialect.load("qdq.onnx")
    qdialect.compile(module)
    qdialect.save(module, "int.onnx")
    np.savez("inside.npz", x=np.random.default_rng(3).uniform(-2.2, 2.6, (10, 6)).astype(np.float32))
    measured = {one.name: one for one in compare_layers("qdq.onnx", "int.onnx", "inside.npz").tensors}
    assert {"x_q", "p_q", "y"} <= measured.keys()
    assert measured["x_q"].steps == 0
    assert measured["p_q"].scale_text() == str(Y_SCALE)
    assert command("qdq.onnx", "int.onnx", "--data", "inside.npz", "--layers") == 0
    *_, layers, verdict = capfd.readouterr().out.splitlines()
    assert layers.startswith("layers: ")
    assert verdict.startswith("verdict: ")


def test_the_layer_that_makes_the_noise_is_named(folder: Path):
    """Of four steps the third is another: the second and what is above it agree, the fourth carries it on."""

    def chain(third: float) -> onnx.ModelProto:
        names = ["x", "first", "second", "third", "y"]
        nodes = [
            helper.make_node("Add", [names[0], "f"], [names[1]]),
            helper.make_node("Mul", [names[1], "f"], [names[2]]),
            helper.make_node("Mul", [names[2], "g"], [names[3]]),
            helper.make_node("Add", [names[3], "f"], [names[4]]),
        ]
        return model_of(nodes, {"f": np.float32(1.25), "g": np.float32(third)}, (2, 3))

    onnx.save(chain(1.0), "good.onnx")
    onnx.save(chain(1.5), "bad.onnx")
    layers = compare_layers("good.onnx", "bad.onnx", "x.npz")
    assert [one.name for one in layers.tensors] == ["first", "second", "third", "y"]
    first, loudest = layers.first(), layers.loudest()
    assert first is not None
    assert loudest is not None
    assert (first.name, loudest[0].name, loudest[1]) == ("third", "third", math.inf)
    assert (
        "most noise is added at 'third' (Mul): no noise in its operands, 6.0 dB in its result"
        in layers.verdict()
    )
    same = compare_layers("good.onnx", "good.onnx", "x.npz")
    assert same.verdict() == "none of the 4 tensors that both models have differs"


def test_models_without_a_name_in_common(folder: Path):
    renamed = scale_model(1.5)
    renamed.graph.node[0].output[0] = renamed.graph.output[0].name = "z"
    onnx.save(renamed, "renamed.onnx")
    assert (
        compare_layers("a.onnx", "renamed.onnx", "x.npz").verdict().startswith("no tensor has the same name")
    )


def convolution(weight: npt.NDArray[np.float32], *, normalized: bool) -> onnx.ModelProto:
    """Conv, and a BatchNormalization behind it."""
    factors = np.array([0.5, 3.0, -1.25], np.float32)
    constants = {"w": weight, "scale": factors, "b": np.zeros(3, np.float32), "mean": np.zeros(3, np.float32)}
    nodes = [helper.make_node("Conv", ["x", "w"], ["c" if normalized else "y"], name="conv")]
    if normalized:
        nodes.append(
            helper.make_node("BatchNormalization", ["c", "scale", "b", "mean", "var"], ["y"], epsilon=0.0)
        )
        constants["var"] = np.ones(3, np.float32)
    else:
        constants = {"w": (weight * factors.reshape(3, 1, 1, 1)).astype(np.float32)}
    return model_of(nodes, constants, (1, 2, 5, 6))


def test_weights_are_compared_as_real_numbers(folder: Path, capfd: pytest.CaptureFixture[str]):
    onnx.save(linear_model(quantized=True), "qdq.onnx")
    coarse = linear_model(quantized=False)
    rounded = np.round(numpy_helper.to_array(coarse.graph.initializer[0]) / 0.03) * 0.03
    coarse.graph.initializer[0].CopyFrom(numpy_helper.from_array(rounded.astype(np.float32), "v"))
    onnx.save(coarse, "coarse.onnx")
    for model in ("qdq.onnx", "coarse.onnx"):
        named = onnx.load(model)
        next(node for node in named.graph.node if node.op_type == "MatMul").name = "product"
        onnx.save(named, model)
    np.savez("inside.npz", x=np.random.default_rng(3).uniform(-2.2, 2.6, (5, 6)).astype(np.float32))
    assert command("qdq.onnx", "qdq.onnx", "--data", "inside.npz", "--weights", "--json") == 0
    same = json.loads(capfd.readouterr().out)
    assert [one["identical"] for one in same["weights"]] == [True]
    assert command("qdq.onnx", "coarse.onnx", "--data", "inside.npz", "--weights", "--json") == 0
    [one] = json.loads(capfd.readouterr().out)["weights"]
    assert (one["layer"], one["op"], one["scaled_by_channel"]) == ("product", "MatMul", False)
    # Integers n are rounded to multiples of 3: off by 0 or 1.
    assert one["max_steps"] == pytest.approx(1, abs=1e-4)
    assert command("qdq.onnx", "coarse.onnx", "--data", "inside.npz", "--weights") == 0
    assert "weights: 1 compared, 1 of them differ; the noisiest is" in capfd.readouterr().out


def test_factors_by_channel_are_no_noise_of_a_weight(folder: Path):
    weight = np.random.default_rng(7).normal(size=(3, 2, 3, 3)).astype(np.float32)
    onnx.save(convolution(weight, normalized=True), "normalized.onnx")
    onnx.save(convolution(weight, normalized=False), "folded.onnx")
    [one] = compare_weights("normalized.onnx", "folded.onnx").weights
    assert one.is_scaled
    assert one.noise.sqnr > 120
    onnx.save(convolution(weight[:, :, ::-1].copy(), normalized=False), "turned.onnx")
    [other] = compare_weights("normalized.onnx", "turned.onnx").weights
    assert not other.is_scaled
    assert other.noise.sqnr < 3


def test_weights_without_a_partner_are_counted(folder: Path):
    weight = np.random.default_rng(7).normal(size=(3, 2, 3, 3)).astype(np.float32)
    onnx.save(convolution(weight, normalized=False), "three.onnx")
    onnx.save(convolution(weight[:, :, :2].copy(), normalized=False), "two.onnx")
    assert compare_weights("three.onnx", "two.onnx").reshaped == 1
    measured = compare_weights("three.onnx", "a.onnx")
    assert measured.verdict() == "0 compared, 0 of them differ; 1 that no layer of that name reads in B"
