"""Every pair of options of every command: each has its effect, or one line refuses it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx_models import onnx_model

import qdialect
from qdialect.cli import main, opt
from qdialect.cli.arguments import COMMANDS, parse
from qdialect.errors import UserError

SAMPLES = {
    "--output": "out.onnx", "--target": "tensorrt", "--form": "qdq", "--exactness": "lossy", "--costs": "c.toml",
    "--decompose": "Gemm", "--keep-float": "a", "--batch": "2", "--sizes": "n=3", "--data": "x.npz",
    "--report": "r.json", "--check-numerics": "", "--profile": "p", "--save-profile": "q", "--memory": "2M",
    "--state": "h=g", "--workers": "2", "--scheduler": "host:1", "--mean": "0.5", "--std": "0.2", "--layout": "NHWC",
    "--labels": "folders", "--metric": "top5", "--preprocess": "tf", "--resize": "256", "--crop": "224",
    "--range": "mse", "--rounding": "gptq", "--weights": "int4", "--max-drop": "30dB", "--threads": "2", "--runs": "3",
    "--prefer": "speed",
}  # fmt: skip
"""A value of each option that takes one, other than its default."""
POSITIONAL = {
    "compile": ["in.onnx"], "quantize": ["in.onnx"], "explain": ["in.onnx"], "compare": ["a.onnx", "b.onnx"],
    "bench": ["a.onnx"], "targets": [],
}  # fmt: skip
NEEDED = {
    "compile": ["-o", "out.onnx", "--data", "x.npz"],
    "quantize": ["-o", "out.onnx", "--data", "x.npz"],
    "compare": ["--data", "x.npz"],
    "bench": ["--data", "x.npz"],
}
"""Options without which a command does nothing."""
IMAGES = "--preprocess", "--resize", "--crop", "--mean", "--std", "--layout", "--bgr"
INT4 = {"--weights"}
REFUSED = {
    "compile": {frozenset({"--quiet", "--verbose"})},
    "quantize": {
        frozenset({"--quiet", "--verbose"}),
        frozenset({"--scheduler", "--workers"}),
        *(frozenset({"--random", one}) for one in ("--data", "--profile", "--state", "--labels", *IMAGES)),
        frozenset({"--labels", "--state"}),
        *(frozenset({"--metric", one}) for one in ("--random", "--state")),
        *(
            frozenset({"--weights", one})
            for one in ("--range", "--integer-io", "--float-weights", "--prefer", "--measure")
        ),
        frozenset({"--measure", "--max-drop"}),
    },
}
"""The pairs of which one would have no effect: no other pair is refused."""


def actions(command: str) -> list[argparse.Action]:
    """The options of a command, help apart."""
    words = [command, *POSITIONAL[command], *NEEDED.get(command, [])]
    parser: argparse.ArgumentParser = parse(words).parser
    every = parser._actions
    return [one for one in every if one.option_strings and one.dest not in ("help", "version")]


def words_of(action: argparse.Action) -> list[str]:
    """An option as given on the command line."""
    name = max(action.option_strings, key=len)
    if action.nargs == 0:
        return [name]
    if action.nargs == "?":
        return [name]
    return [name, SAMPLES[name]]


def pairs() -> Iterator[tuple[str, argparse.Action, argparse.Action]]:
    for command in COMMANDS:
        for one, other in combinations(actions(command), 2):
            yield command, one, other


def test_every_pair_of_options_acts_or_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A new option stands in `SAMPLES`; a pair of which one would have no effect, in `REFUSED`."""
    monkeypatch.chdir(tmp_path)
    wrong: list[str] = []
    count = 0
    for command, one, other in pairs():
        names = {max(action.option_strings, key=len) for action in (one, other)}
        said = [*words_of(one), *words_of(other)]
        needed = NEEDED.get(command, [])
        rest = [
            w
            for k in range(0, len(needed), 2)
            for w in needed[k : k + 2]
            if needed[k] not in _short(one, other)
        ]
        if "--random" in names and "--data" not in names:
            rest = [w for w in rest if w not in ("--data", "x.npz")]
        if "--metric" in names and not names & {"--labels", "--random", "--state"}:
            said += ["--labels", "folders"]
        if command == "targets" and "--calibrate" not in names:
            said += ["--calibrate"]
        if command == "targets":
            said = [word.replace(".onnx", ".toml") for word in said]
        count += 1
        refused = frozenset(names) in REFUSED.get(command, set())
        try:
            parse([command, *POSITIONAL[command], *said, *rest])
        except SystemExit as exit_:
            lines = capsys.readouterr().err.strip().splitlines()
            if not refused or exit_.code != 2 or not lines[-1].startswith(f"qdialect {command}: error: "):
                wrong.append(f"{command} {said}: {lines[-1]}")
        else:
            if refused:
                wrong.append(f"{command} {said}: not refused")
    assert not wrong
    assert count > 800


