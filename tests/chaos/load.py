"""Plays all the time, with repeats, disorder, late and bad ones; and the oracle: the exact set of every user.

A play counts once Kafka has acknowledged its record with all in-sync replicas: kcat ends with 0 then, for a batch as a
whole. What is in a batch that failed may be in the log or not; the oracle says nothing about it.
"""

import json
import random
import threading
import time

import world as worlds
from world import processes

USERS = 400
ITEMS = 20_000
SCENES = ("", "", "feed")
BATCH_PLAYS = 120
INTERVAL_S = 0.4
PRODUCE_BOUND_S = 40
DAY_MS = 24 * 3_600_000


class Oracle:
    """Thread safe. A user is (scene, user id)."""

    def __init__(self):
        self._lock = threading.Lock()
        self._seen = {}  # User: {item: when its first record was acknowledged}.
        self._recent = []  # (user, item) in the order of acknowledgement.
        self._refused = {}  # Bad record: how often it was acknowledged.

    def acknowledge(self, plays, refused, now):
        with self._lock:
            for user, item in plays:
                items = self._seen.setdefault(user, {})
                if item not in items:
                    items[item] = now
                    self._recent.append((user, item))
            for record in refused:
                self._refused[record] = self._refused.get(record, 0) + 1

    def users(self):
        with self._lock:
            return sorted(self._seen)

    def of(self, user):
        with self._lock:
            return dict(self._seen[user])

    def newest(self, count):
        with self._lock:
            return self._recent[-count:]

    def everything(self):
        with self._lock:
            return {user: dict(items) for user, items in self._seen.items()}

    def refused(self):
        with self._lock:
            return dict(self._refused)

    def plays(self):
        with self._lock:
            return len(self._recent)


class Load:
    """The producer, a thread. A context manager."""

    def __init__(self, bootstrap, seed):
        self.oracle = Oracle()
        self.records = 0  # Acknowledged.
        self.batches_failed = 0
        self.bootstrap = bootstrap
        self._rng = random.Random(f"load {seed}")
        self._sent = []  # Some of what was produced, to be repeated.
        self._bad = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="load", daemon=True)

    def _play(self, now_ms):
        rng = self._rng
        if self._sent and rng.random() < 0.1:  # A repeat, with another time.
            user, item = rng.choice(self._sent)
        else:
            user = (rng.choice(SCENES), f"u{min(rng.randrange(USERS), rng.randrange(USERS))}")
            item = f"i{rng.randrange(ITEMS)}"
            self._sent.append((user, item))
        late = rng.random()
        if late < 0.03:
            time_ms = now_ms - rng.randrange(50 * DAY_MS)
        elif late < 0.13:
            time_ms = now_ms - rng.randrange(3 * 3_600_000)
        else:
            time_ms = now_ms + rng.randrange(-5000, 60_000 if late > 0.98 else 1)
        return user, item, time_ms

    def _batch(self):
        now_ms = int(time.time() * 1000)
        plays, lines, refused = [], [], []
        for _ in range(BATCH_PLAYS):
            user, item, time_ms = self._play(now_ms)
            record = {"user": user[1], "item": item, "time": time_ms} | ({"scene": user[0]} if user[0] else {})
            plays.append((user, item))
            lines.append(json.dumps(record, separators=(",", ":")))
        if self._rng.random() < 0.5:
            self._bad += 1
            refused.append(f'{{"user":"u1","item":"bad-{self._bad}","time":"yesterday"}}')
        lines += refused
        self._rng.shuffle(lines)
        self._sent = self._sent[-5000:]
        return plays, refused, lines

    def _run(self):
        while not self._stop.wait(INTERVAL_S):
            plays, refused, lines = self._batch()
            try:
                processes.kcat_produce(
                    self.bootstrap,
                    "plays",
                    lines,
                    bound_s=PRODUCE_BOUND_S,
                    properties=("message.timeout.ms=30000", "socket.timeout.ms=8000"),
                )
            except processes.Failed:
                self.batches_failed += 1
                continue
            self.oracle.acknowledge(plays, refused, time.monotonic())
            self.records += len(lines)

    def stop(self):
        self._stop.set()
        self._thread.join(PRODUCE_BOUND_S + 5)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.stop()


assert worlds  # Its import names the folder of `processes`.
