"""The reference of every pass: models in oracle form, run by onnxruntime with every optimization off."""
