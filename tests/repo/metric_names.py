"""Names of metrics: those of docs/reference/metrics.md, and those that a PromQL query reads."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "metrics.md"
ROW = re.compile(r"^\| `(\w+)` \| (\w+) \|", re.MULTILINE)
OF_PROMETHEUS = {"up"}  # Of each target that it scrapes.

NO_METRICS = re.compile(  # Strings, selectors, ranges, lists of labels.
    r'"[^"]*"' r"|\{[^}]*\}" r"|\[[^\]]*\]" r"|\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)"
)
NAME = re.compile(r"\b[a-zA-Z_]\w*\b(?!\s*\()")
OPERATORS = {"and", "or", "unless", "bool", "offset"}


def known():
    """Every series that a process exports, and `up`."""
    names = set(OF_PROMETHEUS)
    for name, kind in ROW.findall(PAGE.read_text(encoding="utf-8")):
        names |= {f"{name}_{part}" for part in ("bucket", "sum", "count")} if kind == "histogram" else {name}
    return names


def names_in(query):
    """The metrics that a query reads."""
    return set(NAME.findall(NO_METRICS.sub(" ", NO_METRICS.sub(" ", query)))) - OPERATORS


def unknown_in(query):
    return sorted(names_in(query) - known())
