"""`qdialect targets`: lists the targets; with --calibrate, measures kernel costs on this machine."""

import argparse
import sys

from qdialect.cli.arguments import DEFAULT_CALIBRATION_RUNS
from qdialect.cli.display import progress, table
from qdialect.cli.status import DONE
from qdialect.files import Outputs
from qdialect.targets import FOLDER, target, target_names

CALIBRATED = "onnxruntime"
"""The target whose kernels are measured."""


def run(arguments: argparse.Namespace) -> int:
    """Lists the targets, or writes the costs of this machine."""
    if arguments.calibrate:
        return _calibrate(arguments.output, arguments.runs or DEFAULT_CALIBRATION_RUNS)
    rows = [(name, target(name).summary, str(FOLDER / f"{name}.toml")) for name in target_names()]
    print("\n".join(table(rows)))
    return DONE


def _calibrate(output: str | None, runs: int) -> int:
    from qdialect.measuring.machine import calibrate  # the list of targets needs no onnxruntime

    with Outputs() as outputs:
        file = None if output in (None, "-") else outputs.create(output)
        with progress() as show:
            done = calibrate(CALIBRATED, target(CALIBRATED).costs, runs, show=show)
        if file is None:
            sys.stdout.write(done.text())
        else:
            file.write(done.text().encode())
    return DONE
