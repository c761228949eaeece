"""
What the algorithms of `quantize` are worth, and whether a noise budget tells the truth.

    python benchmarks/quantization.py MODEL.onnx CALIBRATION.npz TEST.npz [MODEL.onnx ...]

For each float model, two files: by default, and rounded to nearest with the smallest and largest value as range. Signal
to noise of both against the float model, on the samples of TEST.npz (64 at most), which none of them was made from; of
a classifier, whose noise may be that of one undecided sample, besides at a temperature at which no sample is sure; the
seconds of processor time that the first took; and of its noise budget, what the shares of the layers add up to beside
what is measured of the file, on samples that judge. Status 1 if the mean gain is below 1 dB, if a model is worse by
default than rounded to nearest (a classifier: in both measures), or if less than 80 % of the budgets are within 10 % of
the measured noise.
"""

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

import qdialect
from qdialect.measuring.runner import Runner
from qdialect.quantizer.search.judging import AS_THEY_ARE, decided, output_decisive_tensors, softened
from qdialect.quantizer.statistics.samples import measure_noise

LEAST_GAIN, SAME, BUDGETS, NEAR = 1.0, -0.05, 0.8, 0.1
"""In dB on average, and of one model, beyond what is printed; the part of budgets that hold, and how well."""
SAMPLES = 64


@dataclass
class Row:
    """One model."""

    name: str
    default: float
    """Signal to noise in dB."""
    nearest: float
    softened: float
    """What the default is better in dB where no sample is sure; of other models as it is."""
    seconds: float
    budget: float | None
    """The noise that shares add up to, of that measured."""

    @property
    def gain(self) -> float:
        """What the default is better, in dB; 0 where both stay in float."""
        return _gain(self.default, self.nearest)

    def __str__(self) -> str:
        shares = "" if self.budget is None else f"   shares / measured {self.budget:.2f}"
        line = f"{self.name:30s} {self.default:6.1f} dB, nearest {self.nearest:6.1f} dB, {self.gain:+5.1f} dB"
        soft = "" if self.softened == self.gain else f" (softened {self.softened:+.1f} dB)"
        return f"{line}{soft}   {self.seconds:6.1f} s{shares}"


def _gain(default: float, nearest: float) -> float:
    return 0.0 if default == nearest else default - nearest


Outputs = list[list[npt.NDArray[Any]]]


def outputs(path: str, test: str, module: ModuleOp, places: frozenset[int]) -> Outputs:
    """Of the first samples of the test data, as onnxruntime runs a module of a model, with what decides let out."""
    model = qdialect.to_model(output_decisive_tensors(module.clone(), places)).SerializeToString()
    runner = Runner(path, optimize=True, threads=1, model=model)
    result: Outputs = []
    for feed in runner.feeds(test):
        result.append([np.asarray(a) for a in runner.run(feed)])
        if sum(row[0].shape[0] if row[0].ndim else 1 for row in result) >= SAMPLES:
            break
    return result


def measure(model: str, calibration: str, test: str) -> Row:
    """Quantize one model in both ways."""
    original = qdialect.load(model)
    ratios: list[float] = []
    soft: list[float] = []
    start = time.process_time()
    done = qdialect.quantize(model, calibration, budget=True)
    seconds = time.process_time() - start
    nearest = qdialect.quantize(model, calibration, range="minmax", rounding="nearest")
    if nearest.floating and not done.floating:  # a form that is asked for is not given up for the float model
        nearest = qdialect.quantize(model, calibration, range="minmax", rounding="nearest", form="qoperator")
    for one in done, nearest:
        for places, row in (AS_THEY_ARE, ratios), (decided(original) & decided(one.module), soft):
            expected, actual = (outputs(model, test, module, places) for module in (original, one.module))
            row.append(measure_noise(*softened(expected, actual, places)).ratio())
    budget = done.budget
    part = None if budget is None else 10 ** ((budget.measured - budget.shares) / 10)
    return Row(Path(model).parent.name or model, ratios[0], ratios[1], _gain(*soft), seconds, part)


def main() -> int:
    """Prints a row for each model."""
    words = sys.argv[1:]
    if not words or len(words) % 3:
        sys.exit(__doc__)
    rows: list[Row] = []
    for k in range(0, len(words), 3):
        rows.append(measure(*words[k : k + 3]))
        print(rows[-1], flush=True)
    gains, budgets = [row.gain for row in rows], [row.budget for row in rows if row.budget is not None]
    near = sum(abs(part - 1) <= NEAR for part in budgets)
    mean, least = float(np.mean(gains)), min(max(row.gain, row.softened) for row in rows)
    print(f"mean {mean:+.2f} dB, least {least:+.2f} dB; {near} of {len(budgets)} budgets within 10 %")
    return int(mean < LEAST_GAIN or least < SAME or near < BUDGETS * len(budgets))


if __name__ == "__main__":
    sys.exit(main())
