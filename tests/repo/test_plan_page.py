"""The outputs that docs/how-to/plan-capacity.md shows are those of the program."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "real"))

import law  # noqa: E402
import plays  # noqa: E402

PAGE = ROOT / "docs" / "how-to" / "plan-capacity.md"
OUTPUT = re.compile(
    r"^<!-- output of: (?P<command>[^\n]*) -->\n```text\n(?P<shown>.*?)^```\n<!-- end of output -->$", re.MULTILINE | re.DOTALL
)


def output_of(command):
    """What a command of the page prints; its exit code is that of the program, or of what it is piped to."""
    environment = {"PATH": f"{plays.binary().parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout, done.stderr


class PlanPage(law.LawCase):
    def test_outputs(self):
        """plan page: each output is what its command prints (`scripts/reference` writes them)"""
        text = PAGE.read_text(encoding="utf-8")
        outputs = list(OUTPUT.finditer(text))
        self.assertEqual(len(outputs), text.count("<!-- output of: "))
        self.assertGreaterEqual(len(outputs), 2)
        for output in outputs:
            with self.subTest(output["command"]):
                printed, errors = output_of(output["command"])
                self.assertEqual(errors, "")
                self.assertEqual(printed.splitlines(), output["shown"].splitlines())

    def test_sites_fit(self):
        """plan page: what it shows fits the machines that it names"""
        shown = [output["shown"] for output in OUTPUT.finditer(PAGE.read_text(encoding="utf-8"))]
        self.assertEqual([text.rstrip().endswith("It fits.") for text in shown], [True] * len(shown))


if __name__ == "__main__":
    unittest.main()
