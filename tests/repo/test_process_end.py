"""The end of the program: it destroys nothing that threads of its libraries may still use.

Needs the program of the preset `release`, and a C compiler.
"""

import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build" / "release" / "bin" / "bloomring"
BOUND_S = 60
DESTROYED = 99
# Loaded first, so that its function would run after the destructors of all other libraries.
LATE = f"""
#include <stdlib.h>
#include <unistd.h>
static void late(void) {{ _exit({DESTROYED}); }}
__attribute__((constructor)) static void first(void) {{ atexit(late); }}
"""


class ProcessEnd(unittest.TestCase):
    def run_with_late(self, *command):
        with tempfile.TemporaryDirectory() as folder:
            library = pathlib.Path(folder, "late.so")
            subprocess.run(
                ["cc", "-shared", "-fPIC", "-x", "c", "-o", library, "-"],
                input=LATE, text=True, check=True, timeout=BOUND_S,
            )  # fmt: skip
            return subprocess.run(
                command, env={"LD_PRELOAD": str(library)}, capture_output=True, text=True, timeout=BOUND_S, check=False
            )

    def test_no_destructors(self):
        """process end: no command runs destructors of static objects, whether it succeeds or is refused"""
        done = self.run_with_late(PROGRAM, "version")
        self.assertEqual((done.returncode, "version" in done.stdout), (0, True), done.stderr)
        refused = self.run_with_late(PROGRAM, "query", "--no-such-flag")
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("--no-such-flag", refused.stderr)
        self.assertEqual(self.run_with_late("/bin/true").returncode, DESTROYED, "the library was not loaded")


if __name__ == "__main__":
    unittest.main()
