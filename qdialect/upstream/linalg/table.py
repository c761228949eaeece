"""The forms in linalg, by operation."""

from qdialect.upstream.linalg.dynamic import DYNAMIC_FORMS
from qdialect.upstream.linalg.elementwise import ELEMENTWISE_FORMS
from qdialect.upstream.linalg.layout import MOVING_FORMS
from qdialect.upstream.linalg.normalizations import NORMALIZING_FORMS
from qdialect.upstream.linalg.products import PRODUCT_FORMS
from qdialect.upstream.linalg.reductions import REDUCING_FORMS
from qdialect.upstream.linalg.site import LinalgForm
from qdialect.upstream.linalg.windows import WINDOW_FORMS

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
