"""What holds for every test: what the commands do to be fast, and tests do not call the whole command."""

import gc
import os

# Numpy's BLAS would start a thread for each core in each of pytest's processes, and these wait for each other in a
# loop. Set here, before anything imports numpy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def pytest_configure() -> None:
    """Hold each reason that a pass gives against those that it declares."""
    from declared_reasons import install

    install()


def pytest_collection_finish() -> None:
    """Leave what was imported and collected out of every search for garbage, and search less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
