"""How images become inputs: presets, files, what the profile and the written file keep, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx_models import onnx_model
from PIL import Image

from qdialect.cli import main
from qdialect.data.images import read_image
from qdialect.data.preprocessing import KEY, PRESETS, Preprocessing, from_text, named
from qdialect.data.record import Record
from qdialect.errors import UserError
from qdialect.evaluation.data import Input
from qdialect.numerics import Array
from qdialect.quantizer.statistics.profile import load_profile

SIZE = 16
ENTRY = Input("x", (None, 3, SIZE, SIZE), np.dtype(np.float32))


def network(size: int = SIZE) -> onnx.ModelProto:
    """A convolution and a product of images of `size`."""
    draw = np.random.default_rng(5)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "conv", strides=[2, 2], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("ReduceMean", ["r"], ["m"], axes=[2, 3], keepdims=0),
        helper.make_node("Gemm", ["m", "v"], ["y"], "head"),
    ]
    tensors = {"w": draw.normal(0, 0.3, (32, 3, 3, 3)), "v": draw.normal(0, 0.3, (32, 10))}
    held = {name: array.astype(np.float32) for name, array in tensors.items()}
    return onnx_model(nodes, {"x": ["n", 3, size, size]}, {"y": ["n", 10]}, held, opset=13)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: `m.onnx`, and 12 images of two sizes in `images`."""
    monkeypatch.chdir(tmp_path)
    onnx.save(network(), "m.onnx")
    (tmp_path / "images").mkdir()
    draw = np.random.default_rng(6)
    for k in range(12):
        pixels = draw.integers(0, 256, (20 + 4 * (k % 2), 20, 3), np.uint8)
        Image.fromarray(pixels).save(tmp_path / "images" / f"{k:02}.png")
    return tmp_path


def read(
    pixels: Array | Any, options: Preprocessing = PRESETS["unit"], entry: Input = ENTRY
) -> tuple[Array, str]:
    """An image, given as pixels or by Pillow, as the model's input, and what is said of it."""
    image = Image.fromarray(pixels) if isinstance(pixels, np.ndarray) else pixels
    image.save("one.png")
    record = Record(samples=1)
    return read_image(Path("one.png"), entry, options, record), record.line()


def gradient(height: int = 30, width: int = 40) -> Array:
    return np.random.default_rng(7).integers(0, 256, (height, width, 3), np.uint8)


def test_imagenet_is_what_torchvision_does(folder: Path):
    """Resize(side), CenterCrop(size), ToTensor, Normalize: the shorter side is size / 0.875, bilinear."""
    image = Image.fromarray(gradient()).resize((24, 18), Image.Resampling.BILINEAR)
    cut = np.asarray(image.crop((4, 1, 4 + SIZE, 1 + SIZE)), np.float32) / 255
    mean, std = (np.array(one, np.float32) for one in (PRESETS["imagenet"].mean, PRESETS["imagenet"].std))
    got, said = read(gradient(), PRESETS["imagenet"])
    assert np.array_equal(got[0], ((cut - mean) / std).transpose(2, 0, 1))
    assert "1 resized and cut from 40x30 to 16x16 (width x height)" in said
    assert "mean 0.485,0.456,0.406, std 0.229,0.224,0.225 of pixels of 0 to 1" in said


def test_the_shorter_side_is_resized_and_the_centre_cut(folder: Path):
    image = Image.fromarray(gradient()).resize((26, 20), Image.Resampling.BILINEAR)
    cut = np.asarray(image.crop((5, 2, 5 + SIZE, 2 + SIZE)), np.float32) / 255
    assert np.array_equal(read(gradient(), Preprocessing(resize=20))[0][0], cut.transpose(2, 0, 1))
    open_size = Input("x", (None, 3, None, None), np.dtype(np.float32))
    assert read(gradient(), Preprocessing(resize=20, crop=18), open_size)[0].shape == (1, 3, 18, 18)
    assert read(gradient(), Preprocessing(resize=20), open_size)[0].shape == (1, 3, 20, 26)
    assert read(gradient(), entry=open_size)[0].shape == (1, 3, 30, 40)


def test_stretched_images_are_said(folder: Path):
    said = read(gradient())[1]
    assert "1 stretched from 40x30 to 16x16, aspect changed in 1 (width x height)" in said
    assert "mean 0, std 1 of pixels of 0 to 1 (no --mean or --preprocess given)" in said
    assert "aspect" not in read(gradient(20, 20))[1]
    assert "16x16 as they are" in read(gradient(SIZE, SIZE))[1]


