"""A stranger's tools for a running bloomring: kcat for its topics, ldb (Debian: rocksdb-tools) for its folders."""

import collections
import re
import subprocess

CONSUME = ("kcat", "-C", "-m", "30", "-b")  # -m: seconds until it gives a busy broker up
ENTRY = re.compile(r"'([0-9A-F]*)' seq:\d+, type:(\d+) => ?([0-9A-F]*)")
Record = collections.namedtuple("Record", "partition offset time_ms key_bytes value")


def records(bootstrap, topic, bound_s=60):
    """Every record of a topic."""
    command = [*CONSUME, bootstrap, "-t", topic, "-o", "beginning", "-e", "-q", "-f", "%p %o %T %K %S %s\n"]
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=bound_s).stdout
    found, at = [], 0
    while at < len(out):
        *numbers, rest = out[at : at + 100].split(b" ", 5)
        partition, offset, time_ms, key_bytes, size = map(int, numbers)
        at += len(out[at : at + 100]) - len(rest)
        found.append(Record(partition, offset, time_ms, key_bytes, out[at : at + size]))
        at += size + 1
    return found


def entries(folder, bound_s=60):
    """{key: [(type, value), the newest first]} of a RocksDB folder that nobody writes, by its keys in order."""
    command = ["ldb", "idump", "--hex", f"--db={folder}"]
    out = subprocess.run(command, capture_output=True, text=True, check=True, timeout=bound_s).stdout
    found = {}
    for line in out.splitlines():
        match = ENTRY.match(line)
        if match:
            found.setdefault(bytes.fromhex(match[1]), []).append((int(match[2]), bytes.fromhex(match[3])))
    return found


def refused(bootstrap, dead_topic, topic, bound_s=60):
    """{(partition, offset)} of the records of a topic that became dead letters, by their headers."""
    command = [*CONSUME, bootstrap, "-t", dead_topic, "-o", "beginning", "-e", "-q", "-f", "%h\n"]
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=bound_s, text=True).stdout
    place = re.compile(rf"error\.topic={topic},bloomring\.error\.partition=(\d+),bloomring\.error\.offset=(\d+),")
    return {(int(match[1]), int(match[2])) for match in map(place.search, out.splitlines()) if match}
