"""
The forms of a convolution: what shape each needs, how it transforms the weight, and which ops it builds.

Each form is a module with a function that lists the `Step`s which a convolution allows; `search.py` finds those that
cost least together, by what was measured on the target.
"""
