"""Every metric that is declared is in the list of its header, and every list is joined into that of all."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "real"))

import law  # noqa: E402

FOLDERS = ("base", "schemas", "state", "operators", "client", "serving", "load", "pipeline", "cli")
DECLARED = re.compile(r"\bMetricDecl\s+(k\w+)\s*\{")
LIST = re.compile(r"MetricDecl\* (k\w+)\[\] = \{(?P<names>[^}]*)\}")
ALL = ROOT / "pipeline" / "metrics" / "all_metrics.cc"


def faults(path, text, joined):
    """The faults of the declarations of one file; `joined` is the text that joins all lists."""
    declared = DECLARED.findall(text)
    lists = list(LIST.finditer(text))
    listed = [name for one in lists for name in re.findall(r"&(k\w+)", one["names"])]
    for name in declared:
        if listed.count(name) != 1:
            yield f"{path}: {name} is {listed.count(name)} times in the list of its header"
    for one in lists:
        if len(re.findall(rf"\b{one[1]}\b", joined)) != 1 or f'#include "{path}"' not in joined:
            yield f"{path}: {one[1]} is not joined in {ALL.relative_to(ROOT)}"


class MetricLists(law.LawCase):
    def test_declarations(self):
        """metrics: every declaration is in the list of its room, and every list in that of all"""
        joined = ALL.read_text(encoding="utf-8")
        found, declared = [], 0
        for folder in FOLDERS:
            for path in sorted((ROOT / folder).rglob("*")):
                if path.suffix not in (".h", ".cc"):
                    continue
                text = path.read_text(encoding="utf-8")
                declared += len(DECLARED.findall(text))
                found += faults(path.relative_to(ROOT).as_posix(), text, joined)
        self.assertGreater(declared, 100)
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_rules_bite(self):
        """metrics: a declaration in no list, one in two, and a list that is not joined are found"""
        declared = "inline constexpr MetricDecl kOne{\n"
        listed = "inline constexpr const MetricDecl* kOurs[] = {\n    &kOne};\n"
        joined = '#include "state/a_metrics.h"\njoined({kOurs, kOthers})'
        self.assertEqual(list(faults("state/a_metrics.h", declared + listed, joined)), [])
        for text, join in (
            (declared, joined),
            (declared + listed.replace("&kOne", "&kOne, &kOne"), joined),
            (declared + listed, joined.replace("kOurs, ", "")),
            (declared + listed, joined.replace("a_metrics", "b_metrics")),
        ):
            self.assertEqual(len(list(faults("state/a_metrics.h", text, join))), 1, text + join)


if __name__ == "__main__":
    unittest.main()
