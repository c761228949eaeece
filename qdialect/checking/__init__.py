"""Whether a pass keeps the numbers: the oracle form before it against the same after it, by its class of exactness."""
