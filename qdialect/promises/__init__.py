"""
Promises: op interfaces (traits) that state how each operator behaves under quantization, one file per family.

A pass queries an operation for its promise and never lists operations by name: a new op is one entry in one table here,
and every pass handles it.
"""
