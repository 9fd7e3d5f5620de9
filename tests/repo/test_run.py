"""tests/run.py says what is wrong with the path that it is given."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

RUN = pathlib.Path(__file__).resolve().parents[1] / "run.py"


def run(path):
    return subprocess.run([sys.executable, "-B", RUN, path], check=False, capture_output=True, text=True)


class TheRunner(unittest.TestCase):
    def test_misspelt(self):
        """run: a module that does not exist is an error that names it and the nearest one, not a run without tests"""
        done = run(RUN.parent / "repo" / "test_layuot.py")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, "")
        self.assertIn("test_layuot.py does not exist; did you mean", done.stderr)
        self.assertIn("test_layout.py?", done.stderr)

    def test_nothing_near(self):
        """run: a folder that does not exist is an error that names it"""
        done = run("no-such-folder")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no-such-folder does not exist", done.stderr)
        self.assertNotIn("did you mean", done.stderr)

    def test_empty(self):
        """run: a folder without modules, and a module without tests, are one failed test each"""
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run(folder).stdout.splitlines()[-1], "0 passed, 1 failed")
            module = pathlib.Path(folder) / "test_empty.py"
            module.write_text("", encoding="utf-8")
            done = run(module)
            self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (1, "0 passed, 1 failed"))


if __name__ == "__main__":
    unittest.main()
