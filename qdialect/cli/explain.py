"""`qdialect explain`: which ops stay float, and why."""

import argparse

from qdialect.errors import UserError


def run(arguments: argparse.Namespace) -> int:
    raise UserError("explain is not implemented yet", "use compile --remarks")
