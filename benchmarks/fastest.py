"""
The default of `qdialect quantize` against the fastest that is to be had: everything in integers that has a kernel, and
onnxruntime's own static quantizer followed by `qdialect compile`.

    python benchmarks/fastest.py FOLDER [--only NAME ...] [--files default,...] [--batches 1,8] [--again] [--json FILE]

Models are written to FOLDER once and kept; `--again` writes those of qdialect anew. Times are of
the thread's processor, medians of runs in turn; SQNR is against the float model, on samples that no quantizer saw.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from architectures.quantizers import onnxruntime_static
from speed import sqnr
from zoo import ARCHITECTURES, in_turn, network, session

VISION = (
    "mnasnet",
    "mobilenet",
    "ghostnet",
    "hrnet",
    "res2net",
    "se_resnet",
    "xception",
    "repvgg",
    "fast_scnn",
)
OURS = {
    "default": (),
    "batch 1": ("--batch", "1"),
    "batch 8": ("--batch", "8"),
}
"""Options of `quantize`, by the name of what it writes."""
PEERS = {"u8s8": False, "s8s8": True}
"""onnxruntime's quantizer with signed activations or not."""
SAMPLES = 64


def qdialect(*arguments: str | Path) -> str:
    """What a command prints. Raises RuntimeError with its message."""
    command = [sys.executable, "-m", "qdialect.cli", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-300:])
    return done.stdout


def written(name: str, kind: str, folder: Path, again: bool) -> Path:
    """The model of an architecture, in float or as one of the ways writes it."""
    path, plain, data = (folder / f"{name}--{end}" for end in (f"{kind}.onnx", "float.onnx", "data.npz"))
    if path.exists() and (kind in PEERS or kind == "float" or not again):
        return path
    net, model = network(name, kind == "float")
    if kind == "float":
        onnx.save(model, str(path))
        np.savez(data, **net.feed(SAMPLES, 1))  # pyright: ignore[reportArgumentType]
    elif kind in PEERS:
        feeds = [
            {key: value[k : k + 8] for key, value in np.load(data).items()} for k in range(0, SAMPLES, 8)
        ]
        between = path.with_suffix(".qdq.onnx")
        onnxruntime_static(plain, feeds, between, "QDQ", PEERS[kind])
        qdialect("compile", between, "-o", path, "--quiet")
        between.unlink()
    elif kind == "all":
        between = path.with_suffix(".qdq.onnx")
        qdialect("quantize", plain, "--data", data, "-o", between, "--form", "qdq", "--quiet")
        qdialect("compile", between, "-o", path, "--quiet")
        between.unlink()
    else:
        qdialect("quantize", plain, "--data", data, "-o", path, "--quiet", *OURS[kind])
    return path


def measured(
    name: str, kinds: Sequence[str], batches: Sequence[int], folder: Path, again: bool
) -> dict[str, Any]:
    """Microseconds of each file by batch, and dB, by kind."""
    sessions = {kind: session(written(name, kind, folder, again)) for kind in kinds}
    net, _ = network(name, True)
    row: dict[str, Any] = {"model": name, "times": {}}
    for batch in batches:
        times = in_turn(list(sessions.values()), net.feed(batch, 99), 1)
        row["times"][batch] = dict(zip(sessions, times, strict=True))
    feed = net.feed(32, 98)
    expected = sessions["float"].run(None, feed)
    row["db"] = {kind: sqnr(expected, each.run(None, feed)) for kind, each in sessions.items()}
    return row


def main() -> int:
    """Measure each, print a row of it for each batch."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=VISION, choices=ARCHITECTURES, metavar="NAME")
    parser.add_argument("--files", default="default,all,u8s8,s8s8")
    parser.add_argument("--batches", default="1,8")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    kinds = ["float", *args.files.split(",")]
    batches, rows = [int(each) for each in args.batches.split(",")], list[dict[str, Any]]()
    print(f"{'':20}{'float':>10}" + "".join(f"{kind:>18}" for kind in kinds[1:]))
    for name in args.only:
        rows.append(row := measured(name, kinds, batches, args.folder, args.again))
        for batch in batches:
            times = row["times"][batch]
            cells = "".join(f"{times['float'] / times[k]:9.2f}x{row['db'][k]:5.1f} dB" for k in kinds[1:])
            print(f"{name:16}{batch:4}{times['float']:7.0f} us{cells}", flush=True)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
