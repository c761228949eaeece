"""The promises of every operator, merged from the tables of all families."""

from __future__ import annotations

from collections.abc import Mapping

from qdialect.promises.affine import AFFINE, HOMOGENEOUS, SCALED
from qdialect.promises.arithmetic import ARITHMETIC
from qdialect.promises.base import Promise
from qdialect.promises.casts import CASTS
from qdialect.promises.clamping import CLAMPS, KEEPS
from qdialect.promises.control import CONTROL
from qdialect.promises.copies import COPIES
from qdialect.promises.defaults import ALL_RESULTS, DEFAULTS, NUMBERS
from qdialect.promises.elementwise import ADDITIONS, ELEMENTWISE, JOINS, PRODUCTS, RANGES, UNDEFINED
from qdialect.promises.kernels import KERNELS
from qdialect.promises.layout import CUTS, FILLING, LAYOUT, PERMUTES, SIZES
from qdialect.promises.linear import INTEGER_PRODUCTS, INTEGER_SUMS, LINEAR
from qdialect.promises.monotone import MONOTONE, REDUCES
from qdialect.promises.padding import PADDING
from qdialect.promises.qoperator import QOPERATORS
from qdialect.promises.resizing import INTERPOLATES
from qdialect.promises.rows import ROWS
from qdialect.promises.shapes import HIDDEN_STATES, KEEPS_TYPE, LOSES_SIZES, SHAPED
from qdialect.promises.sizes import COUNTS, FILLS, SHAPES, TAKES_SIZES
from qdialect.promises.weight_only import ADDS_ROW, COLUMNS, WEIGHT_ONLY
from qdialect.promises.window import WINDOWS
from qdialect.promises.work import WORK

TABLES: tuple[Mapping[tuple[str, str], Promise], ...] = (
    ADDITIONS,
    AFFINE,
    ALL_RESULTS,
    ARITHMETIC,
    CASTS,
    JOINS,
    PRODUCTS,
    RANGES,
    LAYOUT,
    CUTS,
    COPIES,
    SIZES,
    INTERPOLATES,
    PERMUTES,
    COUNTS,
    DEFAULTS,
    NUMBERS,
    SHAPED,
    KEEPS_TYPE,
    LOSES_SIZES,
    SHAPES,
    TAKES_SIZES,
    FILLS,
    FILLING,
    CONTROL,
    MONOTONE,
    REDUCES,
    CLAMPS,
    KEEPS,
    UNDEFINED,
    LINEAR,
    WINDOWS,
    PADDING,
    KERNELS,
    INTEGER_PRODUCTS,
    INTEGER_SUMS,
    QOPERATORS,
    HOMOGENEOUS,
    SCALED,
    WEIGHT_ONLY,
    COLUMNS,
    ADDS_ROW,
    HIDDEN_STATES,
    ROWS,
    ELEMENTWISE,
    WORK,
)


def promises_of(domain: str, name: str) -> tuple[Promise, ...]:
    """The promises of an operator."""
    key = (domain, name)
    return tuple(table[key] for table in TABLES if key in table)
