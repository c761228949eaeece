"""`forms.dynamic`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from qdialect.forms.dynamic import columns_in_8_bits
from qdialect.forms.nodes import Nodes
from qdialect.ir.values import constant_array


def test_a_column_of_zeros_has_the_scale_1():
    weight = np.array([[[0.5, -2.54, 1.0], [0, 0, 0]]], np.float32)
    stored, scales, zeros = (numbers_of(value) for value in columns_in_8_bits(weight, Nodes()))
    assert scales.tolist() == [[pytest.approx(0.02), 1.0]]
    assert stored.tolist() == [[[25, 0], [-127, 0], [50, 0]]]
    assert zeros.tolist() == [[0, 0]]


def test_columns_of_no_rows_have_a_scale_each():
    stored, scales, zeros = (
        numbers_of(value) for value in columns_in_8_bits(np.zeros((1, 8, 0), np.float32), Nodes())
    )
    assert stored.shape == (1, 0, 8)
    assert scales.tolist() == [[1.0] * 8]
    assert zeros.shape == (1, 8)


def numbers_of(value: Any) -> np.ndarray:
    array = constant_array(value)
    assert array is not None
    return array