def _short(*some: argparse.Action) -> set[str]:
    return {name for one in some for name in one.option_strings}


TWICE = [
    (command, action)
    for command in COMMANDS
    for action in actions(command)
    if action.nargs != 0 and action.nargs != "?"
]
COMBINED = {"--data", "--profile", "--keep-float", "--decompose", "--sizes"}
"""Options whose values add up."""


@pytest.mark.parametrize(("command", "action"), TWICE, ids=[f"{c}{a.option_strings[-1]}" for c, a in TWICE])
def test_of_two_values_none_replaces_the_other(
    command: str, action: argparse.Action, capsys: pytest.CaptureFixture[str]
):
    """Of two `--data`, the second replaced the first without a word."""
    name = max(action.option_strings, key=len)
    first = "g=f" if name == "--state" else SAMPLES[name]
    second = "k=i" if name == "--state" else first
    base = [command, *POSITIONAL[command]]
    needed = NEEDED.get(command, [])
    base += [
        w
        for k in range(0, len(needed), 2)
        for w in needed[k : k + 2]
        if needed[k] not in action.option_strings
    ]
    if command == "targets":
        base += ["--calibrate"]
        first = second = first.replace(".onnx", ".toml")
    both = [*base, name, first, name, second]
    if name in COMBINED or name == "--state":
        assert len(getattr(parse(both), action.dest)) == 2
        return
    with pytest.raises(SystemExit) as caught:
        parse(both)
    assert caught.value.code == 2
    assert "is given twice" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        "--target onnxruntime",
        "--form qdq",
        "--exactness exact",
        "--batch 2",
        "--sizes n=3",
        "--integer-io",
        "--all",
    ],
)
def test_a_reason_takes_no_options_of_models(words: str, capsys: pytest.CaptureFixture[str]):
    is_default = words == "--target onnxruntime"
    assert main(["explain", "float-faster", *words.split()]) == (0 if is_default else 2)
    assert is_default or "is the id of a reason: leave" in capsys.readouterr().err


@pytest.mark.parametrize("words", ["--mean 0.5", "--std 0.5", "--layout NHWC", "--state a=b", "--workers 2"])
def test_a_profile_alone_has_no_samples(words: str, capsys: pytest.CaptureFixture[str]):
    assert main(["quantize", "in.onnx", "-o", "out.onnx", "--profile", "p", *words.split()]) == 2
    assert f"leave {words.split()[0]} out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("ending", "target"), [(".mlir", "tosa"), (".mlir", "linalg"), (".so", "linalg"), (".tosa", "tosa")]
)
def test_no_data_is_external_to_what_is_no_onnx_model(
    ending: str, target: str, capsys: pytest.CaptureFixture[str]
):
    words = ["compile", "in.onnx", "-o", f"out{ending}", "--target", target, "--external-data"]
    assert main(words) == 2
    assert "leave --external-data out" in capsys.readouterr().err


