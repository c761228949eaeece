"""Printer and parser of modules, and upstream MLIR's text."""
