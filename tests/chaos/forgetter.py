"""Users who forget: they play, forget by a call or by an event, old plays of theirs are replayed, and they play again.

One thread does all of it for a user, one thing after the other, so that it is known what comes after what. What a call
has forgotten is judged exactly. A forget that comes as an event lies in the past when the log takes it; where the hour of
its user was drained before, filters cannot follow it (docs/decisions/0010-forgetting-by-event-time.md), so the oracle
only says that what it did not name stays seen, and that what is played again is seen again.
"""

import json
import random
import threading
import time

import load as loads
from world import plays, processes

USERS = 24
INTERVAL_S = 0.5
PLAYS_A_ROUND = 6
FORGETS_A_CALL = 3
AGAIN_SHARE = 0.4  # Of rounds in which something forgotten is played again.
AGE_MIN_S = 3  # Of a play that is forgotten by a call: the replica has it, or its filter has.
TIMEOUT_MS = 3000


class Forgetter:
    """A thread. A context manager."""

    def __init__(self, world, oracle, watch, replicas, seed):
        self.calls = self.events = self.failed = self.again = 0
        self._world = world
        self._oracle = oracle
        self._watch = watch
        self._replicas = replicas  # () -> {instance: address}
        self._rng = random.Random(f"forgets {seed}")
        self._times = {}  # (user, item): of its first play, for replays.
        self._on_the_way = []  # (acknowledged at, plays): plays after a forget that may not be in the log.
        self._item = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="forgets", daemon=True)

    def _user(self):
        return "", f"f{self._rng.randrange(USERS)}"

    def _produce(self, events):
        """(event, user, item, time): whether they were acknowledged."""
        lines = [
            json.dumps({"event": kind, "user": user[1], "time": time_ms} | ({"item": item} if item else {}))
            for kind, user, item, time_ms in events
        ]
        try:
            loads.produce(self._world.server.bootstrap, "plays", lines)
        except processes.Failed:
            self.failed += 1
            return False
        return True

    def _play(self):
        """New items of some users, one that was forgotten, and plays of before, word by word."""
        now_ms, new, again, events = int(time.time() * 1000), [], [], []
        for _ in range(PLAYS_A_ROUND):
            self._item += 1
            new.append((self._user(), f"g{self._item}"))
        user = self._user()
        if self._rng.random() < AGAIN_SHARE and (items := sorted(self._oracle.forgotten(user))):
            again.append((user, self._rng.choice(items)))
            self._oracle.begin_to_play_again(user, [again[0][1]])
        known = [pair for pair in self._times if pair not in again]
        replays = self._rng.sample(known, min(3, len(known)))
        events += [("play", user, item, self._times[user, item]) for user, item in replays]
        events += [("play", user, item, now_ms) for user, item in new + again]
        if self._produce(events):
            self._oracle.acknowledge(new, [], time.monotonic(), unsampled=True)
            self._on_the_way.append((time.monotonic(), again))
            self._times.update(dict.fromkeys(new + again, now_ms))

    def _count_again(self):
        """A play after a forget counts, once it is in the log for sure."""
        while self._on_the_way and self._watch.in_log_since(self._on_the_way[0][0]) is not None:
            acknowledged, pairs = self._on_the_way.pop(0)
            self._oracle.acknowledge(pairs, [], acknowledged, unsampled=True)
            self.again += len(pairs)

    def _forget(self):
        user, now = self._user(), time.monotonic()
        old = sorted(item for item, since in self._oracle.of(user).items() if now - since > AGE_MIN_S)
        if not old:
            return
        items = self._rng.sample(old, min(FORGETS_A_CALL, len(old)))
        self._oracle.begin_to_forget(user, items)
        replicas = self._replicas()
        if self._rng.random() < 0.3 or not replicas:
            self.events += self._produce([("forget", user, item, int(time.time() * 1000)) for item in items])
            return
        instance = self._rng.choice(sorted(replicas))
        self._call(instance, replicas[instance], user, items)

    def _call(self, instance, address, user, items):
        begun = time.monotonic()
        command = [plays.binary(), "forget", "--server", address, "--user", user[1], "--timeout-ms", str(TIMEOUT_MS)]
        code, _, _ = processes.run([*command, *items], bound_s=60, check=False)
        if code != 0:  # It may have been done or not.
            self.failed += 1
            return
        self.calls += 1
        self._oracle.forget(user, items, loads.Forgotten(begun, time.monotonic(), f"{instance} at {address}"))

    def _run(self):
        while not self._stop.wait(INTERVAL_S):
            self._play()
            self._forget()
            self._count_again()

    def stop(self):
        self._stop.set()
        self._thread.join(loads.PRODUCE_BOUND_S + 30)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.stop()
