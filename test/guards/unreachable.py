"""Guards that no module, model or call reaches today, each with what stands before it."""

UNREACHABLE: dict[str, str] = {}
