"""The snapshot of ONNX's operators is what the installed onnx says."""

import json
from typing import Any

import pytest

from qdialect.dialects import snapshot

MICROSOFT = "com.microsoft"


def by_domain(data: list[list[Any]]) -> dict[str, dict[str, Any]]:
    """Versions by domain and operator, their types written out: numbering depends on what else is in the file."""
    versions_by_name: dict[str, dict[str, Any]] = {}
    types, *ops = data
    for domain, name, versions in ops:
        rows = [[*version[:-1], {k: types[t] for k, t in version[-1].items()}] for version in versions]
        versions_by_name.setdefault(domain, {})[name] = rows
    return versions_by_name


@pytest.fixture(scope="module")
def written() -> dict[str, dict[str, Any]]:
    return by_domain([json.loads(line) for line in snapshot.SNAPSHOT.read_text().splitlines()])


@pytest.fixture(scope="module")
def installed() -> dict[str, dict[str, Any]]:
    return by_domain(snapshot.snapshot())


@pytest.mark.parametrize("domain", ["", "ai.onnx.ml"])
def test_snapshot_is_the_installed_onnx(domain: str, written: dict[str, Any], installed: dict[str, Any]):
    assert written[domain].keys() == installed[domain].keys()
    differ = [name for name, rows in written[domain].items() if rows != installed[domain][name]]
    assert not differ, "run python -m qdialect.dialects.snapshot"


def test_snapshot_is_the_installed_onnxruntime(written: dict[str, Any], installed: dict[str, Any]):
    if written[MICROSOFT] != installed[MICROSOFT]:
        import onnxruntime

        pytest.skip(
            f"onnxruntime {onnxruntime.__version__} has other com.microsoft operators than the snapshot"
        )
