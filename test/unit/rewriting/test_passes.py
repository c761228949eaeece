"""What passes declare: the reasons that they give, to which tests hold them."""

import pytest
from declared_reasons import UNMET, Undeclared, complaints, declared
from guard_cases import Case, parsed, text

from qdialect.report.explanations import entries
from qdialect.transforms import get_all_passes
from qdialect.transforms.fold_batch_norm import FoldBatchNormPass

EVERY = {(name, id) for name in get_all_passes() for id in declared(name) or ()}


def test_declared_reasons_have_entries():
    assert not {id for _, id in EVERY} - set(entries())


def test_a_reason_that_is_not_declared_fails_the_test_that_meets_it(monkeypatch: pytest.MonkeyPatch):
    second_consumer = Case("", "", """
        x: 1x2x5x3xf32
        w = [3.0, -5.0] : 1x2x1x1xf32
        k = [2.0] : f32
        m = Mul(x, k) : 1x2x5x3xf32
        c = Conv(m, w) : 1x1x5x3xf32
        y = Add(c, m) : 1x2x5x3xf32""")  # fmt: skip
    context, module = parsed(text(second_consumer))
    monkeypatch.setattr(FoldBatchNormPass, "reasons", "weight-axis")
    declared.cache_clear()
    with pytest.raises(Undeclared, match="`reasons` of the pass fold-batch-norm lacks 'second-consumer'"):
        FoldBatchNormPass().apply(context, module)
    declared.cache_clear()


def test_declared_reasons_that_no_test_meets_are_listed():
    assert complaints(EVERY - UNMET.keys() - {("fold-pad", "pad-form")}) == [
        "fold-pad: no test meets the reason pad-form"
    ]
