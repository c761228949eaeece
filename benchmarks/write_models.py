"""
Write the models to measure with: one of each, the large ones small.

    python benchmarks/write_models.py FOLDER
"""

import sys
from pathlib import Path

from models.catalog import write_all

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python benchmarks/write_models.py FOLDER")
    write_all(Path(sys.argv[1]))
