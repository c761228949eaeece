"""Reports as self-contained HTML pages: verdict, graph, layers, passes, context."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from pathlib import PurePath
from string import Template

from qdialect.report.page.data import NOTHING, Circumstances, report_data
from qdialect.report.report import Report

SCRIPTS = (
    "base.js",
    "layout.js",
    "graph.js",
    "details.js",
    "table.js",
    "compare.js",
    "link.js",
    "page.js",
)
"""Scripts of the page, in the order in which they run."""


def _part(name: str) -> str:
    return files("qdialect.report.page").joinpath(name).read_text("utf-8")


def _line(text: str) -> str:
    """A line of the verdict as HTML, with its first word emphasized."""
    word, colon, detail = text.partition(": ")
    if not colon or not word.replace("-", "").isalpha():
        return f"<li><span>{escape(text)}</span></li>"
    return f'<li><span class="quiet">{escape(word)}</span> <span>{escape(detail)}</span></li>'


def write_html(report: Report, around: Circumstances = NOTHING) -> str:
    """The report as an HTML page, with its data, style and scripts inline."""
    data = report_data(report, around)
    read = next((file.path for file in around.files if file.role == "input"), "")
    words = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    return Template(_part("page.html")).substitute(
        title=escape(PurePath(read).name or "Compilation"),
        headline=escape(data["headline"]),
        subtitle=escape(f"{report.target}, form {report.form}, exactness {report.exactness}"),
        verdict="\n".join(map(_line, data["verdict"])),
        style=_part("page.css"),
        data=words,
        script="\n".join(map(_part, SCRIPTS)),
    )