def test_other_presets(folder: Path):
    pixels = gradient(SIZE, SIZE)
    channels = pixels.astype(np.float32).transpose(2, 0, 1)[None]
    assert np.allclose(read(pixels, PRESETS["tf"])[0], channels / 127.5 - 1, atol=1e-6)
    assert np.array_equal(read(pixels, PRESETS["bytes"])[0], channels)
    means = np.array([103.939, 116.779, 123.68], np.float32)[:, None, None]
    assert np.array_equal(read(pixels, PRESETS["caffe"])[0], channels[:, ::-1] - means)


def test_grey_images_of_16_bits_do_not_saturate_to_white(folder: Path):
    """They were cut to 8 bits: all but the darkest became white."""
    depth = np.linspace(0, 0xFFFF, SIZE * SIZE).astype(np.uint16).reshape(SIZE, SIZE)
    got, said = read(depth)
    assert np.abs(got[0] - depth / 0xFFFF).max() < 1e-6
    assert "images: 1 16-bit grey as RGB" in said


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("L", "1 L as RGB"),
        ("P", "1 P as RGB"),
        ("RGBA", "1 RGBA as RGB, alpha dropped"),
        ("LA", "1 LA as RGB, alpha dropped"),
        ("1", "1 1 as RGB"),
    ],
)
def test_what_images_are_decoded_from_is_said(mode: str, says: str, folder: Path):
    image = Image.fromarray(gradient(SIZE, SIZE)).convert(mode)
    expected = np.asarray(image.convert("RGB"), np.float32).transpose(2, 0, 1) / 255
    got, said = read(image)
    assert np.array_equal(got[0], expected)
    assert f"images: {says};" in said


def test_a_transparent_palette(folder: Path):
    image = Image.fromarray(gradient(SIZE, SIZE)).convert("P")
    image.info["transparency"] = bytes(range(256))
    assert (
        "images: 1 RGBA as RGB, alpha dropped" in read(image)[1] or "transparency dropped" in read(image)[1]
    )


def test_colours_for_a_grey_model_are_said(folder: Path):
    grey = Input("x", (1, 1, SIZE, SIZE), np.dtype(np.float32))
    got, said = read(gradient(SIZE, SIZE), entry=grey)
    expected = np.asarray(Image.fromarray(gradient(SIZE, SIZE)).convert("L"), np.float32) / 255
    assert np.array_equal(got[0, 0], expected)
    assert "images: 1 RGB as L" in said


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            "--mean 123.675,116.28,103.53 --std 58.395,57.12,57.375",
            "does not fit pixels of 0 to 1; divide mean and",
        ),
        (
            "--preprocess imagnet",
            "there is no preprocessing 'imagnet'; choose from imagenet, tf, unit, bytes, caffe",
        ),
        ("--preprocess none.toml", "cannot read 'none.toml', no such file"),
        ("--preprocess bad.toml", "'bad.toml' is not a TOML file"),
        ("--preprocess key.toml", "'key.toml' has the key 'means'; its keys are mean, std, range"),
        ("--preprocess type.toml", "'type.toml': resize is \"256\""),
        ("--crop 18", "--crop 18 does not give the model's 16x16"),
        ("--resize 8", "is 8x8 before 16x16 are cut out of it; give a larger --resize"),
        ("--layout NHWC", "input 'x' has 16 channels in layout NHWC"),
    ],
)
@pytest.mark.parametrize(
    "command", ["quantize m.onnx -o never.onnx", "compare m.onnx m.onnx", "bench m.onnx"]
)
def test_what_cannot_be_meant_is_refused_in_one_line(
    command: str, words: str, says: str, folder: Path, capsys: pytest.CaptureFixture[str]
):
    Path("bad.toml").write_text("mean = ")
    Path("key.toml").write_text("means = 0.5")
    Path("type.toml").write_text('resize = "256"')
    assert main([*command.split(), "--data", "images", *words.split()]) == 1
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1
    assert not Path("never.onnx").exists()


def test_a_file_of_preprocessing(folder: Path):
    Path("mine.toml").write_text(
        'mean = [0.5, 0.4, 0.3]\nstd = 0.2\nresize = 18\ncrop = 16\nbgr = true\nlayout = "NCHW"\nrange = 1\n'
    )
    expected = Preprocessing((0.5, 0.4, 0.3), (0.2,), 1, 18, 16, bgr=True, layout="NCHW")
    assert named("mine.toml") == expected
    assert from_text(expected.as_text(), "the test") == expected
    with pytest.raises(UserError, match="stated in the test cannot be read"):
        from_text("mean", "the test")


