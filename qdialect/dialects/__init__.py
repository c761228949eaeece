"""The dialects `quant` and `tosa`, and the base class, types, attributes and verifier of the generated `onnx` ops."""
