"""
The forms of each op, by kind: ONNX operators by domain and name, other ops by dialect and name.

Forms in upstream MLIR are in tables of their own, `upstream/linalg` and `upstream/tosa`.
"""

from __future__ import annotations

from functools import cache
from typing import TypeVar

from xdsl.ir import Operation

from qdialect.forms.arithmetic import ARITHMETIC
from qdialect.forms.base import Form, form_key
from qdialect.forms.composition import COMPOSITIONS, DECOMPOSITIONS
from qdialect.forms.contrib_ops import FOREIGN
from qdialect.forms.dynamic import AT_RUN_TIME, DYNAMIC_RECURRENT
from qdialect.forms.elementary import ELEMENTARY
from qdialect.forms.equations import EQUATIONS
from qdialect.forms.exact_equivalents import SIZED, SPELLED
from qdialect.forms.fused import FUSED
from qdialect.forms.gathered import GATHERED
from qdialect.forms.kernel_substitutes import CONVOLUTIONS, REWRITTEN
from qdialect.forms.pixels import PIXEL_FORMS
from qdialect.forms.pointwise import POINTWISE
from qdialect.forms.quantized_attention import QUANTIZED_ATTENTION
from qdialect.forms.recurrent import RECURRENT
from qdialect.forms.storage import STORAGE_FORMS, STORAGE_READINGS

TABLES = (
    COMPOSITIONS,
    DECOMPOSITIONS,
    EQUATIONS,
    ELEMENTARY,
    RECURRENT,
    DYNAMIC_RECURRENT,
    AT_RUN_TIME,
    FOREIGN,
    FUSED,
    GATHERED,
    QUANTIZED_ATTENTION,
    REWRITTEN,
    CONVOLUTIONS,
    POINTWISE,
    SIZED,
    SPELLED,
    STORAGE_FORMS,
    PIXEL_FORMS,
    STORAGE_READINGS,
    ARITHMETIC,
)

FormT = TypeVar("FormT", bound=Form)


@cache
def form_of(op_class: type[Operation], kind: type[FormT]) -> FormT | None:
    """The form of class `kind` for operations of a class; None if they have none."""
    key = form_key(op_class)
    forms = (table.get(key) for table in TABLES)
    return next((form for form in forms if isinstance(form, kind)), None)
