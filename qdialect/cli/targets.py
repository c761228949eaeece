"""`qdialect targets`: what can be compiled for."""

import argparse
from pathlib import Path

from qdialect.cli.status import DONE

FOLDER = Path(__file__).parents[1] / "targets"


def target_names() -> list[str]:
    """The targets, by the files that describe them."""
    return sorted(path.stem for path in FOLDER.glob("*.toml")) or [
        "generic",
        "onnxruntime",
        "openvino",
        "tensorrt",
    ]


def run(_: argparse.Namespace) -> int:
    import tomllib

    for name in target_names():
        path = FOLDER / f"{name}.toml"
        summary = tomllib.loads(path.read_text()).get("summary", "") if path.exists() else ""
        print(f"{name:<16} {summary:<75} {path}")
    return DONE
