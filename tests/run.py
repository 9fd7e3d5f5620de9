"""Runs the Python tests of a folder: python3 tests/run.py FOLDER [JOBS]. Its last line is `N passed, N failed`.

Modules run side by side, JOBS at a time; what each printed comes out whole, when it has ended, and what went wrong once
more at the end, so that the last lines say why a run failed. A test of which several parts fail is one failed test; a
skipped one has not passed, so it has failed. Exit codes: 0 all passed, 1 some failed, 2 the path does not exist.
"""

import concurrent.futures
import difflib
import pathlib
import re
import subprocess
import sys
import time
import unittest


def run_module(path):
    """In a process of its own: (passed, failed, what it printed)."""
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-B", __file__, str(path)],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    text, _, last = done.stdout.rstrip("\n").rpartition("\n")
    counts = re.fullmatch(r"(\d+) passed, (\d+) failed", last)
    passed, failed = map(int, counts.groups()) if counts else (0, 1)
    return passed, failed, f"{path.name}, {time.monotonic() - began:.0f} s\n{text if counts else done.stdout}"


def what_went_wrong(text):
    """Of what a module printed: its first line and all from unittest's first report of a failure on."""
    first, _, rest = text.partition("\n")
    at = rest.find("=" * 70)
    return f"{first}\n{rest[at:] if at >= 0 else rest}"


def run_folder(folder, jobs):
    passed = failed = 0
    wrong = []
    modules = sorted(folder.glob("test_*.py"))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run_module, path) for path in modules]):
            more_passed, more_failed, text = done.result()
            passed, failed = passed + more_passed, failed + more_failed
            print(text, flush=True)
            wrong += [what_went_wrong(text)] if more_failed else []
    for text in wrong:
        print(text, flush=True)
    return passed, failed if modules else 1


def run_here(path):
    """The tests of one module, in this process."""
    suite = unittest.defaultTestLoader.discover(path.parent, pattern=path.name)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    bad = [test for test, _ in result.failures + result.errors + result.skipped + result.expectedFailures]
    bad += result.unexpectedSuccesses
    cases = {getattr(test, "test_case", test) for test in bad}
    ran = {case for case in cases if isinstance(case, unittest.TestCase)}  # the rest are setUpClass and the like
    return result.testsRun - len(ran), max(len(cases), int(result.testsRun == 0))


def missing(path):
    """The error of a path that does not exist, with the nearest name in its folder."""
    names = sorted(one.name for one in path.parent.iterdir()) if path.parent.is_dir() else []
    near = difflib.get_close_matches(path.name, names, n=1)
    return f"{path} does not exist" + (f"; did you mean {path.parent / near[0]}?" if near else "")


def main(path, jobs="1"):
    sys.dont_write_bytecode = True
    path = pathlib.Path(path)
    if not path.exists():
        print(f"tests/run.py: {missing(path)}", file=sys.stderr)
        return 2
    passed, failed = run_folder(path, int(jobs)) if path.is_dir() else run_here(path)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
