"""Histograms that grow with what they count."""

import numpy as np
import pytest

from qdialect.quantizer.statistics.statistics import Statistics


@pytest.mark.parametrize("most", [2, 7, 64])
def test_a_coarse_histogram_counts_the_same_values(most: int):
    values = np.random.default_rng(4).normal(-1, 2, 5_000).astype(np.float32)
    statistics = Statistics()
    statistics.update(values)
    first, width, counts = statistics.coarse(most)
    assert most / 2 <= len(counts) <= most
    edges = first + width * np.arange(len(counts) + 1)
    assert counts == tuple(np.histogram(values, edges)[0])
    assert sum(counts) == values.size
    assert Statistics().coarse(most)[2] == ()
