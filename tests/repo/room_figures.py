"""The figures of the rooms of a tree, as rows of a table in Markdown. docs/decisions/0051-rooms-of-at-most-25-files.md
has those of the latest tree that was measured.

    python3 tests/repo/room_figures.py [TREE]

TREE is the root of a checkout, this one by default; of an older commit: `git worktree add --detach FOLDER COMMIT`. An
arrow is a pair of rooms in which one includes a header of the other. An arrow upward is one to a room that stands below
in the table of docs/architecture.md; of a tree without the table none is counted. Functions are those of Universal
Ctags; without that program their row is missing.
"""

import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

import test_layout

LONG_LINES = 350  # Of a file: a sign that it may be two.


def sources_of(tree):
    """{path: text} of the headers and sources of all rooms."""
    found = {}
    for folder, folders, names in os.walk(tree):
        folders[:] = [name for name in folders if name not in test_layout.SKIPPED_FOLDERS]
        for name in names:
            path = pathlib.Path(folder, name)
            relative = path.relative_to(tree)
            if path.suffix in test_layout.CXX and len(relative.parts) > 1 and relative.parts[0] not in test_layout.NO_ROOMS:
                found[relative.as_posix()] = path.read_text(encoding="utf-8")
    return found


def room_of(path):
    return path.rpartition("/")[0]


def arrows_of(sources):
    """Pairs of rooms of which one includes a header of the other."""
    rooms = {room_of(path) for path in sources}
    arrows = set()
    for path, text in sources.items():
        used = {room_of(match["header"]) for match in test_layout.INCLUDE.finditer(text)}
        arrows |= {(room_of(path), room) for room in (used & rooms) - {room_of(path)}}
    return arrows


def circles(arrows):
    """The number of groups of nodes, of two or more, that each reach all others of the group; {node: its targets}."""
    reached = {}
    for node in arrows:
        seen, left = set(), [node]
        while left:
            for target in arrows.get(left.pop(), ()):
                if target not in seen:
                    seen.add(target)
                    left.append(target)
        reached[node] = seen
    return len({frozenset(b for b in seen if a in reached.get(b, ())) for a, seen in reached.items() if a in seen})


def run(command, folder, text):
    return subprocess.run(command, cwd=folder, input=text, capture_output=True, text=True, check=True).stdout


def lines_of_functions(tree, sources):
    """The lines of each function; nothing without Universal Ctags."""
    ctags = shutil.which("ctags")
    if ctags is None or "Universal Ctags" not in run([ctags, "--version"], tree, ""):
        return []
    command = [ctags, "-L", "-", "-f", "-", "--output-format=json", "--fields=+ne", "--languages=C++"]
    command += ["--langmap=C++:.cc.h", "--kinds-C++=f"]
    tags = [json.loads(line) for line in run(command, tree, "\n".join(sources)).splitlines()]
    return [tag["end"] - tag["line"] + 1 for tag in tags if "end" in tag]


def comment_share(texts):
    """Lines that begin with //, of those that are not blank, in percent."""
    lines = [line.strip() for text in texts for line in text.splitlines() if line.strip()]
    return 100 * sum(line.startswith("//") for line in lines) / max(1, len(lines))


def figures(tree, sources):
    """The rows of the table, as (figure, value)."""
    per_room = {}
    for path in sources:
        per_room[room_of(path)] = per_room.get(room_of(path), 0) + 1
    arrows = arrows_of(sources)
    by_room = {room: {used for user, used in arrows if user == room} for room in per_room}
    page = pathlib.Path(tree, "docs", "architecture.md")
    order = list(test_layout.read_rooms(page.read_text(encoding="utf-8"))) if page.exists() else []
    upward = [(a, b) for a, b in arrows if a in order and b in order and order.index(b) > order.index(a)]
    lengths = [len(text.splitlines()) for text in sources.values()]
    functions = lines_of_functions(tree, sources)
    named = sum(re.search("forget", text, re.IGNORECASE) is not None for text in sources.values())
    yield "source files", f"{len(sources)}"
    yield "folders with sources", f"{len(per_room)}"
    yield "files in a folder: median, most", f"{statistics.median_low(per_room.values())}, {max(per_room.values())}"
    yield "arrows between folders", f"{len(arrows)}"
    yield "arrows upward", f"{len(upward)}"
    yield "circles of folders, of file pairs", f"{circles(by_room)}, {circles(test_layout.pair_arrows(sources))}"
    yield "lines of a file: median, longest", f"{statistics.median_low(lengths)}, {max(lengths)}"
    yield f"files of more than {LONG_LINES} lines", f"{sum(length > LONG_LINES for length in lengths)}"
    if functions:
        yield "lines of a function: median, longest", f"{statistics.median_low(functions)}, {max(functions)}"
    headers = comment_share(text for path, text in sources.items() if path.endswith(".h"))
    bodies = comment_share(text for path, text in sources.items() if path.endswith(".cc"))
    yield "comment lines of headers, of bodies", f"{headers:.1f} %, {bodies:.1f} %"
    yield 'files that name "forget"', f"{named} ({100 * named / max(1, len(sources)):.0f} %)"


if __name__ == "__main__":
    TREE = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else test_layout.ROOT).resolve()
    for figure, value in figures(TREE, sources_of(TREE)):
        print(f"| {figure} | {value} |")
