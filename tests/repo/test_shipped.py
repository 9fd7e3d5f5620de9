"""The program that is shipped has no fault points and refuses to inject any, and its build is hardened.

Needs the programs of the presets `release` and `tested`: scripts/test builds both.
"""

import os
import pathlib
import platform
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "real"))

import law  # noqa: E402
import test_fault_points  # noqa: E402

POINTS_MIN = 16
BOUND_S = 30


def program(preset):
    return ROOT / "build" / preset / "bin" / "bloomring"


def points_in(path):
    """The fault points whose names are constants of a program; there they end with a zero."""
    text = path.read_bytes()
    return [name for name in test_fault_points.points() if name.encode() + b"\0" in text]


def read(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=BOUND_S, check=True).stdout


class Shipped(law.LawCase):
    def test_no_fault_points(self):
        """shipped: the program of the release has the name of no fault point, that of the tests has all"""
        self.assertGreaterEqual(len(test_fault_points.points()), POINTS_MIN)
        self.assertEqual(points_in(program("release")), [])
        self.assertEqual(points_in(program("tested")), test_fault_points.points())

    def test_refuses_faults(self):
        """shipped: a program without fault points does not start when a fault is asked for, and says why"""
        for command in ("run", "dev"):
            for variable, value in (("BLOOMRING_FAULT_POINT", "merge.applied:1"), ("BLOOMRING_CLOCK_STEP", "1000:0")):
                with self.subTest(command=command, variable=variable):
                    done = subprocess.run(
                        [program("release"), command],
                        env={**os.environ, variable: value},
                        stdin=subprocess.DEVNULL,
                        capture_output=True,
                        text=True,
                        timeout=BOUND_S,
                        check=False,
                    )
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertRegex(done.stderr, rf"^bloomring: {variable} is set[^\n]*\n$")

    def test_hardened(self):
        """shipped: the program of the release is hardened: position, relocations, stack, calls and containers"""
        path = program("release")
        elf = read("readelf", "--wide", "--file-header", "--program-headers", "--dynamic", path)
        self.assertRegex(elf, r"Type: +DYN")  # Position independent.
        self.assertIn("GNU_RELRO", elf)
        self.assertRegex(elf, r"BIND_NOW|FLAGS.*\bNOW\b")
        self.assertNotRegex(elf, r"GNU_STACK.*RWE")
        symbols = read("readelf", "--wide", "--dyn-syms", path)
        self.assertIn(" __stack_chk_fail@", symbols)
        self.assertRegex(symbols, r" __(memcpy|snprintf|read)_chk@")  # _FORTIFY_SOURCE
        self.assertIn("__glibcxx_assert_fail", symbols)  # _GLIBCXX_ASSERTIONS
        if platform.machine() == "x86_64":
            main = read("objdump", "--disassemble=main", "--no-show-raw-insn", path)
            self.assertRegex(main, re.compile(r"<main>:\n[^\n]*\bendbr64\b"))


if __name__ == "__main__":
    unittest.main()
