"""Types, attributes and the base of every operation: the dialect `quant`, and what `onnx` is generated from."""
