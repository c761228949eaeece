"""Lowering of operations to TOSA's integer profile."""
