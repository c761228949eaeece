"""
Models in upstream MLIR: what lowers, whether it computes what it must, how fast it is. Installs the tools it needs.

    python benchmarks/mlir.py linalg [MODEL.onnx ...] [--data FOLDER] [--speed] [--large]
    python benchmarks/mlir.py tosa [MODEL.onnx ...] [--data FOLDER] [--graphs 100] [--start 0]
    python benchmarks/mlir.py graphs [--count 5000] [--start 0] [--floats] [--jobs 1]

Tools get virtual environments of their own in `build/tools`; mlir-opt and mlir-runner are apt's `mlir-22-tools`.
"""

from __future__ import annotations

import argparse
import sys

from upstream import graphs, linalg, tosa

COMMANDS = {"linalg": linalg, "tosa": tosa, "graphs": graphs}
"""What takes the arguments behind its name: a module with `add_arguments` and `main`."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, module in COMMANDS.items():
        summary = (module.__doc__ or "").strip().split("\n")[0]
        module.add_arguments(commands.add_parser(name, help=summary, description=summary))
    options = parser.parse_args()
    return COMMANDS[options.command].main(options)


if __name__ == "__main__":
    sys.exit(main())
