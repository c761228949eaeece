"""The choice between the best candidate and the simplest one, if the best may have won by chance."""

from __future__ import annotations

from dataclasses import replace

from qdialect.compiler.candidates import Candidates, Choice, Trial, better


def best_beyond_chance(candidates: Candidates, best: Trial, range: str | None) -> Trial:
    """
    `best` if it beats the same placement rounded to nearest on all measured samples; else the latter.

    The measured samples include those that steered the rounding of `best`, which favours it. If it is no better even
    on these, the few judging samples may have preferred it by chance. Rounding to nearest then gets the placement that
    is best for it, not the one found for `best`. range: the requested one, None if open.
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
