"""`UserError`: the one exception for a mistake of the user, one line with the cause, the place and the fix."""

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str], most: int = 1) -> list[str]:
    """Up to `most` of `known` that resemble `word`, most similar first."""
    from difflib import get_close_matches  # needed only after a typing error: keeps start-up short

    return get_close_matches(word, list(known), most)


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """`did you mean ...?` with the most similar word of `known`, ignoring case; `otherwise` if none is similar."""
    by_case = {one.lower(): one for one in known}
    near = nearest(word.lower(), by_case)
    return f"did you mean '{by_case[near[0]]}'?" if near else otherwise


class UserError(Exception):
    """An error that the user can fix: a bad file, option or model. The command line prints it as one line, status 1."""

    def __init__(self, what: str, fix: str = ""):
        super().__init__(f"{what}; {fix}" if fix else what)


class LocatedError(UserError):
    """An error in a text file, whose message begins with its location: `file:line:column: error: ...`."""
