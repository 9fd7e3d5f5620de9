"""Rules of the tree that no compiler checks: who may include whom, who reads the clock, which tests run."""

import os
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "real"))

import law  # noqa: E402

LINES_MAX = 500
COLUMNS_MAX = 120  # That of .clang-format, which leaves long comments and strings as they are.
SKIPPED_FOLDERS = {"build", ".git", ".cache", "__pycache__"}
CXX = {".cc", ".h"}
SOURCES = CXX | {".py", ".sh", ".cmake", ".txt", ".proto", ".yaml", ".yml", ""}
TEXTS = SOURCES | {".md", ".toml"}
MERGE_MARK = re.compile(r"^(<<<<<<<|>>>>>>>) ", re.MULTILINE)

# Folder: what it may include of ours. tests/ and bench/ see everything; nothing sees them.
MAY_INCLUDE = {
    "base": {"base"},
    "schemas": {"base", "schemas"},
    "state": {"base", "schemas", "state"},
    "operators": {"base", "schemas", "state", "operators"},
    "serving": {"base", "schemas", "state", "serving"},
    "pipeline": {"base", "schemas", "state", "operators", "serving", "pipeline"},
}
# Third-party header: where alone it may be included.
STAYS_IN = [
    (re.compile(r"librdkafka/|rdkafka"), re.compile(r"pipeline/kafka/")),
    (re.compile(r"rocksdb/|hiredis"), re.compile(r"state/")),
    (re.compile(r"grpc(pp|\+\+)?/|.*\.grpc\.pb\.h$"), re.compile(r"serving/")),
    (re.compile(r"prometheus/"), re.compile(r"base/metrics\.(h|cc)$")),
]
CLOCK = re.compile(
    r"\b(system_clock|steady_clock|high_resolution_clock|gettimeofday|clock_gettime|absl::Now)\b"
    r"|(?<![\w.])time\s*\(\s*(nullptr|NULL|0|&\w+)\s*\)"
)
CLOCK_PLACE = "base/clock.cc"
SLEEP = re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep|absl::SleepFor|(?<![.\w])sleep)\s*\(|\btime\.sleep\s*\(")
SLEEP_PLACES = re.compile(r"base/[^/]+\.cc$|tests/real/processes\.py$")
# Catch2 runs no test with such a tag unless it is asked for by name; the other words disable in CMake and in unittest.
TEST_CASE = re.compile(r'\b(?:TEST_CASE|SCENARIO)\w*\s*\((?P<arguments>(?:[^"()]|"(?:\\.|[^"\\])*")*)\)')
HIDDEN_TAG = re.compile(r"\[(\.|!hide|!mayfail|!shouldfail)")
DISABLED = {
    ".py": re.compile(r"@(unittest\.)?(skip|expectedFailure)|\bSkipTest\b|\.skipTest\("),
    ".txt": re.compile(r"PROPERTIES[^)]*\bDISABLED\b"),
}

_LITERAL_OR_COMMENT = re.compile(
    r'R"(?P<delimiter>[^\s()\\]*)\((?:.|\n)*?\)(?P=delimiter)"|"(?:\\.|[^"\\\n])*"|'
    r"'(?:\\[^']+|[^'\\\n])'|//[^\n]*|/\*(?:.|\n)*?\*/"
)


def code_of(text):
    """C++ without comments and literals; every line keeps its number."""
    return _LITERAL_OR_COMMENT.sub(lambda match: '""' + "\n" * match.group().count("\n"), text)


def findings(path, text):
    """What is wrong with one file, as (line, what); path is relative to the root, with slashes."""
    found = []
    folder, suffix = path.split("/")[0], pathlib.PurePosixPath(path).suffix
    lines = text.splitlines()
    found += [(text.count("\n", 0, mark.start()) + 1, "a mark of a merge") for mark in MERGE_MARK.finditer(text)]
    if suffix in SOURCES and len(lines) > LINES_MAX:
        found.append((len(lines), f"{len(lines)} lines; {LINES_MAX} is the most: is it still one noun?"))
    if suffix in CXX:
        found += [
            (number, f"{len(line)} columns; {COLUMNS_MAX} are the most")
            for number, line in enumerate(lines, 1)
            if len(line) > COLUMNS_MAX
        ]
        found += _includes(path, folder, lines)
        for number, line in enumerate(code_of(text).splitlines(), 1):
            if CLOCK.search(line) and path != CLOCK_PLACE and folder not in ("tests", "bench"):
                found.append((number, f"reads the machine's clock outside {CLOCK_PLACE}"))
            if SLEEP.search(line) and not SLEEP_PLACES.match(path):
                found.append((number, "sleeps"))
    if suffix == ".py" and SLEEP.search(text) and not SLEEP_PLACES.match(path):
        found.append((1, "sleeps; wait_for() of tests/real/processes.py waits for a condition"))
    if folder == "tests":
        found += [(text.count("\n", 0, start) + 1, "a disabled test") for start in _disabled(suffix, text)]
    return found


def _disabled(suffix, text):
    """Where disabled tests begin."""
    if suffix in CXX:
        return [match.start() for match in TEST_CASE.finditer(text) if HIDDEN_TAG.search(match["arguments"])]
    return [match.start() for match in DISABLED[suffix].finditer(text)] if suffix in DISABLED else []


def _includes(path, folder, lines):
    for number, line in enumerate(lines, 1):
        match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
        if not match or folder not in MAY_INCLUDE:
            continue
        header = match.group(2)
        target = header.split("/")[0]
        if target in ("tests", "bench") or target in MAY_INCLUDE and target not in MAY_INCLUDE[folder]:
            yield number, f"{folder}/ may not include {header}"
        for third_party, place in STAYS_IN:
            if third_party.match(header) and target not in MAY_INCLUDE and not place.match(path):
                yield number, f"{header} belongs to {place.pattern} only"


def files():
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
        for name in sorted(names):
            path = pathlib.Path(folder, name)
            if path != pathlib.Path(__file__) and not path.is_symlink():
                yield path


class Layout(law.LawCase):
    def test_tree(self):
        """layout: dependencies point one way, time has one place, every test runs, files stay one noun"""
        found, seen = [], 0
        for path in files():
            relative = path.relative_to(ROOT).as_posix()
            if path.suffix not in TEXTS:
                continue
            try:
                text = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue  # golden bytes and corpora are not source
            seen += 1
            found += [f"{relative}:{line}: {what}" for line, what in findings(relative, text)]
        self.assertGreater(seen, 20)
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_rules_bite(self):
        """layout: each rule finds what it forbids and lets pass what it allows"""
        clean = [
            ("pipeline/kafka/consumer.cc", "#include <librdkafka/rdkafka.h>"),
            ("state/partition_store.cc", '#include <rocksdb/db.h>\n#include "schemas/event.h"'),
            ("serving/server.cc", "#include <grpcpp/grpcpp.h>"),
            ("base/metrics.cc", "#include <prometheus/registry.h>"),
            ("base/clock.cc", "std::chrono::steady_clock::now();"),
            (
                "operators/window.h",
                "// The wall clock (std::chrono::system_clock) is not read here.\nint64_t time() const;",
            ),
            (
                "operators/window.cc",
                "log(\"time(nullptr)\"); play.time(0); total = 1'000'000; std::chrono::milliseconds(5);",
            ),
            ("tests/operators/window_test.cc", '#include "pipeline/io.h"\nTEST_CASE("window: seals", "[window]")'),
            (
                "tests/serving/a_test.cc",
                'TEST_CASE("query: a list [of two]") {\n  CHECK(out == R"({\\"items\\":[..]})");\n}',
            ),
            ("bench/chain_bench.cc", "std::chrono::steady_clock::now();"),
            ("pipeline/main.cc", '#include "serving/server.h"'),
        ]
        for path, text in clean:
            self.assertEqual(findings(path, text), [], path)
        forbidden = [
            ("base/a.cc", '#include "state/ring.h"'),
            ("schemas/a.h", '#include "operators/window.h"'),
            ("operators/a.cc", '#include "pipeline/io.h"'),
            ("serving/a.cc", '#include "pipeline/io.h"'),
            ("state/a.cc", '#include "tests/state/fixture.h"'),
            ("pipeline/a.cc", "#include <librdkafka/rdkafka.h>"),
            ("operators/a.cc", "#include <rocksdb/db.h>"),
            ("pipeline/a.cc", "#include <hiredis/hiredis.h>"),
            ("pipeline/a.cc", "#include <grpcpp/grpcpp.h>"),
            ("pipeline/a.cc", "#include <prometheus/counter.h>"),
            ("operators/a.cc", "const auto now = std::chrono::system_clock::now();"),
            ("state/a.h", "// " + "x" * COLUMNS_MAX),
            ("state/a.cc", "const auto now = time(nullptr);"),
            ("pipeline/a.cc", "std::this_thread::sleep_for(1ms);"),
            ("tests/a_test.cc", "usleep(100);"),
            ("tests/a_test.py", "time." + "sleep(1)"),
            ("tests/a_test.cc", 'TEST_CASE("ring: x", "[.][slow]")'),
            ("tests/a_test.cc", 'TEST_CASE("ring: x (twice)",\n          "[!hide]")'),
            ("tests/CMakeLists.txt", "set_tests_properties(x PROPERTIES LABELS quick DISABLED TRUE)"),
            ("tests/a_test.py", "@unittest." + "skip('later')"),
            ("base/a.cc", "\n" * 501),
            ("docs/a.md", "one\n" + "<" * 7 + " ours\ntwo"),
        ]
        for path, text in forbidden:
            self.assertEqual(len(findings(path, text)), 1, f"{path}: {text}")


if __name__ == "__main__":
    unittest.main()
