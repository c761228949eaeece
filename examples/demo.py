"""`make demo`: compile the trained int8 model beside this file and show what changed."""

import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime as ort

from qdialect.measuring.timing import alternate

Pixels = npt.NDArray[np.float32]

HERE = Path(__file__).parent
MODEL = HERE / "digits_qdq.onnx"
INTEGER = re.compile(r"QLinearConv|QLinearMatMul|QGemm|ConvInteger|MatMulInteger(ToFloat)?")
FLOAT = re.compile(r"(Fused|Nhwc)?(Conv|Gemm|MatMul)")
CAST = re.compile(r"(Q|Deq)uantizeLinear")

PASSES = "sink-dequantize,fuse-quantized,fold-casts"
IR = """\
func.func @main(%0: tensor<2x4x8x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x8x4x!quant.uniform<i8:f32, 0.5>> {
  %1 = quant.dcast %0 : tensor<2x4x8x!quant.uniform<i8:f32, 0.5>> to tensor<2x4x8xf32>
  %2 = onnx.Transpose(%1) {perm = array<i64: 0, 2, 1>} : (tensor<2x4x8xf32>) -> tensor<2x8x4xf32>
  %3 = onnx.Relu(%2) : (tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %4 = quant.qcast %3 : tensor<2x8x4xf32> to tensor<2x8x4x!quant.uniform<i8:f32, 0.5>>
  func.return %4 : tensor<2x8x4x!quant.uniform<i8:f32, 0.5>>
}
"""


def run(module: str, *arguments: str | Path, text: str = "") -> str:
    """Run one of our commands as a user would; its standard output."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{module}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def session(path: Path, dump: Path | None = None) -> Any:
    """onnxruntime on one thread, as optimized as it can; `dump` receives the graph that it made."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    if dump:
        options.optimized_model_filepath = str(dump)
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def kernels(path: Path, folder: Path) -> Counter[str]:
    """How often each op occurs in the graph that onnxruntime would run."""
    session(path, dump := folder / "optimized.onnx")
    return Counter(node.op_type for node in onnx.load(dump).graph.node)


def count(ops: Counter[str], pattern: re.Pattern[str]) -> int:
    return sum(n for op, n in ops.items() if pattern.fullmatch(op))


def accuracy(model: Any, pixels: Pixels, labels: npt.NDArray[np.uint8]) -> float:
    (logits,) = model.run(None, {"pixels": pixels})
    return float((logits.argmax(1) == labels).mean())


def latencies(models: Sequence[Any], pixels: Pixels) -> list[float]:
    """Median milliseconds of each model, run in turn as `qdialect bench` does."""
    runs = [partial(model.run, None, {"pixels": pixels}) for model in models]
    return [1000 * statistics.median(seconds) for seconds in alternate(runs, seconds=1)]


def main() -> None:
    pixels: Pixels = np.load(HERE / "digits_test.npz")["pixels"]
    labels = np.load(HERE / "digits_labels.npy")
    with tempfile.TemporaryDirectory() as name:
        paths = [MODEL, Path(name) / "digits_int8.onnx"]
        start = time.perf_counter()
        run("qdialect.cli", "compile", MODEL, "-o", paths[1], "--quiet")
        seconds = time.perf_counter() - start
        print(f"\n$ qdialect compile {MODEL.name} -o {paths[1].name}     # {seconds:.1f} s\n")
        ops = [kernels(path, Path(name)) for path in paths]
        models = [session(path) for path in paths]
        one, many = latencies(models, pixels[:1]), latencies(models, pixels[:32])
        rows: list[tuple[str, list[str]]] = [
            ("Conv, Gemm, MatMul in integers", [f"{count(o, INTEGER)}" for o in ops]),
            ("Conv, Gemm, MatMul in float", [f"{count(o, FLOAT)}" for o in ops]),
            ("quantize, dequantize", [f"{count(o, CAST)}" for o in ops]),
            (f"accuracy, {len(labels)} test images", [f"{accuracy(m, pixels, labels):.4f}" for m in models]),
            ("1 image, 1 thread", [f"{t:.3f} ms" for t in one] + [f"{one[0] / one[1]:.1f}x"]),
            ("32 images, 1 thread", [f"{t:.3f} ms" for t in many] + [f"{many[0] / many[1]:.1f}x"]),
            ("file", [f"{path.stat().st_size / 1000:.0f} kB" for path in paths]),
        ]
    print(f"{'in onnxruntime ' + ort.__version__:34}{'before':>10}{'after':>12}")
    for title, cells in rows:
        print(f"{title:34}{cells[0]:>10}{cells[1]:>12}{''.join(cells[2:]):>8}".rstrip())
    print(f"\n$ cat example.mlir\n{IR}\n$ qdialect-opt example.mlir -p {PASSES}")
    print(run("qdialect.cli.opt", "-", "-p", PASSES, text=IR))


if __name__ == "__main__":
    main()
