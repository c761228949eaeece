"""
Statistics of a float model's tensors over samples. They are exact integers and extremes, so that a profile depends on
the values alone: not on their order, nor on how they were cut into batches, files or processes.
"""
