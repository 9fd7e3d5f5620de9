"""What pages name of the program: commands with their flags, keys of the configuration, variables, metrics. A name that the
reference pages do not have is a fault."""

import pathlib
import re

import metric_names
import test_fault_points

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"

SECTION = re.compile(r"^## bloomring (?P<name>[\w-]+)\n(?P<body>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
FLAG_ROW = re.compile(r"^\| `(?P<name>[\w-]+)`(?: \(required\))? \| (?P<value>[^|]*) \| ", re.MULTILINE)
KEY_ROW = re.compile(r"^\| `(?P<key>[a-z_.]+)` \| [^|]* \| [^|]* \| `(?P<variable>BLOOMRING_\w+)` \|", re.MULTILINE)
CODE = re.compile(r"```(?P<language>\w*)\n(?P<block>.*?)^ *```|`(?P<inline>[^`\n]+)`", re.MULTILINE | re.DOTALL)

# The program in a command line, at the beginning or behind a path; not a user, a namespace or an image of that name.
COMMAND = re.compile(r"(?<![\w./=-])(?<!-n )(?<!-u )(?<!--tag )(?:[\w./]*/)?bloomring (?!bloomring )(?=[a-z])")
END = re.compile(r"[|<>;&`)\n#]|\s\.\.\.")
DOTTED = re.compile(r"^(?P<key>[a-z_]+(?:\.[a-z_]+)+)(?:\s*[=:].*)?$", re.DOTALL)
OF_FILES = {"h", "cc", "py", "md", "yaml", "json", "jsonl", "proto", "service", "pb", "token"}
VARIABLE = re.compile(r"\bBLOOMRING_[A-Z0-9_]+\b")
METRIC = re.compile(r"(?<![\w/])bloomring_\w+")
# Of scripts and tests, which read their variables themselves.
OTHER_VARIABLES = {
    *("BLOOMRING_BIN", "BLOOMRING_PATIENCE", "BLOOMRING_FUZZ_SEED", "BLOOMRING_CACHE", "BLOOMRING_DEBIAN13"),
    *("BLOOMRING_FAULT_POINT", "BLOOMRING_CLOCK_STEP"),
}


class Declared:
    """The names of the reference pages."""

    def __init__(self, commands, config, fault_points=()):
        self.commands = {}  # {command: {flag or argument: the values of its column}}
        for part in SECTION.finditer(commands):
            self.commands[part["name"]] = {row["name"]: row["value"] for row in FLAG_ROW.finditer(part["body"])}
        rows = list(KEY_ROW.finditer(config))
        self.keys = {row["key"] for row in rows}
        self.variables = {row["variable"] for row in rows}
        self.fault_points = set(fault_points)
        self.sections = {key.rpartition(".")[0] for key in self.keys} - {""}
        series = metric_names.known()
        self.metrics = series | {name.removesuffix("_count") for name in series}

    def knows_key(self, key):
        return key in self.keys | self.sections | self.fault_points or any(key.startswith(f"{one}.") for one in ("kafka.properties", "events.kinds"))

    def knows_variable(self, name):
        known = self.variables | OTHER_VARIABLES
        return bool({name, name.removesuffix("_FILE")} & known) or name.startswith("BLOOMRING_KAFKA_PROPERTIES_")


def declared():
    commands, config = ((REFERENCE / name).read_text(encoding="utf-8") for name in ("commands.md", "config.md"))
    return Declared(commands, config, test_fault_points.points())


def codes_of(text):
    """(language, text) of each piece of code of a page; the language of code in a line is ''."""
    for match in CODE.finditer(text):
        yield (match["language"], match["block"]) if match["inline"] is None else ("", match["inline"])


def command_lines(code):
    """The words of each command line of the program, without the program."""
    joined = re.sub(r"\\\n\s*", "", code)
    for match in COMMAND.finditer(joined):
        rest = joined[match.end() :]
        end = END.search(rest)
        yield rest[: end.start() if end else len(rest)].split()


def command_faults(words, names):
    """What is wrong with one command line."""
    line = " ".join(words)
    flags = names.commands.get(words[0])
    if flags is None:
        yield f"no such command: bloomring {line}"
        return
    arguments = [value for name, value in flags.items() if not name.startswith("--")]
    value_of, arguments_seen = None, 0
    for word in words[1:]:
        flag, has_value, value = word.partition("=")
        if value_of:
            if value_of == "--set" and word.partition("=")[0].islower() and not names.knows_key(word.partition("=")[0]):
                yield f"no such key: bloomring {line}"
            value_of = None
        elif flag.startswith("--") and flag != "--help":
            if flag not in flags:
                yield f"no such flag: bloomring {line}"
            elif flags[flag] and not has_value:
                value_of = flag
        elif not word.startswith("-"):
            arguments_seen += 1
            choices = re.findall(r"`([\w-]+)`", arguments[0]) if arguments else []
            one_of = arguments_seen == 1 and len(choices) > 1 and word.islower()
            if not arguments or (one_of and word not in choices):
                yield f"no such argument: bloomring {line}"


def faults(text, names):
    """What a page names that there is not."""
    for language, code in codes_of(text):
        for words in command_lines(code):
            yield from command_faults(words, names)
        if not language and (dotted := DOTTED.match(code)):
            key = dotted["key"]
            ours = key.split(".")[0] in names.sections and key.rpartition(".")[2] not in OF_FILES
            if ours and not names.knows_key(key):
                yield f"no such key: {key}"
        yield from (f"no such variable: {name}" for name in VARIABLE.findall(code) if not names.knows_variable(name))
        yield from (f"no such metric: {name}" for name in METRIC.findall(code) if name not in names.metrics)


def configurations(text):
    """The configurations of bloomring among the code of a page: its YAML that is no object of Kubernetes."""
    return [code for language, code in codes_of(text) if language == "yaml" and "apiVersion:" not in code]
