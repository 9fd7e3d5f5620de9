"""The list of mutants, the way one is made (its text must stand in its file exactly once), and the table of last runs."""

import dataclasses
import pathlib
import re
import tomllib

TABLE = pathlib.Path(__file__).resolve().parent / "mutants.toml"
HEAD = """\
| mutant | the product is wrong like this | must be caught by | caught by | commit | day |
|---|---|---|---|---|---|
"""
ROW = re.compile(r"^\| ([\w-]+) \| .* \|$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Mutant:
    name: str
    breaks: str  # The promise that the changed product breaks.
    file: str
    find: str
    replace: str
    program: str  # Of build/tested/bin.
    test: str = ""  # Catch2's pattern; all tests of the program where it is empty.
    seeds: int = 0  # Of the simulation, at most.
    broker: str = ""  # The version of Apache Kafka that the program runs on, where it needs a real one.


def read(path=TABLE):
    """All of them; their names are unique."""
    entries = [Mutant(**entry) for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]]
    names = [entry.name for entry in entries]
    if len(set(names)) != len(names):
        raise ValueError(f"{path}: a name stands there twice")
    return entries


def applied(mutant, text):
    """The file's text with the mutant in it."""
    count = text.count(mutant.find)
    if count != 1:
        raise ValueError(f"{mutant.name}: its text stands {count} times in {mutant.file}, not once:\n{mutant.find}")
    if mutant.replace == mutant.find:
        raise ValueError(f"{mutant.name}: changes nothing")
    return text.replace(mutant.find, mutant.replace)


def merged(page, rows, names):
    """The page with these rows {name: line} in its table, which has the order of names: a row stays until its mutant is
    run again or is gone."""
    about, _, old = page.partition(HEAD)
    lines = {match[1]: match[0] for match in ROW.finditer(old)} | rows
    return about + HEAD + "".join(f"{lines[name]}\n" for name in names if name in lines)
