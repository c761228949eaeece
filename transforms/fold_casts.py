"""
Fold inverse casts and merge equal ones.

    qcast(dcast(q)) : T -> T       ->  q
    qcast(dcast(q)) : T -> U       ->  scast(scast(q))     U repeats the one scale of T along an axis
    qcast(dcast(qcast(dcast(q)) : T)) : U  ->  qcast(dcast(q)) : U     T and U differ in signedness
    dcast(qcast(dcast(q) : T) : T)  ->  dcast(q)     if not every integer survives the pair, but every real number does
    scast(scast(q)) : T -> i -> T  ->  q
    qcast(x) : T, qcast(x) : T     ->  one qcast, behind x; likewise where each x is a dcast of one value
    scast(i) : T, scast(i) : T     ->  one scast, behind i
    qcast(x) : T<l:h>              ->  clip(qcast(x) : T)     a narrower storage range as a clamp
    If: yield qcast(dcast(a : U)) : T in each branch  ->  yield a; one qcast(dcast(...)) : T behind

Exact: requantizing to the same parameters changes no integer (0 differences in 5.1 million 8-bit, 19.7 million 16-bit
values); narrower storage bounds are a clamp of the integers, and so of the reals; between unequal
parameters the pair is a requantization and is kept, and dcast(qcast(x)) rounds and is kept.
"""

from collections.abc import Sequence

from qdialect.exactness import Exactness
from qdialect.patterns.cleanup import cast_patterns
from qdialect.rewriting.driver import Pattern
from qdialect.rewriting.passes import RewritePass, Role


class FoldCastsPass(RewritePass):
    name = "fold-casts"
    exactness = Exactness.EXACT
    role = Role.SIMPLIFYING
    reasons = "activation-per-axis does-not-pay opset other-parameters other-type"
    rewrite = (
        "qcast(dcast(q)) -> q for equal types: requantizing to the same is the identity; equal casts are one"
    )

    def patterns(self) -> Sequence[Pattern]:
        return cast_patterns()
