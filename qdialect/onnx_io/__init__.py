"""Importer and exporter of ONNX models; shape inference; opset conversion."""
