"""Runs the Python tests of a folder: python3 tests/run.py FOLDER. Its last line is `N passed, N failed`.

A test of which several parts fail is one failed test; a skipped one has not passed, so it has failed.
"""

import sys
import unittest


def main(folder):
    sys.dont_write_bytecode = True
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(unittest.defaultTestLoader.discover(folder))
    bad = [test for test, _ in result.failures + result.errors + result.skipped + result.expectedFailures]
    bad += result.unexpectedSuccesses
    cases = {getattr(test, "test_case", test) for test in bad}
    ran = {case for case in cases if isinstance(case, unittest.TestCase)}  # the rest are setUpClass and the like
    passed, failed = result.testsRun - len(ran), len(cases)
    if result.testsRun == 0:
        failed = max(failed, 1)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
