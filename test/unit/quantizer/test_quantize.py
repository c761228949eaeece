"""`quantize` from end to end: data of all kinds, the same bytes again, what is refused."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.parser
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_models import onnx_model

import qdialect
from qdialect.cli import main
from qdialect.errors import UserError
from qdialect.quantizer.rounding.gptq import gptq
from qdialect.quantizer.rounding.layers import LinearLayer

Array = npt.NDArray[Any]
CHANNELS = 64


def write_model(path: Path) -> Path:
    """Three convolutions, the first two with an activation, large enough for integers to pay."""
    draw = np.random.default_rng(1)
    nodes: list[onnx.NodeProto] = []
    weights: list[onnx.TensorProto] = []
    value = "x"
    for k in range(3):
        w = draw.normal(size=(CHANNELS, CHANNELS, 3, 3)).astype(np.float32) / 24
        weights.append(numpy_helper.from_array(w, f"w{k}"))
        weights.append(numpy_helper.from_array(draw.normal(size=CHANNELS).astype(np.float32), f"b{k}"))
        nodes.append(helper.make_node("Conv", [value, f"w{k}", f"b{k}"], [f"c{k}"], f"conv{k}", pads=[1] * 4))
        value = f"c{k}"
        if k < 2:
            nodes.append(helper.make_node("Relu", [value], [f"r{k}"], f"relu{k}"))
            value = f"r{k}"
    shape = ["n", CHANNELS, 10, 11]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("x", value))
    proto = onnx_model(nodes, [x], [y], weights)
    onnx.save(onnx.shape_inference.infer_shapes(proto), str(path))
    return path


def samples(count: int = 12) -> Array:
    return np.random.default_rng(2).normal(size=(count, CHANNELS, 10, 11)).astype(np.float32)


NEAREST = ("--rounding", "nearest")
"""What takes a twentieth of the time, where nothing hangs on how weights are rounded."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("quantize")
    write_model(path / "float.onnx")
    np.savez(path / "data.npz", x=samples())
    return path


def quantize(folder: Path, out: str, *options: str) -> int:
    return main(["quantize", str(folder / "float.onnx"), "-o", str(folder / out), "--quiet", *options])


