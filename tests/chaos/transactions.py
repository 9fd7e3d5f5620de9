"""Plays in transactions, committed and aborted, into a topic of their own: what Kafka Streams and Flink write.

A committed play is acknowledged when the producer says so; an aborted one was never played. Where the producer cannot tell,
because brokers were away, nothing is said of the transaction, and the next producer aborts it if it is still open.
"""

import contextlib
import json
import pathlib
import random
import subprocess
import threading
import time

from world import TRANSACTIONS, kafka_server

USERS = 40
PLAYS = 20  # Of a transaction.
INTERVAL_S = 1
ABORTED_SHARE = 0.3
_PROGRAM = pathlib.Path(__file__).with_name("TransactionalProducer.java")


class Transactions:
    """A thread and its Java process. A context manager."""

    def __init__(self, world, oracle, seed):
        self.committed = self.aborted = self.in_doubt = 0
        self._world = world
        self._oracle = oracle
        self._rng = random.Random(f"transactions {seed}")
        self._item = 0
        self._child = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="transactions", daemon=True)

    def _start(self):
        jars = kafka_server.jars(kafka_server.VERSIONS[0])
        options = ["-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        with open(self._world.folder / "transactions.err", "ab") as err:
            self._child = subprocess.Popen(
                ["java", *options, "-cp", f"{jars}/*", str(_PROGRAM), self._world.server.bootstrap, TRANSACTIONS],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=err,
                text=True,
                start_new_session=True,
            )

    def _plays(self):
        found = []
        for _ in range(PLAYS):
            self._item += 1
            found.append((("", f"t{self._rng.randrange(USERS)}"), f"t{self._item}"))
        return found

    def _transaction(self):
        if self._child is None or self._child.poll() is not None:
            self._start()
        pairs, now_ms = self._plays(), int(time.time() * 1000)
        end = "abort" if self._rng.random() < ABORTED_SHARE else "commit"
        lines = [json.dumps({"user": user[1], "item": item, "time": now_ms}) for user, item in pairs]
        self._child.stdin.write("".join(f"{line}\n" for line in [*lines, end]))
        self._child.stdin.flush()
        if self._child.stdout.readline().strip() != end:  # It has ended, or is about to.
            raise BrokenPipeError
        if end == "commit":
            self._oracle.acknowledge(pairs, [], time.monotonic())
            self.committed += 1
        else:
            self._oracle.abort(pairs)
            self.aborted += 1

    def _run(self):
        while not self._stop.wait(INTERVAL_S):
            try:
                self._transaction()
            except OSError:
                self.in_doubt += 1
                self._end()
        self._end()

    def _end(self):
        if self._child is not None:
            with contextlib.suppress(OSError):
                self._child.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(10)
            self._child.kill()
            self._child.wait()
            self._child.stdout.close()
            self._child = None

    def stop(self):
        self._stop.set()
        self._thread.join(90)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.stop()
        if self._child is not None:
            self._child.kill()
