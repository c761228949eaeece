"""The one exception for a user's mistake: a line that says what, where, and what to do."""


class UserError(Exception):
    """Something the user can mend: a bad file, option or model. The command line prints it as one line, status 1."""

    def __init__(self, what: str, fix: str = ""):
        super().__init__(f"{what}; {fix}" if fix else what)


class LocatedError(UserError):
    """A mistake in a text, whose message begins with its place: `file:line:column: error: ...`."""
