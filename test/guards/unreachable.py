"""Guards that no module, model or call reaches today, each with what stands before it."""

UNREACHABLE = {
    "qdialect/upstream/linalg/windows.py:_geometry UNRESOLVED_PADS": "the sweep asks for all sizes first",
    "qdialect/forms/storage.py:_clip COMPUTED_BOUND": "the promise is asked first, and moves no cast past such a Clip",
}
"""By place, as `guard_places` writes it. A test that reaches one fails the report, and so does a place that is gone."""
