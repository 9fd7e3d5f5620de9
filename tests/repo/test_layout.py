"""Rules of the tree that no compiler checks: who may include whom, who reads the clock, which tests run."""

import graphlib
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

ARCHITECTURE = ROOT / "docs" / "architecture.md"
ROOM_ROW = re.compile(r"^\| `(?P<room>[a-z/]+)` \| (?P<holds>[^|]+) \| (?P<uses>[^|]+) \|$", re.MULTILINE)
ROOM_FILES_MAX = 25  # Of one folder, headers and sources.
INCLUDE = re.compile(r'^\s*#\s*include\s*["<](?P<header>[^">]+)[">]', re.MULTILINE)
NO_ROOMS = {"tests", "bench", "examples"}  # Top folders whose sources use every room, or are programs of others.
# Third-party header: where alone it may be included.
STAYS_IN = [
    (re.compile(r"librdkafka/|rdkafka"), re.compile(r"pipeline/kafka/")),
    (re.compile(r"rocksdb/|hiredis"), re.compile(r"state/")),
    (re.compile(r"grpc(pp|\+\+)?/|.*\.grpc\.pb\.h$"), re.compile(r"(serving|client|load)/")),
    (re.compile(r"prometheus/"), re.compile(r"base/metrics/metrics\.(h|cc)$")),
    (re.compile(r"CLI/"), re.compile(r"cli/(line|pages)/")),
]
# The files that may ask for the kind of the filter store; all others ask a question that each kind answers.
STORE_KIND = re.compile(r"\bStoreKind::")
STORE_KIND_PLACES = re.compile(r"pipeline/settings/|pipeline/stores/open_stores\.cc$|tests/|bench/")
CLOCK = re.compile(
    r"\b(system_clock|steady_clock|high_resolution_clock|gettimeofday|clock_gettime|absl::Now)\b"
    r"|(?<![\w.])time\s*\(\s*(nullptr|NULL|0|&\w+)\s*\)"
)
CLOCK_PLACE = "base/clock.cc"
SLEEP = re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep|absl::SleepFor|(?<![.\w])sleep)\s*\(|\btime\.sleep\s*\(")
# The sanitized builds are clang 14's, which cannot compile the views of g++ 12's library.
VIEWS = re.compile(r"\bstd::(ranges::)?views::")
SLEEP_PLACES = re.compile(r"base/([^/]+|faults/fault_point)\.cc$|tests/real/processes\.py$")
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


def read_rooms(page):
    """The table of rooms: each room and the rooms that it may use, in the order of the page."""
    rooms = {}
    for row in ROOM_ROW.finditer(page):
        rooms[row["room"]] = set(re.findall(r"`([a-z/]+)`", row["uses"]))
    return rooms


def table_faults(rooms):
    """The faults of the table itself: an arrow upward, which every circle has, or to a room that there is not."""
    above = set()
    for room, uses in rooms.items():
        for used in sorted(uses - above):
            yield f"{room} uses {used}, which does not stand above it"
        above.add(room)


ROOMS = read_rooms(ARCHITECTURE.read_text(encoding="utf-8"))


def top_folders():
    """The top folders of the tree that hold C++ and are or hold rooms."""
    paths = (path.relative_to(ROOT) for path in files() if path.suffix in CXX)
    return {path.parts[0] for path in paths} - NO_ROOMS


def findings(path, text, rooms=ROOMS, tops=None):
    """The faults of one file, as (line, fault); path is relative to the root, with slashes."""
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
        found += _includes(path, lines, rooms, TOPS if tops is None else tops)
        for number, line in enumerate(code_of(text).splitlines(), 1):
            if CLOCK.search(line) and path != CLOCK_PLACE and folder not in ("tests", "bench"):
                found.append((number, f"reads the machine's clock outside {CLOCK_PLACE}"))
            if SLEEP.search(line) and not SLEEP_PLACES.match(path):
                found.append((number, "sleeps"))
            if VIEWS.search(line):
                found.append((number, "a view of <ranges>, which clang 14 of the sanitized builds refuses"))
            if STORE_KIND.search(line) and not STORE_KIND_PLACES.match(path):
                found.append((number, "asks for the kind of the store; open_stores.h and StoreSettings have the questions"))
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


def _includes(path, lines, rooms, tops):
    room, top = path.rpartition("/")[0], path.split("/")[0]
    if top in NO_ROOMS:
        return
    if room not in rooms:
        yield 1, f"{room}/ has no row in docs/architecture.md"
        return
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        header = match["header"]
        target = header.rpartition("/")[0]
        ours = "/" in header and header.split("/")[0] in tops  # In either mark: the compiler finds both.
        generated = header.endswith(".pb.h")
        if "/" in header and header.split("/")[0] in NO_ROOMS:
            yield number, f"{room}/ may not include {header}"
        elif ours and not generated and target != room and target not in rooms[room]:
            yield number, f"{room}/ may not include {header}: docs/architecture.md has no such arrow"
        for third_party, place in STAYS_IN:
            if third_party.match(header) and (generated or not ours) and not place.match(path):
                yield number, f"{header} belongs to {place.pattern} only"


def unused_arrows(rooms, sources):
    """Arrows of the table, as (room, used), that no include of {path: text} needs."""
    included = {room: set() for room in rooms}
    for path, text in sources.items():
        room = path.rpartition("/")[0]
        if room in rooms:
            included[room] |= {match["header"].rpartition("/")[0] for match in INCLUDE.finditer(text)}
    return [(room, used) for room, uses in rooms.items() for used in sorted(uses - included[room])]


def pair_arrows(sources):
    """Of {path: text}: each pair of files X.h and X.cc, as X, and the pairs that either of the two includes."""
    arrows = {os.path.splitext(path)[0]: set() for path in sources}
    for path, text in sources.items():
        pair = os.path.splitext(path)[0]
        included = {os.path.splitext(match["header"])[0] for match in INCLUDE.finditer(text)}
        arrows[pair] |= (included - {pair}) & arrows.keys()
    return arrows


def pair_circle(arrows):
    """Pairs that include each other in a circle, the first one again at the end; empty where there is no circle."""
    try:
        graphlib.TopologicalSorter(arrows).prepare()
    except graphlib.CycleError as error:
        return error.args[1][::-1]
    return []


def files():
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
        for name in sorted(names):
            path = pathlib.Path(folder, name)
            if path != pathlib.Path(__file__) and not path.is_symlink():
                yield path


TOPS = top_folders()


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

    def test_rooms(self):
        """layout: the table of rooms has every folder of sources, no arrow upward, and no room is a corridor"""
        self.assertEqual(list(table_faults(ROOMS)), [])
        sources = {}
        for path in files():
            relative = path.relative_to(ROOT).as_posix()
            if path.suffix in CXX and relative.split("/")[0] not in NO_ROOMS:
                sources.setdefault(relative.rpartition("/")[0], []).append(path.name)
        self.assertEqual(set(ROOMS), set(sources))
        crowded = {room: len(names) for room, names in sources.items() if len(names) > ROOM_FILES_MAX}
        self.assertEqual(crowded, {})
        for room in ROOMS:
            self.assertTrue((ROOT / room / "CMakeLists.txt").exists(), f"{room} has no CMake target")

    def test_arrows(self):
        """layout: an include needs each arrow of the table of rooms, and an arrow without one is found"""
        sources = {}
        for path in files():
            if path.suffix in CXX:
                sources[path.relative_to(ROOT).as_posix()] = path.read_text(encoding="utf-8")
        self.assertEqual(unused_arrows(ROOMS, sources), [])
        rooms = {"base": set(), "schemas": {"base"}, "state": {"base", "schemas"}}
        few = {"schemas/a.h": '#include "base/a.h"', "state/a.cc": '#include "base/a.h"'}
        self.assertEqual(unused_arrows(rooms, few), [("state", "schemas")])
        self.assertEqual(unused_arrows(rooms, {**few, "state/b.cc": "#include <schemas/a.h>"}), [])

    def test_pairs(self):
        """layout: no file pair includes itself through other pairs"""
        sources = {}
        for path in files():
            relative = path.relative_to(ROOT).as_posix()
            if path.suffix in CXX and relative.split("/")[0] not in NO_ROOMS:
                sources[relative] = path.read_text(encoding="utf-8")
        arrows = pair_arrows(sources)
        self.assertGreater(len(arrows), 100)
        self.assertEqual(pair_circle(arrows), [])

    def test_pairs_bite(self):
        """layout: a circle of two pairs, and one through a source, is found; a pair's own header is no circle"""
        sound = {
            "base/a.h": "#include <vector>",
            "base/a.cc": '#include "base/a.h"\n#include "base/b.h"',
            "base/b.h": "#include <a.h>",
            "base/d.h": "#include <base/b.h>",
            "state/c.cc": '#include "base/a.h"\n#include "bloomring/v1/bloomring.pb.h"',
        }
        arrows = {"base/a": {"base/b"}, "base/b": set(), "base/d": {"base/b"}, "state/c": {"base/a"}}
        self.assertEqual(pair_arrows(sound), arrows)
        self.assertEqual(pair_circle(pair_arrows(sound)), [])
        two = pair_arrows({**sound, "base/b.cc": '#include "base/a.h"'})
        self.assertEqual(set(pair_circle(two)), {"base/a", "base/b"})
        three = pair_arrows({**sound, "base/b.h": '  #  include "state/c.h"'})
        self.assertEqual(set(pair_circle(three)), {"base/a", "base/b", "state/c"})

    def test_table_bites(self):
        """layout: an arrow upward, a circle and an unknown room in the table are found"""
        row = "| `{}` | Things. | {} |\n"
        sound = read_rooms(row.format("a", "nothing of ours") + row.format("a/b", "`a`") + row.format("c", "`a`, `a/b`"))
        self.assertEqual(sound, {"a": set(), "a/b": {"a"}, "c": {"a", "a/b"}})
        self.assertEqual(list(table_faults(sound)), [])
        upward = {"a": {"b"}, "b": set()}
        circle = {"a": set(), "b": {"a", "c"}, "c": {"b"}}
        unknown = {"a": set(), "b": {"z"}}
        for rooms in (upward, circle, unknown):
            self.assertEqual(len(list(table_faults(rooms))), 1, rooms)

    def test_rules_bite(self):
        """layout: each rule finds what it forbids and lets pass what it allows"""
        rooms = {
            "base": set(),
            "base/metrics": {"base"},
            "schemas": {"base"},
            "state": {"base", "schemas"},
            "operators": {"base", "schemas", "state"},
            "serving/server": {"base"},
            "pipeline/io": {"base"},
            "pipeline/kafka": {"base", "pipeline/io"},
            "pipeline/stages": {"base", "pipeline/io", "serving/server"},
        }
        clean = [
            ("pipeline/kafka/consumer.cc", "#include <librdkafka/rdkafka.h>"),
            ("state/partition_store.cc", '#include <rocksdb/db.h>\n#include "schemas/event.h"'),
            ("serving/server/server.cc", '#include <grpcpp/grpcpp.h>\n#include "bloomring/v1/bloomring.grpc.pb.h"'),
            ("base/metrics/metrics.cc", "#include <prometheus/registry.h>"),
            ("base/clock.cc", "std::chrono::steady_clock::now();"),
            (
                "operators/window.h",
                "// The wall clock (std::chrono::system_clock) is not read here.\nint64_t time() const;",
            ),
            (
                "operators/window.cc",
                "log(\"time(nullptr)\"); play.time(0); total = 1'000'000; std::chrono::milliseconds(5);",
            ),
            ("tests/operators/window_test.cc", '#include "pipeline/io/io.h"\nTEST_CASE("window: seals", "[window]")'),
            (
                "tests/serving/a_test.cc",
                'TEST_CASE("query: a list [of two]") {\n  CHECK(out == R"({\\"items\\":[..]})");\n}',
            ),
            ("bench/chain_bench.cc", "std::chrono::steady_clock::now();"),
            ("pipeline/stages/main.cc", '#include "serving/server/server.h"'),
            ("tests/pipeline/stores/a_test.cc", "if (kind == StoreKind::kRedis) open();"),
        ]
        for path, text in clean:
            self.assertEqual(findings(path, text, rooms), [], path)
        forbidden = [
            ("base/a.cc", '#include "state/ring.h"'),
            ("schemas/a.h", '#include "operators/window.h"'),
            ("operators/a.cc", '#include "pipeline/io/io.h"'),
            ("serving/server/a.cc", '#include "pipeline/io/io.h"'),
            ("pipeline/io/a.h", '#include "pipeline/kafka/client.h"'),
            ("pipeline/a.cc", "int a = 0;"),
            ("jobs/replay.h", '#include "pipeline/stages/process.h"'),
            ("base/clock.h", '#include "jobs/replay.h"'),
            ("base/clock.h", "#include <state/window/ring.h>"),
            ("state/a.cc", '#include "tests/state/fixture.h"'),
            ("pipeline/io/a.cc", "#include <librdkafka/rdkafka.h>"),
            ("operators/a.cc", "#include <rocksdb/db.h>"),
            ("pipeline/io/a.cc", "#include <hiredis/hiredis.h>"),
            ("pipeline/io/a.cc", "#include <grpcpp/grpcpp.h>"),
            ("pipeline/io/a.cc", "#include <prometheus/counter.h>"),
            ("pipeline/io/a.cc", "#include <CLI/CLI.hpp>"),
            ("pipeline/io/a.cc", '#include "bloomring/v1/bloomring.grpc.pb.h"'),
            ("operators/a.cc", "const auto now = std::chrono::system_clock::now();"),
            ("state/a.h", "// " + "x" * COLUMNS_MAX),
            ("state/a.cc", "const auto now = time(nullptr);"),
            ("pipeline/io/a.cc", "std::this_thread::sleep_for(1ms);"),
            ("state/a.cc", "joined(words | std::views::transform(text));"),
            ("state/a.cc", "joined(std::ranges::views::keys(map));"),
            ("tests/a_test.cc", "usleep(100);"),
            ("tests/a_test.py", "time." + "sleep(1)"),
            ("tests/a_test.cc", 'TEST_CASE("ring: x", "[.][slow]")'),
            ("tests/a_test.cc", 'TEST_CASE("ring: x (twice)",\n          "[!hide]")'),
            ("tests/CMakeLists.txt", "set_tests_properties(x PROPERTIES LABELS quick DISABLED TRUE)"),
            ("tests/a_test.py", "@unittest." + "skip('later')"),
            ("pipeline/stages/a.cc", "if (kind == StoreKind::kRedis) skip();"),
            ("base/a.cc", "\n" * 501),
            ("docs/a.md", "one\n" + "<" * 7 + " ours\ntwo"),
        ]
        for path, text in forbidden:
            self.assertEqual(len(findings(path, text, rooms, TOPS | {"jobs"})), 1, f"{path}: {text}")


if __name__ == "__main__":
    unittest.main()
