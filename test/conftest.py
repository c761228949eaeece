"""What holds for every test."""

import os

# As in the commands: numpy's BLAS would start a thread for each core in each of pytest's processes, which then wait
# for each other in a loop. Set here, before anything imports numpy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
