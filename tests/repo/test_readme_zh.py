"""README.zh.md says what README.md says: the same headings, blocks, lists, tables, links and code, so that neither changes alone."""

import collections
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "real"))

import law  # noqa: E402

FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"^<!-- .* -->$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
LANGUAGES = {"README.md", "README.zh.md"}  # Each page links to the other one.
CHINESE = re.compile(r"[\u4e00-\u9fff]")
LATIN_SHARE_MAX = 0.5  # Of the letters outside of code, names and links: more would be a page that nobody has translated.


def lines_that(prefix, text):
    return [re.match(prefix, line)[0] for line in text.splitlines() if re.match(prefix, line)]


def shape(text):
    """What the two pages have in common, part by part."""
    prose = FENCE.sub("", text)
    return {
        "headings": lines_that(r"#+ ", prose),
        "blocks": FENCE.findall(text),
        "marks": MARK.findall(text),
        "points of lists": len(lines_that(r"- ", prose)),
        "rows of tables": [line.count("|") for line in prose.splitlines() if line.startswith("|")],
        "links": collections.Counter(set(LINK.findall(prose)) - LANGUAGES),
        "code": collections.Counter(CODE.findall(prose)),
    }


def differences(one, other):
    return [part for part, value in shape(one).items() if value != shape(other)[part]]


class ReadmeZh(law.LawCase):
    english = (ROOT / "README.md").read_text(encoding="utf-8")
    chinese = (ROOT / "README.zh.md").read_text(encoding="utf-8")

    def test_same(self):
        """README.zh.md: it has the headings, blocks, lists, tables, links and code of README.md"""
        self.assertEqual(differences(self.english, self.chinese), [])
        self.assertIn("(README.zh.md)", self.english)
        self.assertIn("(README.md)", self.chinese)

    def test_chinese(self):
        """README.zh.md: its prose is Chinese"""
        prose = CODE.sub("", LINK.sub("]", FENCE.sub("", MARK.sub("", self.chinese))))
        latin, chinese = len(re.findall(r"[A-Za-z]", prose)), len(CHINESE.findall(prose))
        self.assertLess(latin / (latin + chinese), LATIN_SHARE_MAX)

    def test_rules_bite(self):
        """README.zh.md: a heading, block, mark, point, row, link or code that only one page has is found"""
        page = "# A\n\n<!-- run -->\n```sh\na --b\n```\n\n- one `c` [d](e.md)\n\n| a | b |\n|---|---|\n| c | d |\n"
        self.assertEqual(differences(page, page.replace("one", "一")), [])
        for was, now, part in (
            ("# A", "## A", "headings"),
            ("a --b", "a --c", "blocks"),
            ("<!-- run -->", "", "marks"),
            ("- one", "one", "points of lists"),
            ("| c | d |\n", "", "rows of tables"),
            ("e.md", "f.md", "links"),
            ("`c`", "`d`", "code"),
        ):
            self.assertEqual(differences(page, page.replace(was, now)), [part])


if __name__ == "__main__":
    unittest.main()
