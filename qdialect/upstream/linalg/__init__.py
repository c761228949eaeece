"""Ops as linalg on tensors, by `lower-to-linalg`."""
