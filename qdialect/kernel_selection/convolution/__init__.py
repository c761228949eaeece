"""
Forms of convolutions: the shapes that each applies to, its transform of the weight, and the ops that it builds.

Each form is a module with a function that lists the `ConvolutionStep`s which a convolution allows; `search.py` finds
the plan of least cost on the target.
"""