def ratio(folder: Path, out: str) -> float:
    x = np.random.default_rng(5).normal(size=(2, CHANNELS, 10, 11)).astype(np.float32)
    one, other = (
        ort.InferenceSession(str(folder / name), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
        for name in ("float.onnx", out)
    )
    noise = np.asarray(one, np.float64) - np.asarray(other)
    return float(10 * np.log10((np.asarray(one, np.float64) ** 2).sum() / (noise**2).sum()))


def test_integer_kernels_and_little_noise(folder: Path) -> None:
    assert quantize(folder, "int8.onnx", "--data", str(folder / "data.npz")) == 0
    ops = [node.op_type for node in onnx.load(str(folder / "int8.onnx")).graph.node]
    assert "QLinearConv" in ops
    assert "Conv" not in ops
    assert ratio(folder, "int8.onnx") > 35


def test_the_same_bytes_again(folder: Path) -> None:
    for out in ("a.onnx", "b.onnx"):
        assert quantize(folder, out, "--data", str(folder / "data.npz")) == 0
    assert (folder / "a.onnx").read_bytes() == (folder / "b.onnx").read_bytes()


def test_the_same_bytes_on_any_number_of_cores(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = ("--data", str(folder / "data.npz"))
    for cores in (1, 2, 5):
        monkeypatch.setattr("qdialect.evaluation.parallel.cores", lambda cores=cores: cores)
        assert (
            quantize(folder, f"{cores}.onnx", *data, "--save-profile", str(folder / f"{cores}.profile")) == 0
        )
    for end in ("onnx", "profile"):
        assert len({(folder / f"{cores}.{end}").read_bytes() for cores in (1, 2, 5)}) == 1


def test_gptq_is_better_than_rounding_to_nearest(folder: Path) -> None:
    for rounding in ("nearest", "gptq"):
        data = str(folder / "data.npz")
        assert (
            quantize(folder, f"{rounding}.onnx", "--data", data, "--rounding", rounding, "--range", "minmax")
            == 0
        )
    assert ratio(folder, "gptq.onnx") > ratio(folder, "nearest.onnx")


@pytest.mark.parametrize("rounding", [None, "gptq"])
def test_what_is_best_by_chance_is_not_the_result(
    rounding: str | None, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def doubt(*_: object) -> float:
        return 99.0

    monkeypatch.setattr("qdialect.quantizer.statistics.samples.Noise.doubt", doubt)
    done = qdialect.quantize(
        folder / "float.onnx", str(folder / "data.npz"), range="minmax", rounding=rounding
    )
    assert str(done.choice) == ("minmax, nearest" if rounding is None else "minmax, gptq")
    assert any("by more than chance" in line for line in done.log) is (rounding is None)


def test_each_layer_is_rounded_by_gptq_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rounded: list[int] = []

    def counting(layer: LinearLayer, *arguments: Any, **named: Any) -> Array:
        rounded.append(layer.rows_shape[2])
        return gptq(layer, *arguments, **named)

    monkeypatch.setattr("qdialect.quantizer.rounding.gptq.gptq", counting)
    assert quantize(folder, "once.onnx", "--data", str(folder / "data.npz")) == 0
    assert rounded == [9 * CHANNELS] * 3


def test_a_profile_in_place_of_data(folder: Path) -> None:
    profile = str(folder / "profile")
    data = str(folder / "data.npz")
    assert quantize(folder, "c.onnx", "--data", data, "--save-profile", profile, *NEAREST) == 0
    assert quantize(folder, "d.onnx", "--profile", profile, *NEAREST) == 0
    assert ratio(folder, "d.onnx") > 30


def test_data_of_many_kinds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = samples(4)
    np.save(folder / "x.npy", x)
    pieces = folder / "pieces"
    pieces.mkdir()
    for k, row in enumerate(x):
        np.save(pieces / f"{k}.npy", row)
    for k in range(2):
        test_set = folder / "sets" / f"test_data_set_{k}"
        test_set.mkdir(parents=True)
        (test_set / "input_0.pb").write_bytes(
            numpy_helper.from_array(x[2 * k : 2 * k + 2]).SerializeToString()
        )
    (folder / "own_samples.py").write_text(
        "import numpy as np\ndef rows():\n    for row in np.load('x.npy'):\n        yield {'x': row[None]}\n"
    )
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    profiles: set[bytes] = set()
    for k, source in enumerate(["x.npy", "pieces", "sets", "own_samples:rows"]):
        profile = folder / f"profile{k}"
        assert quantize(folder, "e.onnx", "--data", source, "--save-profile", str(profile), *NEAREST) == 0
        profiles.add(profile.read_bytes())
    assert len(profiles) == 1
    sys.modules.pop("own_samples", None)


@pytest.mark.parametrize("sizes", ["--batch=5", "--sizes=n=5"])
def test_samples_have_as_many_rows_as_the_result(folder: Path, sizes: str) -> None:
    data = str(folder / "data.npz")
    assert quantize(folder, "five.onnx", "--data", data, sizes, *NEAREST) == 0
    (x,) = onnx.load(str(folder / "five.onnx")).graph.input
    assert x.type.tensor_type.shape.dim[0].dim_value == 5


def test_integer_inputs_and_outputs_are_judged_as_real_numbers(folder: Path) -> None:
    data = [{"x": samples()}]
    plain, integer = (
        qdialect.quantize(folder / "float.onnx", data, rounding="nearest", integer_io=on)
        for on in (False, True)
    )
    graph = qdialect.to_model(integer.module).graph
    assert {v.type.tensor_type.elem_type for v in (*graph.input, *graph.output)} == {TensorProto.UINT8}
    assert integer.ratio == pytest.approx(plain.ratio, abs=0.5)  # dB


def test_random_is_said_to_be_no_calibration(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(folder / "float.onnx")
    assert main(["quantize", path, "-o", str(folder / "f.onnx"), "--random", *NEAREST]) == 0
    assert "random data does not calibrate" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"z": samples(2)}, "no array for input 'x'"),
        ({"x": samples(2)[:, :3]}, "the model takes ?x64x10x11; reshape the data"),
        ({"x": np.moveaxis(samples(2), 1, -1)}, "transpose the data"),
        ({"x": samples(2).astype("U8")}, "the model takes float32"),
        ({"x": np.where(np.arange(11) == 3, np.nan, samples(2)).astype(np.float32)}, "NaN"),
        ({"x": samples(2)[:0]}, "the data is empty"),
    ],
)
def test_wrong_data_is_one_line(
    folder: Path, arrays: dict[str, Array], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(folder / "wrong.npz", **arrays)  # pyright: ignore[reportArgumentType]
    out = folder / "never.onnx"
    assert quantize(folder, out.name, "--data", str(folder / "wrong.npz")) == 1
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not out.exists()


def test_no_data_at_all(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert quantize(folder, "never.onnx") == 2
    assert "there is nothing to calibrate on" in capsys.readouterr().err
    assert quantize(folder, "never.onnx", "--data", str(folder / "none")) == 1
    assert "no such file or folder" in capsys.readouterr().err


def test_a_profile_of_another_model(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = str(tmp_path / "profile")
    data = str(folder / "data.npz")
    assert quantize(folder, "g.onnx", "--data", data, "--save-profile", profile, *NEAREST) == 0
    kept = ["--form", "qdq", "--keep-float", "conv1"]
    assert quantize(folder, "never.onnx", "--profile", profile, *kept, *NEAREST) == 0
    other = tmp_path / "other.onnx"
    model = onnx.load(str(folder / "float.onnx"))
    model.graph.node[0].name = "another"
    del model.graph.node[-1]
    model.graph.output[0].name = "r1"
    onnx.save(model, str(other))
    assert main(["quantize", str(other), "-o", str(tmp_path / "o.onnx"), "--profile", profile]) == 1
    assert "different models" in capsys.readouterr().err


def test_quantize_takes_a_module_or_a_path(folder: Path) -> None:
    module = qdialect.load(folder / "float.onnx")
    done = qdialect.quantize(module, [{"x": row[None]} for row in samples()])
    assert done.integer == done.layers == 3
    assert done.log
    qdialect.save(module, folder / "h.onnx")
    assert ratio(folder, "h.onnx") > 35
    again = qdialect.quantize(folder / "float.onnx", str(folder / "data.npz"))
    assert again.module is not None


@pytest.mark.parametrize(
    ("count", "said"), [(1, "1 sample is too few"), (7, "7 samples are too few"), (8, "")]
)
def test_few_samples_are_said_to_be(count: int, said: str, folder: Path) -> None:
    done = qdialect.quantize(folder / "float.onnx", [{"x": row[None]} for row in samples(count)])
    assert [line[: len("warning: ") + len(said)] for line in done.summary() if "few" in line] == (
        [f"warning: {said}"] if said else []
    )
    assert repr(done).startswith("<Quantized: 3 of 3 layers in integers")
    assert "\ncasts: 1 DequantizeLinear, 1 QuantizeLinear\n" in str(done.report)


@pytest.mark.parametrize(
    ("factor", "offset", "type", "said"),
    [
        (0, 0, np.float32, "the data is 0 throughout"),
        (0, 3, np.float32, "the data is 3 throughout"),
        (0, 0, np.uint8, "'x' is uint8"),
        (20, 128, np.uint8, "'x' is uint8"),
        (1, 0, np.float64, ""),
    ],
)
def test_odd_data_is_said_to_be(factor: int, offset: int, type: Any, said: str, folder: Path) -> None:
    data = [
        {"x": (row[None] * factor + offset).clip(0 if type == np.uint8 else -9).astype(type)}
        for row in samples(8)
    ]
    done = qdialect.quantize(folder / "float.onnx", data, range="minmax", rounding="nearest")
    warnings = [line for line in done.summary() if line.startswith("warning: ")]
    assert bool(warnings) == bool(said)
    assert said in "".join(warnings)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"std": (1.0, 0.0)}, "above 0"),
        ({"random": True, "state": {"x": "y"}}, "exclude"),
        ({"prefer": "size"}, "speed"),
        ({"measure": True, "max_drop": "40dB"}, "measure"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any], says: str, folder: Path) -> None:
    with pytest.raises(UserError, match=says):
        qdialect.quantize(folder / "float.onnx", **options)


