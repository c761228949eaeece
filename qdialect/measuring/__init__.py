"""Measurement of model files: differences of outputs, noise by layer, run time, kernel costs."""
