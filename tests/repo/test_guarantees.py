"""Tests that documents name are there, and every promise names one.

In docs/, `tests/...`, `NAME_test.cc`, `NAME_fuzz.cc` and `test_NAME.py` in backticks are files, and words in double quotes
behind one of the latter, up to the next thing in backticks, stand in the name of a test of that file. Of a name
without a folder there is one file below tests/, or the name says too little. In docs/guarantees.md each ### heading is a
promise, and its list "Held by" names at least one test.
"""

import ast
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "real"))

import law  # noqa: E402

PROMISES_MIN = 20
FILE = re.compile(r"`((?:tests/)[\w./-]+|\w+_(?:test|fuzz)\.cc|test_\w+\.py|sim_\w+\.h)`")
CHECK = re.compile(r"`(check_\w+)`")  # A law of the simulation.
BACKTICKS_OR_QUOTE = re.compile(r"`[^`]*`|\"([^\"]+)\"")
CATCH = re.compile(r'TEST_CASE\(\s*((?:"(?:\\.|[^"\\])*"\s*)+)')
STRING = re.compile(r'"((?:\\.|[^"\\])*)"')

def resolve(name, root=ROOT):
    """The one file or folder that a document means, or None."""
    if name.startswith("tests/"):
        path = root / name
        return path if path.exists() else None
    found = [path for path in sorted((root / "tests").rglob(name)) if "__pycache__" not in path.parts]
    return found[0] if len(found) == 1 else None

def names_of(path, text):
    """The names of the tests in a file: sentences."""
    if path.suffix == ".cc":
        return ["".join(STRING.findall(match)) for match in CATCH.findall(text)]
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    return [
        " ".join((ast.get_docstring(function) or "").split())
        for function in functions
        if function.name.startswith("test_")
    ]

def unnamed(text, names_in):
    """Quotes of a text that are in no name of the file before them; names_in(file) gives these, None without the file."""
    wrong, names = [], []
    for match in BACKTICKS_OR_QUOTE.finditer(text):
        file = FILE.fullmatch(match.group())
        if file:
            names = names_in(file.group(1))
            if names is None:
                wrong.append(f"{file.group(1)} is not one file or folder of tests/")
        elif match.group(1) is None:
            names = []
        elif names is not None and not any(match.group(1) in name for name in names):
            wrong.append(f'no test is named "{match.group(1)}" there')
    return wrong

def names_in(file):
    path = resolve(file)
    if path is None:
        return None
    return names_of(path, path.read_text(encoding="utf-8")) if path.is_file() and path.suffix in (".cc", ".py") else []

def promises(text):
    """(heading, points of its list "Held by") of each ### heading; the list is empty when it is missing."""
    found = []
    for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        body = re.split(r"^## ", body, flags=re.MULTILINE)[0]
        lists = body.split("\n**Held by:**\n")
        points = re.split(r"^- ", lists[1], flags=re.MULTILINE)[1:] if len(lists) == 2 else []
        found.append((heading.strip(), [" ".join(point.split()) for point in points]))
    return found

def sentences(text):
    """(sentence, what holds it) of each row of the tables whose last column is "held by"."""
    found, holds = [], False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            holds = False
        elif cells[-1] == "held by":
            holds = True
        elif holds and not set(cells[0]) <= {"-", " "}:
            found.append((cells[0], cells[-1]))
    return found

def unheld(found, names_in, laws):
    """Promises without a test, or with one that is not there; laws is the source of the simulation's checks."""
    wrong = []
    for promise, points in found:
        if not any(FILE.search(point) for point in points):
            wrong.append(f"{promise}: no test")
        for point in points:
            wrong += [f"{promise}: {fault}" for fault in unnamed(point, names_in)]
            wrong += [
                f"{promise}: the simulation has no {check}"
                for check in CHECK.findall(point)
                if f"World::{check}(" not in laws
            ]
    return wrong

