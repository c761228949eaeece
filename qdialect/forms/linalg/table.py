"""The forms in linalg, by operation."""

from qdialect.forms.linalg.dynamic import DYNAMIC_FORMS
from qdialect.forms.linalg.elementwise import ELEMENTWISE_FORMS
from qdialect.forms.linalg.moves import MOVING_FORMS
from qdialect.forms.linalg.normalizations import NORMALIZING_FORMS
from qdialect.forms.linalg.products import PRODUCT_FORMS
from qdialect.forms.linalg.reductions import REDUCING_FORMS
from qdialect.forms.linalg.site import LinalgForm
from qdialect.forms.linalg.windows import WINDOW_FORMS

LINALG_FORMS: dict[tuple[str, str], LinalgForm] = {
    **DYNAMIC_FORMS,
    **ELEMENTWISE_FORMS,
    **MOVING_FORMS,
    **NORMALIZING_FORMS,
    **PRODUCT_FORMS,
    **REDUCING_FORMS,
    **WINDOW_FORMS,
}
"""linalg forms by domain and name of ONNX operators, by dialect and name of other ops."""
