"""The one exception for a user's mistake: a line that says what, where, and what to do."""

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str], most: int = 1) -> list[str]:
    """Those of `known` that `word` may have been meant to be, the nearest first."""
    from difflib import get_close_matches  # for those who mistype: start-up is short

    return get_close_matches(word, list(known), most)


def did_you_mean(word: str, known: Iterable[str], otherwise: str) -> str:
    """The word that may have been meant, as a question; or what to do otherwise."""
    near = nearest(word, known)
    return f"did you mean '{near[0]}'?" if near else otherwise


class UserError(Exception):
    """Something the user can mend: a bad file, option or model. The command line prints it as one line, status 1."""

    def __init__(self, what: str, fix: str = ""):
        super().__init__(f"{what}; {fix}" if fix else what)


class LocatedError(UserError):
    """A mistake in a text, whose message begins with its place: `file:line:column: error: ...`."""
