"""`upstream.site`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import f32, i8

from qdialect.upstream.site import dense


def test_integers_are_signless_upstream_and_keep_their_bytes():
    for array, element in ((np.array([200, 7], np.uint8), i8), (np.array([1.5], np.float32), f32)):
        attribute = dense(array)
        assert attribute.type.get_element_type() == element
        assert attribute.data.data == array.tobytes()
