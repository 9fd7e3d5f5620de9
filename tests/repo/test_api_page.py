"""docs/reference/api.md has every call, field and value of the gRPC API; `scripts/reference --check` says whether it is up to date.

Needs protoc, which the build needs too.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "real"))

import law  # noqa: E402

PROTO = ROOT / "schemas" / "bloomring" / "v1" / "bloomring.proto"
PAGE = ROOT / "docs" / "reference" / "api.md"
BOUND_S = 60
# Lines of protoc's text form of a descriptor: `message_type {`, `name: "Filter"`, `number: 1`.
LINE = re.compile(r'^\s*(?:(?P<opens>\w+) \{|(?P<key>name|number): "?(?P<value>\w+)"?|(?P<closes>\}))$')
SECTION = re.compile(r"^### (\w+)\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| `(\w+)` \| (\d+) \| (.*) \|$", re.MULTILINE)


def compiled():
    """protoc's own view of the file, as text."""
    with tempfile.TemporaryDirectory(prefix="bloomring-api-") as folder:
        out = pathlib.Path(folder) / "set"
        words = ["protoc", f"--proto_path={PROTO.parent}", f"--descriptor_set_out={out}", str(PROTO)]
        subprocess.run(words, timeout=BOUND_S, check=True)
        decode = ["protoc", "--decode=google.protobuf.FileDescriptorSet", "google/protobuf/descriptor.proto"]
        done = subprocess.run(decode, input=out.read_bytes(), capture_output=True, timeout=BOUND_S, check=True)
    return done.stdout.decode()


def declared(text):
    """{message or enum: {field or value: number}}, and the names of the calls, of such a text."""
    sections, calls, stack, name = {}, [], [], None
    for line in text.splitlines():
        match = LINE.match(line)
        if match and match["opens"]:
            stack.append(match["opens"])
        elif match and match["closes"]:
            stack.pop()
        elif match and match["key"] and stack:
            kind = stack[-1]
            if kind in ("message_type", "enum_type") and match["key"] == "name":
                owner = match["value"]
                sections[owner] = {}
            elif kind == "method" and match["key"] == "name":
                calls.append(match["value"])
            elif kind in ("field", "value") and match["key"] == "name":
                name = match["value"]
                sections[owner][name] = 0
            elif kind in ("field", "value"):
                sections[owner][name] = int(match["value"])
    return sections, calls


def faults(page, sections, calls):
    """What the page lacks, has too much of or numbers wrongly."""
    found = {title: {name: int(number) for name, number, _ in ROW.findall(body)} for title, body in SECTION.findall(page)}
    wanted = {**sections, **{call: {} for call in calls}}
    for title in sorted(wanted.keys() | found.keys()):
        if wanted.get(title) != found.get(title):
            yield f"{title}: {found.get(title)} instead of {wanted.get(title)}"


class ApiPage(law.LawCase):
    def test_complete(self):
        """api page: it has each call, and each field and value with the number that protoc gives it"""
        sections, calls = declared(compiled())
        self.assertIn("Forget", calls)
        self.assertEqual(sections["Gap"], {"source": 1, "reason": 2, "lag_seconds": 3})
        self.assertEqual(list(faults(PAGE.read_text(encoding="utf-8"), sections, calls)), [])

    def test_rules_bite(self):
        """api page: a missing call, a missing field and a wrong number are found"""
        page = "### Ask\n\nAsks.\n\n### Gap\n\n| field | number | type | meaning |\n|---|---|---|---|\n| `source` | 1 | x |  |\n"
        self.assertEqual(list(faults(page, {"Gap": {"source": 1}}, ["Ask"])), [])
        for sections, calls in (
            ({"Gap": {"source": 1}}, ["Ask", "Tell"]),
            ({"Gap": {"source": 1, "reason": 2}}, ["Ask"]),
            ({"Gap": {"source": 2}}, ["Ask"]),
            ({}, ["Ask"]),
        ):
            self.assertEqual(len(list(faults(page, sections, calls))), 1, f"{sections} {calls}")


if __name__ == "__main__":
    unittest.main()