def test_candidates_that_are_measured_are_in_the_log_and_the_output_says_that_the_machine_chose(
    folder: Path,
) -> None:
    done = qdialect.quantize(folder / "float.onnx", [{"x": row[None]} for row in samples(16)], measure=True)
    assert any("of the float time measured" in line for line in done.log)
    assert "chosen by times measured on this machine: another may choose otherwise" in done.summary()


@pytest.mark.parametrize("differ", [1, 7, 8])
def test_repeated_samples_are_said_to_be_few(differ: int, folder: Path) -> None:
    data = [{"x": row[None]} for row in samples(differ)]
    repeated = [data[k % differ] for k in range(16)]
    done = qdialect.quantize(folder / "float.onnx", repeated, range="minmax", rounding="nearest")
    warnings = [line for line in done.summary() if line.startswith("warning: ")]
    said = f"warning: {differ} of 16 samples are distinct: too few to calibrate with"
    assert [line[: len(said)] for line in warnings] == ([said] if differ < 8 else [])


def test_a_file_of_pairs_is_said_to_be_for_other_runtimes(folder: Path) -> None:
    for form, pairs in ((None, False), ("qdq", True)):
        done = qdialect.quantize(
            folder / "float.onnx", str(folder / "data.npz"), range="minmax", rounding="nearest", form=form
        )
        assert ("form: qdq" in "\n".join(done.summary())) is pairs
        kernels = {node.op_type for node in qdialect.to_model(done.module).graph.node}
        assert ("QLinearConv" in kernels) is not pairs


