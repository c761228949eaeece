"""The best candidate, unless chance may have made it the best: then the plainest."""

from __future__ import annotations

from dataclasses import replace

from qdialect.compiler.candidates import Candidates, Choice, Trial, better


def unless_by_chance(candidates: Candidates, best: Trial, range: str | None) -> Trial:
    """
    `best` if it beats what is rounded to nearest in the same places, on all samples that are measured; else that.

    Samples that steered the rounding of `best` speak for it: if not even these say that it is better, the few that
    judge may have said so by chance. That is then placed as it would be if rounding to nearest had been asked for: the
    search placed what it gave up. `range`: the one that was asked for.
    """
    if best.noise is None or not best.integer:
        return best
    plain = Choice(range or "minmax", price=best.choice.price, static=best.choice.static)
    plain = replace(plain, smooth=best.choice.smooth)
    if best.choice == plain:
        return best
    taken = better(candidates.attempt(plain), [best])
    if taken is best:
        return best
    taken = candidates.best(taken.choice, fixed_range=plain.range, fixed_rounding=plain.rounding)
    candidates.log.append(f"{best.choice}: not better than {plain} by more than chance")
    return taken
