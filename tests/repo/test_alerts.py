"""The alerts of monitoring/: promtool takes them, each fires and stays silent in a case, and has a page that says what to do.

Needs promtool (package prometheus, by scripts/setup) and the program of the preset `tested`.
"""

import functools
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "real"))

import law  # noqa: E402
import metric_names  # noqa: E402

RULES = ROOT / "monitoring" / "alerts.yaml"
CASES = sorted((ROOT / "monitoring").glob("alerts*_test.yaml"))
PAGES = ROOT / "docs" / "runbooks"
PROGRAM = ROOT / "build" / "tested" / "bin" / "bloomring"
BOUND_S = 120
ALERTS_MIN = 25
SECTIONS = ["What it means", "How to see it", "What to do", "It is over when"]

RULE = re.compile(r"^      - alert: (?P<name>\w+)\n(?P<body>(?:        .*\n)+)", re.MULTILINE)
EXPRESSION = re.compile(r"^        expr: (?:>-\n)?(.*?)(?=^        \w+:)", re.MULTILINE | re.DOTALL)
FIELD = r"^ +{}: (?:>-\n +)?(.*)$"
CASE = re.compile(r"alertname: (\w+),?\s+eval_time: \w+,?\s+exp_alerts:( \[\])?")
CODE = re.compile(r"`([^`\n]+)`")
FLAG = re.compile(r"(?<=\s)--[\w-]+")
# Keys of Kafka that pages name besides ours.
OF_KAFKA = {"session.timeout.ms", "retention.ms", "max.message.bytes", "min.insync.replicas", "compression.type"}
KEY = re.compile(r"[a-z_]+(?:\.[a-z_]+)+")


def field(body, name):
    found = re.search(FIELD.format(name), body, re.MULTILINE)
    return found[1].strip('"') if found else ""


def rules():
    """{alert: the text of its rule}"""
    return {rule["name"]: rule["body"] for rule in RULE.finditer(RULES.read_text(encoding="utf-8"))}


def promtool(*arguments):
    done = subprocess.run(
        ["promtool", *map(str, arguments)], capture_output=True, text=True, timeout=BOUND_S, check=False
    )
    return done.returncode, done.stdout + done.stderr


@functools.cache
def help_of(*command):
    """The help of a command; nothing where there is none."""
    done = subprocess.run([PROGRAM, *command, "--help"], capture_output=True, text=True, timeout=BOUND_S, check=False)
    return done.stdout if done.returncode == 0 else ""


def wrong_commands(text):
    """Commands of bloomring in a page that there are not: an unknown command, action or flag."""
    for code in CODE.findall(text):
        words = code.split()
        if words[0] != "bloomring" or len(words) < 2:
            continue
        help_text = help_of(words[1])
        choices = re.search(r"^  what (\S+) REQUIRED", help_text, re.MULTILINE)
        actions = choices[1].split("|") if choices else []
        if not help_text or (actions and words[2] not in actions):
            yield code
        elif any(not re.search(rf"{flag}\b", help_text) for flag in FLAG.findall(code)):
            yield code


def page_faults(text):
    """Names of a page that do not exist: commands, metrics, keys of the configuration."""
    faults = [f"no such command: {code}" for code in wrong_commands(text)]
    series = metric_names.known() | {name.removesuffix("_count") for name in metric_names.known()}
    keys = set(CODE.findall((ROOT / "docs" / "reference" / "config.md").read_text(encoding="utf-8")))
    for code in CODE.findall(text):
        faults += [f"no such metric: {name}" for name in re.findall(r"\bbloomring_\w+", code) if name not in series]
        if KEY.fullmatch(code) and code not in keys | OF_KAFKA:
            faults.append(f"no such key: {code}")
    return faults


class Alerts(law.LawCase):
    def test_rules(self):
        """alerts: promtool takes the rules without a complaint, and each case ends as it says"""
        code, text = promtool("check", "rules", "--lint=all", "--lint-fatal", RULES)
        self.assertEqual(code, 0, text)
        self.assertIn(f"{len(rules())} rules found", text)
        self.assertGreaterEqual(len(rules()), ALERTS_MIN)
        code, text = promtool("test", "rules", *CASES)
        self.assertEqual(code, 0, text)

    def test_cases(self):
        """alerts: each has a case in which it fires, and one in which it stays silent"""
        all_cases = "".join(path.read_text(encoding="utf-8") for path in CASES)
        cases = [(name, "silent" if empty else "fires") for name, empty in CASE.findall(all_cases)]
        self.assertEqual(sorted(cases), sorted((name, end) for name in rules() for end in ("fires", "silent")))

    def test_metrics(self):
        """alerts: each metric of a rule is one that a process exports"""
        for name, body in rules().items():
            query = EXPRESSION.search(body)[1]
            self.assertNotEqual(metric_names.names_in(query), set(), name)
            self.assertEqual(metric_names.unknown_in(query), [], name)

    def test_fields(self):
        """alerts: each has a severity, a summary that is a sentence, a description and its runbook"""
        for name, body in rules().items():
            self.assertTrue(name.startswith("Bloomring"), name)
            self.assertRegex(body, r"(?m)^        labels: \{severity: (critical|warning|info)\}$", name)
            self.assertRegex(field(body, "summary"), r"^[A-Z].*\.$", name)
            self.assertIn("{{ $", field(body, "description"), name)
            self.assertEqual(field(body, "runbook"), f"runbooks/{name}.md")

    def test_runbooks(self):
        """runbooks: each alert has its page and its row, no page is of none, and all have the one form"""
        pages = {path.stem: path.read_text(encoding="utf-8") for path in PAGES.glob("*.md")}
        index = pages.pop("README")
        self.assertEqual(sorted(pages), sorted(rules()))
        for name, body in rules().items():
            severity = re.search(r"severity: (\w+)", body)[1]
            row = f"| [{name}]({name}.md) | {severity} | {field(body, 'summary')} |"
            self.assertIn(row, index.splitlines())
            self.assertTrue(pages[name].startswith(f"# {name}\n\nSeverity: {severity}. "), name)
            self.assertEqual(re.findall(r"^## (.*)$", pages[name], re.MULTILINE), SECTIONS, name)

    def test_runbook_names(self):
        """runbooks: each command, metric and key that a page names exists"""
        faults = [
            f"{path.name}: {fault}"
            for path in sorted(PAGES.glob("*.md"))
            for fault in page_faults(path.read_text(encoding="utf-8"))
        ]
        self.assertEqual(faults, [], "\n" + "\n".join(faults))

    def test_rules_bite(self):
        """alerts: a metric, a command, an action, a flag or a key that does not exist is found"""
        query = 'sum by (stage) (rate(bloomring_blocks_total{a="b"}[5m])) / on (job) up > 0 and bloomring_query_seconds_sum'
        self.assertEqual(metric_names.unknown_in(query), [])
        self.assertEqual(metric_names.unknown_in("rate(bloomring_block_total[5m]) > 0"), ["bloomring_block_total"])
        self.assertEqual(metric_names.unknown_in("bloomring_query_seconds"), ["bloomring_query_seconds"])
        sound = "`bloomring store check --config F`, `bloomring_slots`, `bloomring_query_seconds`, `ring.slots`"
        self.assertEqual(page_faults(sound), [])
        for wrong in ("bloomring stor", "bloomring store chek", "bloomring check --ofline", "bloomring_slot", "ring.slot"):
            self.assertEqual(len(page_faults(f"`{wrong}`")), 1, wrong)


if __name__ == "__main__":
    unittest.main()
