"""
Run an IREE module on all rows of a file, in an interpreter that has `iree.runtime`.

    python iree_worker.py MODULE.vmfb INPUTS.npz OUTPUTS.npz ROWS COUNT

INPUTS.npz holds input q of row k as `k.q`; OUTPUTS.npz gets outputs likewise.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np


def main(module: str, source: str, target: str, rows: int, count: int) -> None:
    """Write what the module gives for each row."""
    runtime: Any = import_module("iree.runtime")  # of another environment than what checks this file
    context = runtime.SystemContext(config=runtime.Config("local-sync"))
    context.add_vm_module(runtime.VmModule.copy_buffer(context.instance, Path(module).read_bytes()))
    function = context.modules.module["main"]
    feeds, results = np.load(source), dict[str, Any]()
    for k in range(rows):
        outputs = function(*(feeds[f"{k}.{q}"] for q in range(count)))
        for q, one in enumerate(outputs if isinstance(outputs, list | tuple) else [outputs]):
            results[f"{k}.{q}"] = np.array(one.to_host())  # copied: the view does not keep what it looks at
    np.savez(target, allow_pickle=False, **results)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