def test_small_products_stay_in_float(tmp_path: Path) -> None:
    w = numpy_helper.from_array(np.random.default_rng(0).normal(size=(3, 2)).astype(np.float32), "w")
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [5, s]) for n, s in (("x", 3), ("y", 2)))
    onnx.save(
        onnx_model([helper.make_node("MatMul", ["x", "w"], ["y"], "m")], [x], [y], [w]),
        str(tmp_path / "m.onnx"),
    )
    module = qdialect.load(tmp_path / "m.onnx")
    done = qdialect.quantize(module, [{"x": np.ones((5, 3), np.float32)}])
    assert "no op is faster in integers" in done.summary()[0]


@pytest.mark.parametrize("form", [None, "qdq"])
def test_half_precision_is_said_to_stay(form: str | None, tmp_path: Path) -> None:
    w = numpy_helper.from_array(np.random.default_rng(0).normal(size=(64, 32)).astype(np.float16), "w")
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT16, [5, s]) for n, s in (("x", 64), ("y", 32)))
    proto = onnx_model([helper.make_node("MatMul", ["x", "w"], ["y"], "m")], [x], [y], [w])
    done = qdialect.quantize(qdialect.load(proto), [{"x": np.ones((5, 64), np.float16)}], form=form)
    half = "every layer stays in float: its products are in half precision, convert it to float32 first"
    assert done.summary()[0] == half
    assert [node.op_type for node in qdialect.to_model(done.module).graph.node] == ["MatMul"]


def with_weights(text: str, **shapes: tuple[int, ...]) -> onnx.ModelProto:
    """A model with random initializers of these shapes in place of inputs."""
    proto, rng = onnx.parser.parse_model(text), np.random.default_rng(0)
    inputs = [one for one in proto.graph.input if one.name not in shapes]
    del proto.graph.input[:]
    proto.graph.input.extend(inputs)
    arrays = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    proto.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in arrays.items())
    return proto


def test_a_decoder_may_start_with_an_empty_past() -> None:
    # No element of `past` is no lack of samples: rows are counted along the first axis.
    text = """<ir_version: 8, opset_import: ["": 17]>
        g (float[n,1,64] x, float[n,t,64] past, float[64,256] w, float[256,64] v) => (float[n,s,64] present)
        { a = MatMul(x, w) r = Relu(a) b = MatMul(r, v) present = Concat<axis = 1>(past, b) }"""
    x, past = np.ones((16, 1, 64), np.float32), np.zeros((16, 0, 64), np.float32)
    done = qdialect.quantize(with_weights(text, w=(64, 256), v=(256, 64)), [{"x": x, "past": past}])
    assert (done.integer, done.profile.samples) == (2, 16)
    assert qdialect.compile(done.module, feeds=[{"x": x, "past": past}]).checked.endswith("on 1 input")


