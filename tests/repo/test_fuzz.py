"""The fuzz targets of tests/fuzz: each is built, begins with a small corpus, and is counted."""

import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "real"))
sys.path.insert(0, str(ROOT / "tests" / "fuzz"))

import law  # noqa: E402
import targets  # noqa: E402

TARGETS_MIN = 18
CORPUS_BYTES_MAX = 12_000
CORPUS_INPUTS_MAX = 60
ENTRY = re.compile(r'^(?:\w+=)?"(?:[^"\\\x00-\x1f]|\\(?:["\\]|x[0-9a-fA-F]{2}))+"$')
SCRIPTS = ("scripts/fuzz", "scripts/test", "tests/fuzz/oss-fuzz/build.sh")
BOUND_S = 60


def built_targets(text):
    """The targets that the CMake file of the folder builds."""
    named = re.findall(r"^ *fuzz_target\((\w+) ", text, re.MULTILINE)
    for names in re.findall(r"foreach\(name (.*?)\)\s*fuzz_target\(\$\{name\} ", text):
        named += names.split()
    return sorted(named)


class Fuzz(law.LawCase):
    def test_targets(self):
        """fuzz: each target is built, has a corpus that is small, and no corpus or dictionary is of none"""
        names = targets.names()
        self.assertGreaterEqual(len(names), TARGETS_MIN)
        self.assertEqual(built_targets((targets.FOLDER / "CMakeLists.txt").read_text(encoding="utf-8")), names)
        self.assertEqual(sorted(path.name for path in (targets.FOLDER / "corpus").iterdir()), names)
        for name in names:
            sizes = [path.stat().st_size for path in targets.corpus(name).iterdir()]
            self.assertTrue(0 < len(sizes) <= CORPUS_INPUTS_MAX and sum(sizes) <= CORPUS_BYTES_MAX, f"{name}: {sizes}")
        dictionaries = {path.stem for path in (targets.FOLDER / "dictionary").iterdir()}
        self.assertLessEqual(dictionaries, set(names))

    def test_dictionaries(self):
        """fuzz: each line of a dictionary is an entry that libFuzzer can read"""
        for path in sorted((targets.FOLDER / "dictionary").iterdir()):
            for line in path.read_text(encoding="ascii").splitlines():
                self.assertTrue(not line or line.startswith("#") or ENTRY.match(line), f"{path.name}: {line}")

    def test_executions(self):
        """fuzz: the table of executions adds up, and every target is in it"""
        page = targets.EXECUTIONS.read_text(encoding="utf-8")
        counts = targets.rows(page)
        self.assertEqual(sorted({name for _, name in counts}), targets.names())
        self.assertIn(f"In all: {sum(counts.values()):,}.", page)
        more = targets.with_executions(page, "2099-01-01", "yaml", 1_000)
        more = targets.with_executions(more, "2099-01-01", "yaml", 234)
        self.assertEqual(targets.rows(more), {**counts, ("2099-01-01", "yaml"): 1_234})
        self.assertIn(f"In all: {sum(counts.values()) + 1_234:,}.", more)

    def test_scripts(self):
        """fuzz: the scripts that run the targets can be read by their shells, and take names and folders from one place"""
        for name in SCRIPTS:
            text = (ROOT / name).read_text(encoding="utf-8")
            check = [sys.executable, "-c", "import ast,sys; ast.parse(open(sys.argv[1]).read())"]
            command = ["bash", "-n"] if "bash" in text.splitlines()[0] else check
            subprocess.run([*command, ROOT / name], check=True, timeout=BOUND_S)
            self.assertTrue("tests/fuzz/corpus/" in text and "_fuzz" in text or "targets.corpus" in text, name)


if __name__ == "__main__":
    unittest.main()
