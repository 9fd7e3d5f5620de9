"""Plays all the time, with repeats, disorder, late and bad ones; and the oracle: the exact set of every user.

A play counts once Kafka has acknowledged its record with all in-sync replicas: kcat ends with 0 then, for a batch as a
whole. What is in a batch that failed may be in the log or not; the oracle says nothing about it.

Two users have thousands of plays of one month, so that their filters have the dense form; a third one gets 150,000 plays
within a slot, where the plan says so (burst()).
"""

import dataclasses
import json
import random
import threading
import time

import world as worlds
from world import heavy, processes

USERS = 400
ITEMS = 20_000
SCENES = ("", "", "feed")
BATCH_PLAYS = 120
INTERVAL_S = 0.4
ONE_REPLICA_PLAYS = 12  # Of a batch.
PRODUCE_BOUND_S = 40
DAY_MS = 24 * 3_600_000
HEAVY = {("", user): plays for user, plays in heavy.USERS.items()}
BURST_USER, BURST_PLAYS = ("", "burst"), 150_000


@dataclasses.dataclass(frozen=True, eq=False)
class Forgotten:
    """One item that was forgotten: when the call began and when it was durable, and the replica that took it."""

    begun: float
    done: float
    by: str


class Oracle:
    """Thread safe. A user is (scene, user id). An item of a user was played, is being forgotten (then it is in neither
    list, and nothing is said of it), was forgotten, or was never played: its transaction was aborted."""

    def __init__(self):
        self._lock = threading.Lock()
        self._seen = {}  # User: {item: when its first record was acknowledged}.
        self._recent = []  # (user, item) in the order of acknowledgement, but of the unsampled.
        self._refused = {}  # Bad record: how often it was acknowledged.
        self._forgotten = {}  # User: {item: Forgotten}.
        self._aborted = {}  # User: [item].
        self._unsampled = set()  # Users of whom a sample would not know what has to be seen.

    def acknowledge(self, plays, refused, now, unsampled=False):
        with self._lock:
            for user, item in plays:
                items = self._seen.setdefault(user, {})
                if item not in items:
                    items[item] = now
                    if not unsampled:
                        self._recent.append((user, item))
                if unsampled:
                    self._unsampled.add(user)
            for record in refused:
                self._refused[record] = self._refused.get(record, 0) + 1

    def abort(self, plays):
        with self._lock:
            for user, item in plays:
                self._aborted.setdefault(user, []).append(item)

    def begin_to_forget(self, user, items):
        with self._lock:
            for item in items:
                self._seen[user].pop(item)

    def forget(self, user, items, how):
        with self._lock:
            self._forgotten.setdefault(user, {}).update(dict.fromkeys(items, how))

    def begin_to_play_again(self, user, items):
        with self._lock:
            for item in items:
                self._forgotten[user].pop(item)

    def users(self, unsampled=True):
        with self._lock:
            return sorted(self._seen if unsampled else self._seen.keys() - self._unsampled)

    def heavy_users(self):
        with self._lock:
            return sorted(user for user, items in self._seen.items() if len(items) >= heavy.DENSE_FROM)

    def of(self, user):
        with self._lock:
            return dict(self._seen.get(user, {}))

    def forgotten(self, user):
        with self._lock:
            return dict(self._forgotten.get(user, {}))

    def aborted(self, user):
        with self._lock:
            return list(self._aborted.get(user, []))

    def newest(self, count):
        with self._lock:
            return self._recent[-count:]

    def everything(self):
        with self._lock:
            return {user: dict(items) for user, items in self._seen.items() if items}

    def refused(self):
        with self._lock:
            return dict(self._refused)

    def plays(self):
        with self._lock:
            return len(self._recent)


def produce(bootstrap, topic, lines, timeout_ms=30_000):
    """Acknowledged by all in-sync replicas when this returns; when it raises, nobody knows of any of them."""
    processes.kcat_produce(
        bootstrap,
        topic,
        lines,
        bound_s=PRODUCE_BOUND_S,
        properties=(f"message.timeout.ms={timeout_ms}", "socket.timeout.ms=8000"),
    )


class Producing:
    """A thread that runs self._run until self._stop is set. A context manager."""

    def __init__(self, name):
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def _run(self):
        raise NotImplementedError

    def stop(self):
        self._stop.set()
        self._thread.join(PRODUCE_BOUND_S + 5)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.stop()


class Load(Producing):
    """The producer, a thread. A context manager."""

    def __init__(self, bootstrap, seed):
        self.oracle = Oracle()
        self.records = 0  # Acknowledged.
        self.batches_failed = 0
        self.bootstrap = bootstrap
        self._rng = random.Random(f"load {seed}")
        self._sent = []  # Some of what was produced, to be repeated.
        self._bad = 0
        self._bursts = list(HEAVY.items())  # (user, how many plays), to be produced at once.
        super().__init__("load")

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

    def burst(self):
        """Has 150,000 plays of one user produced, as fast as Kafka takes them; burst_done() says when it has."""
        self._bursts.append((BURST_USER, BURST_PLAYS))

    def burst_done(self):
        return not self._bursts

    def _heavy_batch(self, user, count):
        found = heavy.heavy_plays(int(time.time() * 1000), {user[1]: count})
        return [(user, play.item) for play in found], [], [play.json() for play in found]

    def _run(self):
        while not self._stop.wait(INTERVAL_S):
            burst = self._bursts[0] if self._bursts else None
            plays, refused, lines = self._heavy_batch(*burst) if burst else self._batch()
            try:
                produce(self.bootstrap, "plays", lines)
            except processes.Failed:
                self.batches_failed += 1
                continue
            if burst:
                self._bursts.pop(0)
            self.oracle.acknowledge(plays, refused, time.monotonic())
            self.records += len(lines)


class OneReplica(Producing):
    """A producer of a topic whose partitions have no leader while their one broker is away. A thread, a context manager.
    Its users are in no sample of what has to be seen at once."""

    def __init__(self, bootstrap, oracle, seed):
        self.records = self.in_doubt = 0
        self.bootstrap = bootstrap
        self._oracle = oracle
        self._rng = random.Random(f"one replica {seed}")
        self._item = 0
        super().__init__("one replica")

    def _run(self):
        while not self._stop.wait(2 * INTERVAL_S):
            pairs, now_ms = [], int(time.time() * 1000)
            for _ in range(ONE_REPLICA_PLAYS):
                self._item += 1
                pairs.append((("", f"s{self._rng.randrange(20)}"), f"s{self._item}"))
            lines = [json.dumps({"user": user[1], "item": item, "time": now_ms}) for user, item in pairs]
            try:
                produce(self.bootstrap, worlds.ONE_REPLICA, lines, timeout_ms=10_000)
            except processes.Failed:
                self.in_doubt += 1
                continue
            self._oracle.acknowledge(pairs, [], time.monotonic(), unsampled=True)
            self.records += len(lines)
