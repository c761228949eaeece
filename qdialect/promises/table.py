"""The promises of every operator, merged from the tables of all families."""

from __future__ import annotations

from collections.abc import Mapping

from qdialect.promises.affine import AFFINE
from qdialect.promises.arithmetic import ARITHMETIC
from qdialect.promises.base import Promise
from qdialect.promises.casts import CASTS
from qdialect.promises.clamping import CLAMPS, KEEPS
from qdialect.promises.control import CONTROL
from qdialect.promises.copies import COPIES
from qdialect.promises.defaults import ALL_RESULTS, DEFAULTS, NUMBERS
from qdialect.promises.elementwise import ELEMENTWISE
from qdialect.promises.filling import FILLING
from qdialect.promises.homogeneous import HOMOGENEOUS, SCALED
from qdialect.promises.integer import INTEGER_PRODUCTS, INTEGER_SUMS
from qdialect.promises.joins import ADDITIONS, JOINS, PRODUCTS, RANGES
from qdialect.promises.kernels import KERNELS
from qdialect.promises.layout import CUTS, LAYOUT, PERMUTES, SIZES
from qdialect.promises.linear import LINEAR
from qdialect.promises.monotone import MONOTONE, REDUCES
from qdialect.promises.padding import PADDING
from qdialect.promises.qoperator import QOPERATORS
from qdialect.promises.recurrent import HIDDEN_STATES
from qdialect.promises.resizing import INTERPOLATES
from qdialect.promises.rows import ROWS
from qdialect.promises.shapes import KEEPS_TYPE, LOSES_SIZES, SHAPED
from qdialect.promises.sizes import COUNTS, FILLS, SHAPES, TAKES_SIZES
from qdialect.promises.undefined import UNDEFINED
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
