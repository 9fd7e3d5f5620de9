#!/usr/bin/env python3
"""Memory of a redis-server for what users played: exact ids in sorted sets, and values of the size of filters.

    python3 bench/redis_memory_bench.py [--redis-server PROGRAM]

A server of its own, without persistence, on a free port of this machine. Figures are differences of used_memory.
Sorted sets: USERS users with PLAYS items each; an id has ID_BYTES bytes, its score is a time in milliseconds.
Filters: keys of 48 bytes, values of random bytes with log-normal lengths (median 4,500, sigma 0.75), each with a time at
which it expires, as bloomring stores them.
"""

import argparse
import pathlib
import random
import shutil
import socket
import subprocess
import tempfile

USERS = 20
PLAYS = (100, 1_000, 30_000)
ID_BYTES = (10, 24)
FILTERS = 20_000
KEY_BYTES = 48
NOW_MS = 1_795_000_000_000
PIPELINE = 1_000


class Server:
    def __init__(self, program, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.process = subprocess.Popen(
            [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder],
            stdout=subprocess.PIPE,
            text=True,
        )
        for line in self.process.stdout:  # Until it is ready, or has ended.
            if "Ready to accept connections" in line:
                break
        self.connection = socket.create_connection(("127.0.0.1", port))
        self.answers = self.connection.makefile("rb")

    def send(self, commands):
        """Sends commands, lists of bytes, and returns their answers."""
        answers = []
        for start in range(0, len(commands), PIPELINE):
            part = commands[start : start + PIPELINE]
            self.connection.sendall(b"".join(_encoded(command) for command in part))
            answers += [self._answer() for _ in part]
        return answers

    def _answer(self):
        line = self.answers.readline().rstrip(b"\r\n")
        if line.startswith(b"-"):
            raise RuntimeError(line.decode())
        if line.startswith(b"$"):
            return self.answers.read(int(line[1:]) + 2)[:-2]
        return line[1:]

    def used_memory(self):
        info = self.send([[b"INFO", b"memory"]])[0].decode()
        return int(next(line for line in info.splitlines() if line.startswith("used_memory:")).split(":")[1])

    def added(self, commands):
        """The memory that commands take for good, in an empty server."""
        self.send([[b"FLUSHALL"]])
        before = self.used_memory()
        self.send(commands)
        return self.used_memory() - before

    def stop(self):
        self.answers.close()
        self.connection.close()
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


def _encoded(command):
    head = b"*%d\r\n" % len(command)
    return head + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in command)


def sorted_sets(chance, plays, id_bytes):
    commands = []
    for user in range(USERS):
        for play in range(plays):
            item = b"%0*d" % (id_bytes, chance.randrange(10**id_bytes))
            commands.append([b"ZADD", b"played:%d" % user, b"%d" % (NOW_MS + play * 15_000), item])
    return commands


def filters(chance):
    commands, payload = [], 0
    for number in range(FILTERS):
        value = chance.randbytes(max(20, round(chance.lognormvariate(8.41, 0.75))))
        key = b"%0*d" % (KEY_BYTES, number)
        commands.append([b"SET", key, value, b"PXAT", b"%d" % (NOW_MS + 10**9 + number)])
        payload += len(key) + len(value)
    return commands, payload


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--redis-server", default=shutil.which("redis-server"))
    program = args.parse_args().redis_server
    folder = tempfile.mkdtemp(prefix="redis-memory-")
    server = Server(program, folder)
    chance = random.Random(1)
    try:
        print("| sorted sets, plays of a user | bytes of an id | bytes an entry |\n|---|---|---|")
        for id_bytes in ID_BYTES:
            for plays in PLAYS:
                entries = USERS * plays
                print(f"| {plays:,} | {id_bytes} | {server.added(sorted_sets(chance, plays, id_bytes)) / entries:.1f} |")
        commands, payload = filters(chance)
        added = server.added(commands)
        print(f"\nfilters: {payload / FILTERS:.0f} bytes of key and value, {added / FILTERS:.0f} in memory: ", end="")
        print(f"{added / payload:.3f} bytes a byte")
    finally:
        server.stop()
        shutil.rmtree(pathlib.Path(folder))


if __name__ == "__main__":
    main()
