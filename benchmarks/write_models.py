"""
Write the models to measure with: one of each, the large ones small.

    python benchmarks/write_models.py FOLDER
"""

import argparse
from pathlib import Path

from models.catalog import write_all

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().split("\n")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where they go")
    write_all(parser.parse_args().folder)
