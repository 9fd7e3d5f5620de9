"""Tests are found by the name of what they test: NAME.cc of a room has tests/ROOM/NAME_test.cc, or docs/testing.md says
in its table which other test tests it."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "real"))

import law  # noqa: E402
import test_layout  # noqa: E402

PAGE = ROOT / "docs" / "testing.md"
SECTION = "## Where the test of a file is"
ROW = re.compile(r"^\| `(tests/[\w/.]+)` \| (.+) \|$", re.MULTILINE)
NAME = re.compile(r"`([\w/]+/)`: |`(\w+\.cc)`")


def table_of(page):
    """{test: [files]} of the section's table; in a row a folder stands before the names of its files."""
    section = page.split(SECTION)[1].split("\n## ")[0]
    table = {}
    for test, files in ROW.findall(section):
        folder, table[test] = "", []
        for named_folder, name in NAME.findall(files):
            folder = named_folder or folder
            if name:
                table[test].append(folder + name)
    return table


def faults(sources, tests, table):
    """Sources without a test, rows about files that there are not or that have a test of their name, and missing tests."""
    listed = [name for names in table.values() for name in names]
    for source in sources:
        named = f"tests/{source.removesuffix('.cc')}_test.cc" in tests
        if named == (source in listed):
            yield f"{source}: has a test of its name and a row" if named else f"{source}: has no test and no row"
    yield from (f"{name}: is not there" for name in listed if name not in sources)
    yield from (f"{name}: is in two rows" for name in sorted(set(listed)) if listed.count(name) > 1)
    yield from (f"{test}: is not there" for test in table if test not in tests)


class Units(law.LawCase):
    def test_every_source(self):
        """units: each source has a test of its name, or docs/testing.md says which other one tests it"""
        paths = {path.relative_to(ROOT).as_posix() for path in test_layout.files()}
        sources = sorted(path for path in paths if path.endswith(".cc") and path.split("/")[0] in test_layout.TOPS)
        table = table_of(PAGE.read_text(encoding="utf-8"))
        self.assertEqual(list(faults(sources, paths, table)), [])
        print(f"\n{len(sources) - sum(map(len, table.values()))} of {len(sources)} sources have a test of their name")

    def test_rules_bite(self):
        """units: a source without a test, a stale row and a missing test are found"""
        page = f"x\n{SECTION}\n| test | files |\n|---|---|\n| `tests/a/all_test.cc` | `a/`: `b.cc`, `c.cc`; `d/`: `e.cc` |\n## y\n"
        self.assertEqual(table_of(page), {"tests/a/all_test.cc": ["a/b.cc", "a/c.cc", "d/e.cc"]})
        sources, tests = ["a/b.cc", "a/f.cc"], {"tests/a/f_test.cc", "tests/a/all_test.cc"}
        sound = {"tests/a/all_test.cc": ["a/b.cc"]}
        self.assertEqual(list(faults(sources, tests, sound)), [])
        for wrong in (
            (sources + ["a/g.cc"], tests, sound),
            (sources, tests, {"tests/a/all_test.cc": ["a/b.cc", "a/f.cc"]}),
            (sources, tests, {"tests/a/all_test.cc": ["a/b.cc", "a/gone.cc"]}),
            (sources, tests, {"tests/a/gone_test.cc": ["a/b.cc"]}),
            (sources, tests, {"tests/a/all_test.cc": ["a/b.cc", "a/b.cc"]}),
        ):
            self.assertEqual(len(list(faults(*wrong))), 1, wrong)


if __name__ == "__main__":
    unittest.main()
