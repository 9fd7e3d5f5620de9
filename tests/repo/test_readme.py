"""Every command in the documentation is run by a test, every link leads somewhere, the index has every page, and README.md
stays short.

A fenced block of language `sh` in README.md or docs/ has, on the line above its fence, one of
    <!-- run -->            this test runs it with bash from the root of the tree; its exit code must be 0
    <!-- run by FILE -->    FILE runs it, and has each command of the block word by word
Output shown to the reader stands in a block of another language (text, json).
"""

import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "real"))

import law  # noqa: E402

RUN_BOUND_S = 600
PAGES_WITH_COMMANDS = ("README.md", "docs/quickstart.md", "docs/testing.md", "docs/operating.md")
README_LINES_MAX = 120
README_COLUMNS_MAX = 130
README_OPENING_LINES_MAX = 12  # Before the first heading below the title.
FENCE = re.compile(r"^(?P<before>[^\n]*)\n(?P<indent> *)```sh\n(?P<body>.*?)^(?P=indent)```", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"^\s*<!-- run(?: by (?P<file>\S+))? -->\s*$")

ANY_FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
SOURCE = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.(?:h|cc|py|proto|md|yaml))`")
HEADING = re.compile(r"^#+ +(.*?) *$", re.MULTILINE)


def commands_of(body):
    """The commands of a block: lines joined over their backslashes, without comments."""
    joined = re.sub(r"\\\n\s*", "", body)
    return [
        re.sub(r"\s+#\s.*$", "", line).strip()
        for line in joined.splitlines()
        if line.strip() and not line.strip().startswith("#")
    ]


def blocks_of(text):
    """(line, mark or None, commands) of each block; mark is '' for run here, else the file that runs it."""
    for match in FENCE.finditer("\n" + text):
        mark = MARK.match(match["before"])
        line = text[: match.start("body") - 1].count("\n")
        yield line, None if mark is None else mark["file"] or "", commands_of(match["body"])


def documents():
    return [path for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if path.is_file()]


def anchors_of(text):
    """The anchors that GitHub makes of the headings of a page."""
    anchors = []
    for heading in HEADING.findall(ANY_FENCE.sub("", text)):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        anchors.append(f"{anchor}-{anchors.count(anchor)}" if anchor in anchors else anchor)
    return anchors


def broken_links(path, text):
    """Links of a page, to files and headings of the tree, that lead nowhere."""
    broken = []
    for link in LINK.findall(ANY_FENCE.sub("", text)):
        if re.match(r"\w+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        if not target.exists():
            broken.append(link)
        elif anchor and anchor not in anchors_of(text if target == path else target.read_text(encoding="utf-8")):
            broken.append(link)
    return broken


class Documentation(law.LawCase):
    def test_every_block_is_run(self):
        """documentation: every sh block is run here, or by the file it names, word by word"""
        wrong = []
        for path in documents():
            for line, mark, commands in blocks_of(path.read_text(encoding="utf-8")):
                where = f"{path.relative_to(ROOT)}:{line}"
                if mark is None:
                    wrong.append(f"{where}: says neither <!-- run --> nor <!-- run by FILE --> above the block")
                elif mark and not (ROOT / mark).is_file():
                    wrong.append(f"{where}: {mark} is not there")
                elif mark:
                    runner = (ROOT / mark).read_text(encoding="utf-8")
                    wrong += [
                        f"{where}: {mark} does not have: {command}" for command in commands if command not in runner
                    ]
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong))

    def test_pages_with_commands(self):
        """documentation: the pages that say what to type are read, and have blocks"""
        found = {
            str(path.relative_to(ROOT)) for path in documents() if list(blocks_of(path.read_text(encoding="utf-8")))
        }
        self.assertLessEqual(set(PAGES_WITH_COMMANDS), found)

    def test_links(self):
        """documentation: every link to a file or a heading of the tree leads there"""
        broken = [
            f"{path.relative_to(ROOT)}: {link}"
            for path in documents()
            for link in broken_links(path, path.read_text(encoding="utf-8"))
        ]
        self.assertEqual(broken, [], "\n" + "\n".join(broken))

    def test_index(self):
        """documentation: docs/README.md leads to every page of docs/, itself or by the index of its folder"""
        index = ROOT / "docs" / "README.md"
        linked = set()
        for page in (index, *(ROOT / "docs" / folder / "README.md" for folder in ("decisions", "runbooks"))):
            links = [link.partition("#")[0] for link in LINK.findall(page.read_text(encoding="utf-8"))]
            linked |= {(page.parent / link).resolve() for link in links if not re.match(r"\w+:", link)}
        pages = set((ROOT / "docs").rglob("*.md")) - {index}
        self.assertEqual(sorted(path.relative_to(ROOT).as_posix() for path in pages - linked), [])

    def test_sources(self):
        """documentation: every source that the architecture page names is there"""
        page = ROOT / "docs" / "architecture.md"
        named = SOURCE.findall(page.read_text(encoding="utf-8"))
        self.assertIn("pipeline/io/task.h", named)
        self.assertEqual([name for name in named if not (ROOT / name).is_file()], [])

    def test_readme_is_short(self):
        """documentation: README.md opens with a few lines, and fits its bounds"""
        lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
        self.assertLessEqual(len(lines), README_LINES_MAX)
        self.assertEqual([line for line in lines if len(line) > README_COLUMNS_MAX], [])
        first = next(number for number, line in enumerate(lines) if line.startswith("## "))
        self.assertLessEqual(len([line for line in lines[1:first] if line]), README_OPENING_LINES_MAX)

    def test_run_here(self):
        """documentation: the blocks marked to be run end with exit code 0"""
        for path in documents():
            for line, mark, commands in blocks_of(path.read_text(encoding="utf-8")):
                if mark == "":
                    with self.subTest(f"{path.relative_to(ROOT)}:{line}"):
                        done = subprocess.run(
                            ["bash", "-euo", "pipefail", "-c", "\n".join(commands)],
                            cwd=ROOT,
                            stdin=subprocess.DEVNULL,
                            capture_output=True,
                            text=True,
                            timeout=RUN_BOUND_S,
                            check=False,
                        )
                        self.assertEqual(done.returncode, 0, f"{commands}:\n{done.stderr[-2000:]}")

    def test_blocks_are_found(self):
        """documentation: blocks, marks, comments and joined lines are read as they are meant"""
        text = (
            "# Title\n\n<!-- run -->\n```sh\n# why\nscripts/a --x  # and so on\nb \\\n  c\n```\n"
            "text\n```sh\nd\n```\n\n<!-- run by tests/t.py -->\n```sh\ne\n```\n```text\nnot a command\n```\n"
        )
        self.assertEqual(
            list(blocks_of(text)), [(4, "", ["scripts/a --x", "b c"]), (11, None, ["d"]), (16, "tests/t.py", ["e"])]
        )

    def test_broken_links_are_found(self):
        """documentation: a link to a file or a heading that is not there is found, and no other"""
        text = (
            "# A title\n## `B`: one, two\n## Again\n## Again\n```sh\n# no heading\n[d](none.md)\n```\n"
            "[a](#a-title) [b](#b-one-two) [c](test_readme.py) [e](https://example.org/x) [f](#again-1)"
        )
        self.assertEqual(broken_links(pathlib.Path(__file__), text), [])
        wrong = text + " [g](none.md) [h](#no-heading) [i](#again-2)"
        self.assertEqual(broken_links(pathlib.Path(__file__), wrong), ["none.md", "#no-heading", "#again-2"])


if __name__ == "__main__":
    unittest.main()
