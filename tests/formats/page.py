"""The examples of docs/formats.md, and the golden files."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "filter"


def _bytes_of(line):
    """Hexadecimal digits up to two spaces; what they mean stands behind."""
    return bytes.fromhex(line.split("  ")[0])


def examples():
    """{heading: bytes} of the blocks of language hex."""
    found, heading, block = {}, None, None
    for line in (ROOT / "docs" / "formats.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            if block is not None:
                assert heading not in found, f"two examples under {heading}"
                found[heading] = block
            block = b"" if line == "```hex" else None
        elif block is not None:
            block += _bytes_of(line)
        elif line.startswith("#"):
            heading = line.lstrip("#").strip()
    return found


def rows(name):
    """The rows of a golden file: lists of texts."""
    return [line.split("\t") for line in (GOLDEN / name).read_text(encoding="utf-8").splitlines()]
