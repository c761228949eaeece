"""The IR beyond dialects: names, walks, order, positions in blocks, constants and shapes of values."""
