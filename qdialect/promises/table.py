"""The promises of every operator, merged from the tables of all families."""

from __future__ import annotations

from collections.abc import Mapping

from qdialect.promises.affine import AFFINE, FACTORS, STATISTICS
from qdialect.promises.arithmetic import ARITHMETIC
from qdialect.promises.base import Promise
from qdialect.promises.casts import CASTS
from qdialect.promises.clamping import CLAMPS, KEEPS
from qdialect.promises.control import CONTROL
from qdialect.promises.copies import COPIES
from qdialect.promises.defaults import DEFAULTS, MEANINGS, RESULTS_APART
from qdialect.promises.elementwise import ELEMENTWISE, JOINS, OPERATIONS, RESULTS
from qdialect.promises.kernels import KERNELS
from qdialect.promises.layout import FILLING, LAYOUT, MOVES
from qdialect.promises.linear import INTEGERS, LINEAR, ZERO_POINTS
from qdialect.promises.monotone import MONOTONE, REDUCES
from qdialect.promises.padding import PADDING
from qdialect.promises.qoperator import QOPERATORS
from qdialect.promises.ranges import RANGES
from qdialect.promises.resizing import INTERPOLATES
from qdialect.promises.rows import ROWS
from qdialect.promises.shapes import DOUBTFUL, LOSES_SIZES, SHAPED, UNINFERRED
from qdialect.promises.sizes import COUNTS, FILLED, SHAPES
from qdialect.promises.typed import TYPED
from qdialect.promises.views import VIEWS
from qdialect.promises.weight_only import ADDS_ROW, COLUMNS, WEIGHT_ONLY
from qdialect.promises.window import WINDOWS
from qdialect.promises.work import WORK

TABLES: tuple[Mapping[tuple[str, str], Promise], ...] = (
    OPERATIONS,
    AFFINE,
    ARITHMETIC,
    CASTS,
    JOINS,
    RESULTS,
    RANGES,
    LAYOUT,
    MOVES,
    TYPED,
    VIEWS,
    COPIES,
    INTERPOLATES,
    COUNTS,
    DEFAULTS,
    RESULTS_APART,
    MEANINGS,
    SHAPED,
    UNINFERRED,
    DOUBTFUL,
    LOSES_SIZES,
    SHAPES,
    FILLED,
    FILLING,
    CONTROL,
    MONOTONE,
    REDUCES,
    CLAMPS,
    KEEPS,
    LINEAR,
    WINDOWS,
    PADDING,
    KERNELS,
    INTEGERS,
    QOPERATORS,
    FACTORS,
    STATISTICS,
    WEIGHT_ONLY,
    COLUMNS,
    ADDS_ROW,
    ROWS,
    ELEMENTWISE,
    WORK,
    ZERO_POINTS,
)


def promises_of(domain: str, name: str) -> tuple[Promise, ...]:
    """The promises of an operator."""
    key = (domain, name)
    return tuple(table[key] for table in TABLES if key in table)
