"""The search for the best quantized model: candidates, built and compared on held-out samples."""