def test_what_stays_in_float_behind_integers_was_weighed() -> None:
    # No node has a name: a layer is known by its tensors, also where they are integers.
    text = """<ir_version: 8, opset_import: ["": 17]>
        g (float[n,3,8,8] x, float[64,3,3,3] w, float[64,64,3,3] v, float[10,64] u) => (float[n,10] y)
        { a = Conv<pads = [1,1,1,1]>(x, w) r = Relu(a) b = Conv<pads = [1,1,1,1]>(r, v) s = Relu(b)
          p = GlobalAveragePool(s) f = Flatten(p) y = Gemm<transB = 1>(f, u) }"""
    proto = with_weights(text, w=(64, 3, 3, 3), v=(64, 64, 3, 3), u=(10, 64))
    data = [{"x": np.random.default_rng(1).normal(size=(16, 3, 8, 8)).astype(np.float32)}]
    report = qdialect.quantize(proto, data, range="minmax").report
    products = [one for one in report.layers if one.macs]
    assert [(one.operator, one.integer, one.is_gone) for one in products] == [
        ("Conv", True, False),
        ("Conv", True, False),
        ("Gemm", False, False),
    ]
    blocked = products[-1].reasons[0].blocked
    assert blocked.id == "float-faster"
    assert blocked.expected is not None
    assert 0 < blocked.expected.floating <= blocked.expected.integer
    assert f"({blocked.expected})" in str(report)


def test_integers_that_a_model_came_with_are_compiled() -> None:
    """No layer has float weights: what is left to do is what `compile` does."""
    proto = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["": 13]> g (float[n,16,8,8] x) => (float[n,64,6,6] y)
        <float s = {0.5}, int8 z = {0}> { q, a, b = DynamicQuantizeLinear(x) i = ConvInteger(q, w, b, z)
          c = Cast<to = 1>(i) t = Mul(a, s) y = Mul(c, t) }"""
    )
    proto.graph.initializer.append(numpy_helper.from_array(np.ones((64, 16, 3, 3), np.int8), "w"))
    done = qdialect.quantize(proto, [{"x": np.ones((8, 16, 8, 8), np.float32)}])
    assert done.summary()[0].startswith("nothing to quantize")
    assert str(done.module) == str(qdialect.compile(proto).module) != str(qdialect.load(proto))


@pytest.mark.parametrize("count", [16, 0])
def test_a_mask_of_minus_infinity_stays_in_float(count: int) -> None:
    # Of none that is masked in the data, the range says nothing of what is masked later.
    text = """<ir_version: 8, opset_import: ["": 17]>
        g (float[n,256,64] x, float[256] mask, float[64,256] w, float[256,64] v)
        => (float[n,256,64] y, float[n,256,256] p)
        <float[1] zero = {0}, float[1] least = {-inf}>
        { a = MatMul(x, w) is_masked = Greater(mask, zero) s = Where(is_masked, least, a) p = Softmax(s)
          y = MatMul(p, v) }"""
    x = np.random.default_rng(1).normal(size=(16, 256, 64)).astype(np.float32) / 20
    mask = (np.arange(256) < count).astype(np.float32)
    proto = with_weights(text, w=(64, 256), v=(256, 64))
    done = qdialect.quantize(proto, [{"x": x, "mask": mask}], range="minmax")
    assert done.integer == 2
    session = ort.InferenceSession(qdialect.to_model(done.module).SerializeToString())
    p = np.asarray(session.run(["p"], {"x": x[:1], "mask": (np.arange(256) < 240).astype(np.float32)})[0])
    assert not p[:, :, :240].any()


def test_an_output_of_no_numbers_is_refused() -> None:
    text = """<ir_version: 8, opset_import: ["": 17]>
        g (float[n,64] x, float[64,64] w) => (float[n,64] y) { a = MatMul(x, w) b = Relu(a) y = Log(b) }"""
    data = [{"x": np.random.default_rng(1).normal(size=(16, 64)).astype(np.float32)}]
    with pytest.raises(UserError, match="output 'y' holds NaN or infinity on this data; check the data"):
        qdialect.quantize(with_weights(text, w=(64, 64)), data)


def test_an_input_that_integer_io_leaves_float_is_named_with_its_reason(folder: Path) -> None:
    """It was left in float without a word."""
    data = [{"x": samples()}]
    model = onnx.load(folder / "float.onnx")
    first = next(node for node in model.graph.node if "x" in node.input)
    done = qdialect.quantize(
        model, data, rounding="nearest", keep_float=[first.name], integer_io=True, form="qdq"
    )
    said = (
        f"'x' stays float: {first.op_type} '{first.name}' reads it, in float since --keep-float excludes it"
    )
    assert said in str(done.report)
