"""
What each operation promises to quantization, stated once, one file per family.

A pass asks an operation for its promise and never lists operations by name: a new op is one entry in one table here,
and every pass knows it.
"""
