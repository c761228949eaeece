"""Guards that no module, model or call reaches today, each with what stands before it."""

UNREACHABLE = {
    "qdialect/forms/linalg/windows.py:_geometry UNRESOLVED_PADS": "the sweep asks for all sizes first",
    "qdialect/forms/storage.py:_clip COMPUTED_BOUND": "the promise is asked first, and moves no cast past such a Clip",
    "qdialect/patterns/convolution/product.py:product_guard no-kernel": "every target with costs has the kernel",
    "transforms/fold_scales.py:_scaled no-bias": "a product has no bias, and a factor alone makes none",
    "transforms/lower_to_qoperator.py:_bias_guard no-bias": "every kernel of an op with a bias takes one",
}
"""By place, as `guard_places` writes it. A test that reaches one fails the report, and so does a place that is gone."""
