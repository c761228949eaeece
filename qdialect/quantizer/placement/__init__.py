"""Where quantization pays: a minimum cut of the graph by the target's costs."""
