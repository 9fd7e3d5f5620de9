"""The figures of rooms are those of the tree that they are counted in."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "real"))

import law  # noqa: E402
import room_figures  # noqa: E402

PAGE = "| `low` | Things. | nothing of ours |\n| `high` | Things. | `low` |\n"
TREE = {
    "docs/architecture.md": PAGE,
    "low/a.h": "// What it is.\n\n#pragma once\n",
    "low/a.cc": '#include "low/a.h"\n#include "low/b.h"\n\nint a() {\n  return 1;\n}\n',
    "low/b.h": '#include "high/c.h"\n#pragma once\n',
    "high/c.h": '#include "low/a.h"\nint forgets();\n// Of it.\n',
    "tests/low/a_test.cc": '#include "low/a.h"\n',
}


class RoomFigures(law.LawCase):
    def test_small_tree(self):
        """room figures: files, arrows, circles, lines and comments of a small tree are counted, and tests are no room"""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in TREE.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            found = dict(room_figures.figures(folder, room_figures.sources_of(folder)))
        self.assertEqual(found.pop("lines of a function: median, longest", "3, 3"), "3, 3")
        self.assertEqual(
            found,
            {
                "source files": "4",
                "folders with sources": "2",
                "files in a folder: median, most": "1, 3",
                "arrows between folders": "2",
                "arrows upward": "1",
                "circles of folders, of file pairs": "1, 1",
                "lines of a file: median, longest": "3, 6",
                "files of more than 350 lines": "0",
                "comment lines of headers, of bodies": "28.6 %, 0.0 %",
                'files that name "forget"': "1 (25 %)",
            },
        )

    def test_longest_counts(self):
        """room figures: a file is long from one line more than the bound on"""
        for lines, count in ((room_figures.LONG_LINES, "0"), (room_figures.LONG_LINES + 1, "1")):
            with tempfile.TemporaryDirectory() as folder:
                pathlib.Path(folder, "low").mkdir()
                pathlib.Path(folder, "low", "a.h").write_text("\n" * lines, encoding="utf-8")
                found = dict(room_figures.figures(folder, room_figures.sources_of(folder)))
            self.assertEqual(found[f"files of more than {room_figures.LONG_LINES} lines"], count)

    def test_circles(self):
        """room figures: circles that share a room are one, and others are counted apart"""
        self.assertEqual(room_figures.circles({"a": {"b"}, "b": {"c"}, "c": set()}), 0)
        self.assertEqual(room_figures.circles({"a": {"b"}, "b": {"a", "c"}, "c": {"b"}}), 1)
        self.assertEqual(room_figures.circles({"a": {"b"}, "b": {"a"}, "c": {"d"}, "d": {"c"}}), 2)


if __name__ == "__main__":
    unittest.main()
