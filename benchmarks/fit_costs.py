"""
Measure what kernels cost on this machine and fit the terms of the compiler's cost model to it.

    python benchmarks/fit_costs.py [--runs 31] [-o qdialect/targets/costs/onnxruntime.toml]
"""

from costs.kernels import main

if __name__ == "__main__":
    main()
