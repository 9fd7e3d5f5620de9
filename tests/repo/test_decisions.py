"""Tests that every page of docs/decisions has the one form and a row in the index."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "real"))

import law  # noqa: E402

FOLDER = ROOT / "docs" / "decisions"
TITLE = re.compile(r"# (\d{4}): (.+)\n")
PARTS = ["Problem", "Choice", "What was given up"]
PART = re.compile(rf"^\*\*({'|'.join(PARTS)})\.\*\*", re.MULTILINE)
UNUSED = {"0009"}


def faults(name, text):
    """The ways in which a page is not of the form."""
    title = TITLE.match(text)
    wrong = [] if title and name.startswith(f"{title.group(1)}-") else ["the title does not begin with its number"]
    if PART.findall(text) != PARTS:
        wrong.append(f"the parts are {PART.findall(text)}, not {PARTS}")
    if re.search(r"^##", text, re.MULTILINE):
        wrong.append("a part has a heading with ##")
    return wrong


class Decisions(law.LawCase):
    def test_form(self):
        """decisions: every page has problem, choice and price in one form"""
        pages = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("[0-9]*.md")}
        wrong = [f"{name}: {fault}" for name, text in sorted(pages.items()) for fault in faults(name, text)]
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong))

    def test_index(self):
        """decisions: the index has a row with the title of each page, and numbers have no other gap"""
        rows = [
            f"| [{title.group(1)}]({path.name}) | {title.group(2)} |"
            for path in sorted(FOLDER.glob("[0-9]*.md"))
            for title in [TITLE.match(path.read_text(encoding="utf-8"))]
        ]
        index = (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()
        self.assertEqual([line for line in index if line.startswith("| [")], rows)
        numbers = {row[3:7] for row in rows}
        self.assertEqual({f"{n:04}" for n in range(1, int(max(numbers)) + 1)} - numbers, UNUSED)

    def test_rules_bite(self):
        """decisions: a wrong number, a missing part, another order and another form are found"""
        page = "# 0001: a\n\n**Problem.** b\n\n**Choice.** c\n\n**Why.** d\n\n**What was given up.** e\n"
        self.assertEqual(faults("0001-a.md", page), [])
        self.assertEqual(len(faults("0002-a.md", page)), 1)
        for old, new in (("Problem", "Context"), ("**Choice.**", "## Choice\n"), ("What was given up", "Price")):
            self.assertTrue(faults("0001-a.md", page.replace(old, new)), new)


if __name__ == "__main__":
    unittest.main()