def test_where_passes_are_printed_a_note_names_what_has_no_effect(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    onnx.save(network(), str(tmp_path / "in.onnx"))
    words = [
        "compile",
        str(tmp_path / "in.onnx"),
        "--print-pipeline",
        "-o",
        str(tmp_path / "out.onnx"),
        "--remarks",
    ]
    assert main(words) == 0
    assert "without --output, --remarks" in capsys.readouterr().err


def test_a_pass_pipeline_is_given_once(capsys: pytest.CaptureFixture[str]):
    assert opt.main(["-p", "fold-casts", "-p", "raise-qdq"]) == 2
    assert "is given twice" in capsys.readouterr().err


# --- effects on the file

WIDTH = 64


def network() -> onnx.ModelProto:
    """Three products, each of which has a 4-bit kernel."""
    draw = np.random.default_rng(0)
    arrays = {f"w{k}": (draw.normal(size=(WIDTH, WIDTH)) / 8).astype(np.float32) for k in range(3)}
    arrays["w1"][0] *= 20
    nodes = [
        helper.make_node("MatMul", ["x", "w0"], ["m0"], "first"),
        helper.make_node("Relu", ["m0"], ["r0"], "relu"),
        helper.make_node("MatMul", ["r0", "w1"], ["m1"], "second"),
        helper.make_node("Tanh", ["m1"], ["r1"], "tanh"),
        helper.make_node("MatMul", ["r1", "w2"], ["y"], "third"),
    ]
    return onnx_model(nodes, {"x": ["n", WIDTH]}, {"y": ["n", WIDTH]}, arrays)


def rows(seed: int = 1, count: int = 80) -> np.ndarray[Any, np.dtype[np.float32]]:
    draw = np.random.default_rng(seed)
    return (draw.normal(size=(count, 8)) @ draw.normal(size=(8, WIDTH))).astype(np.float32)


def feeds() -> list[dict[str, Any]]:
    return [{"x": row[None]} for row in rows()]


def kinds(module: Any) -> list[str]:
    return [node.op_type for node in qdialect.to_model(module).graph.node]


@pytest.mark.parametrize("name", ["first", "second", "third", "m1", "*", "th*", "first,third"])
def test_a_weight_in_four_bits_may_be_kept_in_float(name: str):
    """`--weights int4` ignored --keep-float."""
    names = name.split(",")
    done = qdialect.quantize(network(), feeds(), weights="int4", keep_float=names)
    left = {"*": 3, "first,third": 2}.get(name, 1)
    assert kinds(done.module).count("MatMul") == left
    assert f"{3 - left} of 3 layers with weights of 4 bits" in done.summary()[0]


def test_a_weight_in_four_bits_is_rounded_as_asked():
    """`--weights int4` ignored --rounding."""
    logs = {
        r: "\n".join(qdialect.quantize(network(), feeds(), weights="int4", rounding=r).log)
        for r in ("nearest", "gptq")
    }
    assert logs["nearest"].count("to nearest") == 3
    assert "GPTQ" not in logs["nearest"]
    assert logs["gptq"].count("by GPTQ") == 3


@pytest.mark.parametrize("limit", ["20dB", "25dB", "30dB", "60dB", "0%", "20%"])
def test_weights_in_four_bits_stay_within_a_limit(limit: str):
    """`--weights int4` ignored --max-drop."""
    plain = qdialect.quantize(network(), feeds(), weights="int4")
    done = qdialect.quantize(network(), feeds(), weights="int4", max_drop=limit)
    assert done.limit[0].startswith(f"{limit} ")
    if limit.endswith("dB"):
        assert done.ratio >= float(limit[:-2])
    assert done.integer <= plain.integer
    if done.integer < plain.integer:
        names = done.limit[0].partition("--keep-float ")[2].split(",")
        again = qdialect.quantize(network(), feeds(), weights="int4", keep_float=names)
        assert kinds(again.module) == kinds(done.module)


@pytest.mark.parametrize(
    "options",
    [
        {"weights": "int4", "range": "mse"},
        {"weights": "int4,block=16", "integer_io": True},
        {"weights": "int4", "float_weights": True},
        {"random": True, "profiles": ["p"]},
        {"workers": 2, "scheduler": "host:1"},
        {"mean": (0.5,)},
        {"std": (0.5,)},
        {"layout": "NHWC"},
    ],
    ids=str,
)
def test_an_option_of_the_api_acts_or_is_refused(options: dict[str, Any]):
    with pytest.raises(UserError):
        qdialect.quantize(network(), None if options.get("random") else feeds(), **options)


def test_several_data_are_read_one_after_the_other(tmp_path: Path):
    """Of two `--data`, the second replaced the first."""
    onnx.save(network(), str(tmp_path / "in.onnx"))
    paths = [str(tmp_path / name) for name in ("a.npz", "b.npz")]
    for seed, path in enumerate(paths):
        np.savez(path, x=rows(seed, 12))
    np.savez(tmp_path / "both.npz", x=np.concatenate([rows(0, 12), rows(1, 12)]))

    def profile(name: str, *data: str) -> bytes:
        words = [word for one in data for word in ("--data", one)]
        out = ["-o", str(tmp_path / f"{name}.onnx"), "--save-profile", str(tmp_path / name), "--quiet"]
        assert main(["quantize", str(tmp_path / "in.onnx"), *words, *out, "--rounding", "nearest"]) == 0
        return (tmp_path / name).read_bytes()

    both = profile("both", str(tmp_path / "both.npz"))
    assert profile("several", *paths) == both
    assert profile("first", paths[0]) != both
    by_api = qdialect.quantize(network(), [*paths], rounding="nearest")
    assert by_api.profile.samples == 24


def test_each_pass_of_a_quantization_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """`quantize --check-numerics` checked nothing."""
    onnx.save(network(), str(tmp_path / "in.onnx"))
    np.savez(tmp_path / "x.npz", x=rows(count=12))
    words = [
        "quantize",
        str(tmp_path / "in.onnx"),
        "--data",
        str(tmp_path / "x.npz"),
        "--rounding",
        "nearest",
    ]
    for name, more in (("a", []), ("b", ["--weights", "int4"])):
        assert main([*words, *more, "-o", str(tmp_path / f"{name}.onnx"), "--check-numerics"]) == 0
        assert "check-numerics: " in capsys.readouterr().err
