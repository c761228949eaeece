"""The forms of each operator, by kind; of what is no operator of ONNX, by its dialect and name."""

from __future__ import annotations

from functools import cache
from typing import TypeVar

from xdsl.ir import Operation

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.forms.base import Form
from qdialect.forms.composition import COMPOSITIONS, DECOMPOSITIONS
from qdialect.forms.dynamic import AT_RUN_TIME
from qdialect.forms.foreign import FOREIGN
from qdialect.forms.linalg.table import LINALG_FORMS
from qdialect.forms.pixels import PIXEL_FORMS
from qdialect.forms.recurrent import RECURRENT
from qdialect.forms.rewritten import CONVOLUTIONS, REWRITTEN
from qdialect.forms.spelled import SPELLED
from qdialect.forms.storage import STORAGE_FORMS, STORAGE_READINGS
from qdialect.forms.tosa.table import TOSA_FORMS

TABLES = (
    COMPOSITIONS,
    DECOMPOSITIONS,
    RECURRENT,
    AT_RUN_TIME,
    FOREIGN,
    REWRITTEN,
    CONVOLUTIONS,
    SPELLED,
    STORAGE_FORMS,
    PIXEL_FORMS,
    STORAGE_READINGS,
    LINALG_FORMS,
    TOSA_FORMS,
)

FormT = TypeVar("FormT", bound=Form)


@cache
def form_of(op_class: type[Operation], kind: type[FormT]) -> FormT | None:
    """The form of a kind that operations of a class have; None if they have none."""
    schema = op_class.SCHEMA if issubclass(op_class, OnnxOp) else None
    dialect, _, name = op_class.name.partition(".")
    key = (dialect, name) if schema is None else (schema.domain, schema.name)
    forms = (table.get(key) for table in TABLES)
    return next((form for form in forms if isinstance(form, kind)), None)
