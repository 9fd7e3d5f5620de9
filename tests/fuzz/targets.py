"""The fuzz targets of the tree: their programs, first inputs, dictionaries, and the count of what they have run.

A target NAME is NAME_fuzz.cc. Its first inputs are in corpus/NAME, its dictionary, if it has one, in dictionary/NAME.dict.
"""

import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
PROGRAMS = ROOT / "build" / "fuzz" / "bin"
EXECUTIONS = FOLDER / "EXECUTIONS.md"
ROW = re.compile(r"^\| (\d{4}-\d{2}-\d{2}) \| `(\w+)` \| ([\d,]+) \|$")
TOTAL = re.compile(r"^In all: [\d,]+\.$", re.MULTILINE)


def names():
    return sorted(path.name.removesuffix("_fuzz.cc") for path in FOLDER.glob("*_fuzz.cc"))


def program(name):
    return PROGRAMS / f"fuzz_{name}"


def corpus(name):
    return FOLDER / "corpus" / name


def options(name):
    """The arguments that every run of this target gets."""
    dictionary = FOLDER / "dictionary" / f"{name}.dict"
    return [f"-dict={dictionary}"] if dictionary.is_file() else []


def rows(page):
    """{(date, target): executions} of the text of EXECUTIONS.md."""
    found = (ROW.match(line) for line in page.splitlines())
    return {(row[1], row[2]): int(row[3].replace(",", "")) for row in found if row}


def with_executions(page, date, name, executions):
    """The text of EXECUTIONS.md with so many more executions of a target on a day."""
    counts = rows(page)
    counts[date, name] = counts.get((date, name), 0) + executions
    head = [line for line in page.splitlines() if not ROW.match(line)]
    lines = [f"| {date} | `{name}` | {count:,} |" for (date, name), count in sorted(counts.items())]
    text = "\n".join([*head, *lines]) + "\n"
    return TOTAL.sub(f"In all: {sum(counts.values()):,}.", text)
