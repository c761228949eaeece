"""Ops in the integer profile of TOSA, by `lower-to-tosa`."""
