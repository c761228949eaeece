"""Upstream MLIR out: each op as linalg on tensors or as TOSA, the checks of both, and binaries of IREE."""
