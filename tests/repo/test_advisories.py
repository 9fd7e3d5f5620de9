"""docs/advisories.md has an answer for every part of the program, and scripts/advisories fails where it has none.

Needs the program of the preset `tested`.
"""

import copy
import gzip
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "real"))

import law  # noqa: E402

BOUND_S = 120
SPDX = {
    "packages": [
        {"name": "bloomring"},
        {"name": "liba1", "sourceInfo": "built from Debian's source package a 1:2.0+dfsg-3"},
        {"name": "liba-dev", "sourceInfo": "built from Debian's source package a 1:2.0+dfsg-3"},
        {"name": "libb2", "sourceInfo": "built from Debian's source package b 5.1-1"},
    ]
}
PAGE = """
## Parts

| source package | version |
|---|---|
| `a` | 1:2.0+dfsg-3 |
| `b` | 5.1-1 |

## Advisories

| advisory | part | affects | verdict | why |
|---|---|---|---|---|
| CVE-2020-0001 | `a` | before 2.1 | patched | In 1:2.0+dfsg-2 |
| CVE-2020-0002 | `b` | 5.1 | open | Not tried |
"""


def script():
    path = str(ROOT / "scripts" / "advisories")
    loader = importlib.machinery.SourceFileLoader("advisories", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("advisories", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


class Advisories(law.LawCase):
    @classmethod
    def setUpClass(cls):
        cls.script = script()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.docs = pathlib.Path(folder.name)
        self.changelog("a (1:2.0+dfsg-2) unstable\n\n  * Fix CVE-2020-0001.\n")

    def changelog(self, text):
        (self.docs / "liba1").mkdir(exist_ok=True)
        (self.docs / "liba1" / "changelog.Debian.gz").write_bytes(gzip.compress(text.encode()))

    def found(self, page=PAGE, version=None, **tracker):
        document = copy.deepcopy(SPDX)
        if version:
            document["packages"][3]["sourceInfo"] = f"built from Debian's source package b {version}"
        found, newer, _ = self.script.findings(document, page, docs=self.docs, **tracker)
        return found + newer

    def expect(self, words, found):
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def test_build(self):
        """advisories: every part of the program is listed, and every advisory about one has a verdict and a reason"""
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "1649314823"}
        sbom = subprocess.run(
            ["scripts/sbom", "--build", "build/tested"], cwd=ROOT, env=environment, check=True, capture_output=True,
            timeout=BOUND_S,
        ).stdout  # fmt: skip
        done = subprocess.run(
            ["scripts/advisories", "--allow-newer", "-"], cwd=ROOT, input=sbom, check=False, capture_output=True, timeout=BOUND_S
        )
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))

    def test_parts(self):
        """advisories: an unknown part, another version of its makers, and one older than was looked at are findings"""
        self.assertEqual(self.found(), [])
        self.assertEqual(self.found(version="5.1-2"), [])
        self.expect("b 5.2-1: its advisories were looked at for 5.1-1", self.found(version="5.2-1"))
        self.expect("b 5.1-0.1: older than 5.1-1", self.found(version="5.1-0.1"))
        self.expect("b 5.0-1: older than 5.1-1", self.found(version="5.0-1"))
        self.expect("b 5.1-1: an unknown part", self.found(PAGE.replace("| `b` | 5.1-1 |\n", "")))

    def test_newer(self):
        """advisories: a version of its makers that is newer than was looked at fails, unless newer ones are allowed"""
        document = copy.deepcopy(SPDX)
        document["packages"][3]["sourceInfo"] = "built from Debian's source package b 5.2-1"
        found, newer, behind = self.script.findings(document, PAGE, docs=self.docs)
        self.assertEqual((found, len(newer), behind), ([], 1, []))
        sbom = json.dumps({"packages": [{"name": "b", "sourceInfo": "built from Debian's source package openssl 999-1"}]})
        for options, told in (([], "stderr"), (["--allow-newer"], "stdout")):
            done = subprocess.run(
                ["scripts/advisories", *options, "-"], cwd=ROOT, input=sbom, check=False, capture_output=True, text=True,
                timeout=BOUND_S,
            )  # fmt: skip
            self.assertIn("openssl 999-1: its advisories were looked at for", getattr(done, told), options)

    def test_behind(self):
        """advisories: of a part with two versions the first is the least, one before the second is told, and no failure"""
        page = PAGE.replace("| 5.1-1 |", "| 5.1-1, 5.3-1 |")
        document = copy.deepcopy(SPDX)
        for version, told in (("5.0-1", []), ("5.1-1", ["b 5.1-1"]), ("5.2-1", ["b 5.2-1"]), ("5.3-1", []), ("5.4-1", [])):
            with self.subTest(version=version):
                document["packages"][3]["sourceInfo"] = f"built from Debian's source package b {version}"
                found, newer, behind = self.script.findings(document, page, docs=self.docs)
                self.assertEqual([line.partition(":")[0] for line in behind], told)
                self.assertEqual(len(found), version == "5.0-1", found)
                self.assertEqual(len(newer), version == "5.4-1", newer)
        self.expect("b 5.0-1: older than 5.1-1", self.found(page, version="5.0-1"))
        self.expect("b 5.4-1: its advisories were looked at for 5.3-1", self.found(page, version="5.4-1"))

    def test_verdicts(self):
        """advisories: one without a verdict or a reason, of no part, or not patched by the changelog is a finding"""
        self.expect("CVE-2020-0002 of b: not assessed", self.found(PAGE.replace("| open |", "| later |")))
        self.expect("CVE-2020-0002 of b: not assessed", self.found(PAGE.replace("Not tried |", " |")))
        self.expect("c is no part", self.found(PAGE.replace("0002 | `b`", "0002 | `c`")))
        self.changelog("a (1:2.0+dfsg-2) unstable\n\n  * Fix CVE-2020-00012.\n")
        self.expect("CVE-2020-0001 of a: said to be patched", self.found())

    def test_tracker(self):
        """advisories: one that the tracker of Debian has open in the release is a finding until it is in the table"""
        open_there = {"releases": {"bookworm": {"status": "open"}, "trixie": {"status": "resolved"}}}
        done_there = {"releases": {"bookworm": {"status": "resolved"}, "trixie": {"status": "open"}}}
        known = {"b": {"CVE-2020-0002": open_there, "CVE-2020-0003": done_there}, "other": {"CVE-2020-0004": open_there}}
        self.assertEqual(self.found(tracker=known), [])
        self.expect("CVE-2020-0003 of b: open in trixie", self.found(tracker=known, release="trixie"))
        known["b"]["CVE-2020-0005"] = open_there
        self.expect("CVE-2020-0005 of b: open in bookworm", self.found(tracker=json.loads(json.dumps(known))))


if __name__ == "__main__":
    unittest.main()
