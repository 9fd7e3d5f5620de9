"""Every mutant of tests/mutants still has its text in the product, once, and names a program of tests that there is."""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "mutants"))

import mutants  # noqa: E402


def test_programs():
    """Names of the programs that tests/**/CMakeLists.txt build."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("CMakeLists.txt"))
    return set(text.replace("(", " ").replace(")", " ").split())


class Mutants(unittest.TestCase):
    def test_every_mutant_applies(self):
        for mutant in mutants.read():
            with self.subTest(mutant=mutant.name):
                text = (ROOT / mutant.file).read_text(encoding="utf-8")
                self.assertNotEqual(mutants.applied(mutant, text), text)

    def test_every_mutant_names_a_test(self):
        programs = test_programs()
        for mutant in mutants.read():
            with self.subTest(mutant=mutant.name):
                self.assertIn(mutant.program, programs)
                self.assertEqual(mutant.seeds > 0, mutant.program == "simulation_test")

    def test_rows(self):
        """A row stays in the table until its mutant is run again, or is gone; survivors stand there, too."""
        kept, before = "| a | x | t | `one \\| two` | 1 | d |", "| c | x | t | `y` | 1 | d |"
        after = "| c | x | t | **survived**: nothing | 2 | e |"
        page = f"About.\n\n{mutants.HEAD}{kept}\n| gone | x | t | `y` | 1 | d |\n{before}\n"
        again = mutants.merged(page, {"c": after}, ["a", "b", "c"])
        self.assertEqual(again, f"About.\n\n{mutants.HEAD}{kept}\n{after}\n")
        self.assertEqual(mutants.merged(again, {}, ["a", "b", "c"]), again)
        self.assertEqual(mutants.merged("", {"b": "| b | x |"}, ["b"]), f"{mutants.HEAD}| b | x |\n")


if __name__ == "__main__":
    unittest.main()
