"""The forms in TOSA's integer profile, by operator."""

from qdialect.upstream.tosa.elementwise import ELEMENTWISE_FORMS
from qdialect.upstream.tosa.images import IMAGE_FORMS
from qdialect.upstream.tosa.layout import MOVE_FORMS
from qdialect.upstream.tosa.normalizations import NORMALIZING_FORMS
from qdialect.upstream.tosa.pools import POOL_FORMS
from qdialect.upstream.tosa.site import TosaForm
from qdialect.upstream.tosa.sums import SUM_FORMS

TOSA_FORMS: dict[tuple[str, str], TosaForm] = {
    **ELEMENTWISE_FORMS,
    **IMAGE_FORMS,
    **MOVE_FORMS,
    **NORMALIZING_FORMS,
    **POOL_FORMS,
    **SUM_FORMS,
}
