"""The forms in TOSA's integer profile, by operator."""

from qdialect.forms.tosa.elementwise import ELEMENTWISE_FORMS
from qdialect.forms.tosa.images import IMAGE_FORMS
from qdialect.forms.tosa.moves import MOVE_FORMS
from qdialect.forms.tosa.normalizations import NORMALIZING_FORMS
from qdialect.forms.tosa.pools import POOL_FORMS
from qdialect.forms.tosa.site import TosaForm
from qdialect.forms.tosa.sums import SUM_FORMS

TOSA_FORMS: dict[tuple[str, str], TosaForm] = {
    **ELEMENTWISE_FORMS,
    **IMAGE_FORMS,
    **MOVE_FORMS,
    **NORMALIZING_FORMS,
    **POOL_FORMS,
    **SUM_FORMS,
}
