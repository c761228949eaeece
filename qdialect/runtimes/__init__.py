"""What the sessions of each runtime do with a model as they load it, apart from what quantization means."""
