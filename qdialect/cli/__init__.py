"""The `qdialect` command."""
