"""The commands, flags, keys, variables and metrics that pages name exist, and the configurations in them are accepted.

Needs the program of the preset `tested`. Decisions are history, so their names may be gone.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "real"))

import law  # noqa: E402
import page_names  # noqa: E402

PROGRAM = ROOT / "build" / "tested" / "bin" / "bloomring"
BOUND_S = 120
COMMANDS_MIN = 150  # Command lines in the pages; far fewer would say that they are not found.

COMMANDS = """## bloomring store

| `what` (required) | `backup`, `check` | Action |
| `--config` | `FILE` | File |
| `--set` | `KEY=VALUE` | Key |
| `--execute` |  | Do it |

## bloomring manual
"""
CONFIG = "| `ring.slots` | integer | `6` | `BLOOMRING_RING_SLOTS` | 0.1 | Slots. |\n"


def pages():
    """The pages about the program as it is: {path below the root: text}"""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
    paths = [path for path in found if ROOT / "docs" / "decisions" not in path.parents]
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in sorted(paths)}


def checked(configuration):
    """(exit code, standard error) of a check of the configuration alone."""
    with tempfile.TemporaryDirectory(prefix="bloomring-page-") as folder:
        path = pathlib.Path(folder) / "page.yaml"
        path.write_text(configuration, encoding="utf-8")
        words = [PROGRAM, "check", "--offline", "--config", path]
        environment = {"BLOOMRING_KAFKA_BOOTSTRAP": "127.0.0.1:9092"}  # A page about something else names none.
        done = subprocess.run(
            words, env=environment, capture_output=True, text=True, timeout=BOUND_S, check=False
        )
    return done.returncode, done.stderr


class PageNames(law.LawCase):
    def test_names(self):
        """pages: each command, flag, key, variable and metric that a page names exists"""
        names, texts = page_names.declared(), pages()
        found = [f"{path}: {fault}" for path, text in texts.items() for fault in page_names.faults(text, names)]
        self.assertEqual(found, [], "\n" + "\n".join(found))
        lines = [line for text in texts.values() for _, code in page_names.codes_of(text) for line in page_names.command_lines(code)]
        self.assertGreater(len(lines), COMMANDS_MIN)

    def test_configurations(self):
        """pages: each configuration in a page is one that check accepts"""
        count = 0
        for path, text in pages().items():
            for configuration in page_names.configurations(text):
                count += 1
                code, complaint = checked(configuration)
                self.assertEqual(code, 0, f"{path}: {complaint}")
        self.assertGreaterEqual(count, 2)

    def test_wrong_configuration(self):
        """pages: a configuration with an unknown key, or a value out of range, is found"""
        self.assertEqual(checked("ring: {slots: 6}\n"), (0, ""))
        for wrong in ("ring: {slot: 6}\n", "ring: {slots: 1}\n"):
            self.assertNotEqual(checked(wrong)[0], 0, wrong)

    def test_rules_bite(self):
        """pages: a command, flag, argument, key, variable or metric that does not exist is found, and no other"""
        names = page_names.Declared(COMMANDS, CONFIG, ["ring.point"])
        sound = (
            "`bloomring store check --config F`, `/usr/bin/bloomring store --set=ring.slots=5 backup`, `ring.slots: 5`, `ring.h`, "
            "`kubectl -n bloomring get pods`, `BLOOMRING_RING_SLOTS=5`, `bloomring_slots`, `ring.point`, `systemctl stop bloomring`\n\n"
            "```sh\n# bloomring manual\nx | build/bin/bloomring store check \\\n  --execute > out && bloomring manual\n```\n"
            "```text\n17 * * * * bloomring bloomring store backup --set ring.slots=5\n```\n"
        )
        self.assertEqual(list(page_names.faults(sound, names)), [])
        for wrong in (
            *("bloomring stor check", "bloomring store chek", "bloomring manual page", "bloomring store check --ofline"),
            *("bloomring store check --set ring.slot=5", "runuser -u x -- bloomring stop", "ring.slot", "ring.slot: 5"),
            *("BLOOMRING_RING_SLOT", "bloomring_slot"),
        ):
            self.assertEqual(len(list(page_names.faults(f"`{wrong}`", names))), 1, wrong)
        wrong_block = "```sh\nbloomring store check \\\n  --config F --wrong\n```\n"
        self.assertEqual(list(page_names.faults(wrong_block, names)), ["no such flag: bloomring store check --config F --wrong"])


if __name__ == "__main__":
    unittest.main()
