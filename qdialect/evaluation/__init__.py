"""The oracle: modules, and constants, evaluated in sessions of onnxruntime with optimization off."""
