"""`qdialect targets`: what can be compiled for."""

import argparse

from qdialect.cli.status import DONE
from qdialect.targets import FOLDER, target, target_names


def run(_: argparse.Namespace) -> int:
    for name in target_names():
        print(f"{name:<16} {target(name).summary:<75} {FOLDER / f'{name}.toml'}")
    return DONE