def test_what_was_done_is_kept_and_done_again(folder: Path, capsys: pytest.CaptureFixture[str]):
    words = ["--preprocess", "imagenet", "--std", "0.25", "--save-profile", "p"]
    assert main(["quantize", "m.onnx", "--data", "images", "-o", "q.onnx", *words]) == 0
    said = capsys.readouterr().err
    line = next(line for line in said.splitlines() if line.startswith("data: "))
    assert "12 samples of 12 files; images: 12 RGB; 12 resized and cut from 20x20 to 20x24 to 16x16" in line
    assert "std 0.25 of pixels of 0 to 1" in line
    text = {one.key: one.value for one in onnx.load("q.onnx").metadata_props}[KEY]
    assert from_text(text, "q") == Preprocessing(PRESETS["imagenet"].mean, (0.25,), ratio=0.875)
    assert load_profile("p").preprocessing == text
    for command in ("compare m.onnx q.onnx", "bench m.onnx q.onnx", "quantize m.onnx -o r.onnx --profile p"):
        assert main([*command.split(), "--data", "images"]) == 0
        where = "'p'" if "--profile" in command else "'q.onnx'"
        out = "".join(capsys.readouterr())
        assert f"mean 0.485,0.456,0.406, std 0.25 of pixels of 0 to 1 (as stated in {where})" in out
    assert (
        main(["quantize", "m.onnx", "-o", "r.onnx", "--profile", "p", "--data", "images", "--mean", "0"]) == 1
    )
    assert "give the same options of images" in capsys.readouterr().err


def test_what_a_file_states_of_images_leaves_arrays_alone(folder: Path, capsys: pytest.CaptureFixture[str]):
    """They were refused, as if the options had been given beside them."""
    assert main(["quantize", "m.onnx", "--data", "images", "-o", "q.onnx", "--preprocess", "tf"]) == 0
    np.savez("x.npz", x=np.zeros((9, 3, SIZE, SIZE), np.float32))
    for command in (
        "compare m.onnx q.onnx --layers",
        "bench m.onnx q.onnx --profile",
        "compile q.onnx -o r.onnx",
    ):
        assert main([*command.split(), "--data", "x.npz"]) == 0
    report = ["compile", "q.onnx", "-o", "r.onnx", "--report", "r.json", "--data", "x.npz"]
    assert main(report) == 0


def test_an_open_size_is_asked_for(folder: Path):
    open_size = Input("x", (None, 3, None, None), np.dtype(np.float32))
    with pytest.raises(UserError, match="takes images of any size, so the preset does not say which"):
        read(gradient(), PRESETS["imagenet"], open_size)
    cut = Preprocessing(ratio=0.875, crop=14)
    assert read(gradient(), cut, open_size)[0].shape == (1, 3, 14, 14)


def test_two_folders_are_both_read_and_hidden_files_left_out(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    Path("more/.git").mkdir(parents=True)
    Image.fromarray(gradient()).save("more/a.png")
    for name in ("more/._a.png", "more/.git/b.png", "more/Thumbs.db"):
        Path(name).write_bytes(b"no image")
    assert main(["compare", "m.onnx", "m.onnx", "--data", "images", "--data", "more"]) == 0
    said = capsys.readouterr().out
    assert "data: 13 samples of 13 files" in said
    assert "2 hidden files left out; 1 file of other kinds left out" in said


def test_arrays_beside_images_are_fed_as_they_are(folder: Path, capsys: pytest.CaptureFixture[str]):
    np.save("images/more.npy", np.zeros((2, 3, SIZE, SIZE), np.float32))
    assert main(["compare", "m.onnx", "m.onnx", "--data", "images", "--mean", "0.5"]) == 0
    said = capsys.readouterr().out
    assert "data: 14 samples of 13 files" in said
    assert "1 file of arrays fed as they are" in said


def test_a_batch_is_made_of_several_images(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["bench", "m.onnx", "--data", "images", "--batch", "5"]) == 0
    assert "data: 5 samples of 5 files" in capsys.readouterr().out
    assert main(["bench", "m.onnx", "--data", "images", "--batch", "13"]) == 1
    assert "the data has fewer than 13 samples" in capsys.readouterr().err


def test_images_for_an_integer_input_are_quantized_as_it_states(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    words = ["--data", "images", "--preprocess", "tf"]
    assert main(["quantize", "m.onnx", "-o", "q.onnx", "--integer-io", "--form", "qdq", *words]) == 0
    assert main(["compare", "q.onnx", "m.onnx", "--data", "images"]) == 0
    assert "verdict: close" in capsys.readouterr().out


def test_what_does_not_fit_is_refused_by_the_api(folder: Path):
    import qdialect

    with pytest.raises(UserError, match="mean applies to image files only"):
        qdialect.quantize("m.onnx", [{"x": np.zeros((1, 3, SIZE, SIZE), np.float32)}], mean=[0.5])
    with pytest.raises(UserError, match="does not fit pixels of 0 to 1"):
        qdialect.quantize("m.onnx", "images", mean=[123.0])
    assert (
        "pixels of 0 to 1 (no --mean" not in qdialect.quantize("m.onnx", "images", preprocess="imagenet").data
    )