class Guarantees(law.LawCase):
    def test_files(self):
        """guarantees: every test that a document names in backticks is there"""
        documents = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
        missing = [
            f"{path.relative_to(ROOT)}: {name}"
            for path in documents
            for name in FILE.findall(path.read_text(encoding="utf-8"))
            if resolve(name) is None
        ]
        self.assertEqual(missing, [], "\n" + "\n".join(missing))

    def test_promises(self):
        """guarantees: every promise names what holds it, and the names are those of tests"""
        laws = (ROOT / "tests/simulation/sim_checks.cc").read_text(encoding="utf-8")
        found = promises((ROOT / "docs/guarantees.md").read_text(encoding="utf-8"))
        self.assertGreater(len(found), PROMISES_MIN)
        self.assertEqual(len({promise for promise, _ in found}), len(found), "two promises with one heading")
        wrong = unheld(found, names_in, laws)
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong))

    def test_security(self):
        """guarantees: every sentence of the threat model names the tests that hold it, or says what somebody can do"""
        found = sentences((ROOT / "docs/security.md").read_text(encoding="utf-8"))
        self.assertGreater(len(found), 15)
        wrong = [f"{sentence}: no test" for sentence, held in found if not FILE.search(held) and "**can**" not in sentence]
        wrong += [f"{sentence}: {fault}" for sentence, held in found for fault in unnamed(held, names_in)]
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong))
        table = "| s | held by |\n|---|---|\n| a | `b_test.cc` |\n| c | |\n\n| x | y |\n|---|---|\n| d | e |\n"
        self.assertEqual(sentences(table), [("a", "`b_test.cc`"), ("c", "")])

    def test_rules_bite(self):
        """guarantees: a file, a name and a promise without them are found"""
        catch = 'TEST_CASE(\n    "ring: one "\n    "thing", "[tag]") {}\nTEMPLATE_TEST_CASE("ring: two", "", A) {}'
        self.assertEqual(names_of(pathlib.Path("a_test.cc"), catch)[0], "ring: one thing")
        self.assertEqual(names_of(pathlib.Path("t.py"), 'def test_a():\n    """law: a\n    b"""\n'), ["law: a b"])
        files = {"ring_test.cc": ["ring: one thing", "ring: two"], "tests/fuzz/": []}
        named = '`ring_test.cc` "one thing", "two"; `tests/fuzz/`'
        self.assertEqual(unnamed(named, files.get), [])
        for wrong in ('`ring_test.cc` "three"', '`other_test.cc` "two"', '`ring_test.cc`; `x.h` "two"', '"two"'):
            self.assertEqual(len(unnamed(wrong, files.get)), 1, wrong)
        self.assertIsNone(resolve("tests/none/"))
        self.assertIsNone(resolve("topology_test.cc"))  # There are two.
        page = (
            "# x\n## t\n\n### A\n\nText.\n\n**Rests on:**\n\n- b\n\n"
            "**Held by:**\n\n{}\n\n## y\n\n- `other_test.cc`\n"
        )
        held = '- `ring_test.cc` "one\n  thing"\n- the simulation: `check_all`'
        self.assertEqual(
            promises(page.format(held)), [("A", ['`ring_test.cc` "one thing"', "the simulation: `check_all`"])]
        )
        law_text = "void World::check_all() {}"
        self.assertEqual(unheld(promises(page.format(held)), files.get, law_text), [])
        unknown = ("- `other_test.cc`", '- `ring_test.cc` "three"', "- `ring_test.cc`, `check_none`")
        for wrong in ("", "- the simulation", *unknown):
            self.assertEqual(len(unheld(promises(page.format(wrong)), files.get, law_text)), 1, wrong)
        self.assertEqual(promises("### A\n\n**Rests on:**\n\n- `ring_test.cc`\n"), [("A", [])])

if __name__ == "__main__":
    unittest.main()
