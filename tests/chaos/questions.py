"""Questions all the time, and the law that their answers are held to.

  - what a complete answer has once called seen, every later complete answer calls seen, whichever replica gives it;
  - a play whose block was in the log LAG_MAX_S before the question is seen by a complete answer, whatever is broken;
  - while nothing is broken, answers are complete, and a play acknowledged FRESH_S ago is seen;
  - of items that were never played at most FALSE_POSITIVE_RATE_MAX are called seen.

A replica that is down, or says that its answer is not complete, breaks no law while faults are under way. No answer is
judged between the restore of a filter store and the return of everybody who follows it.
"""

import json
import random
import threading
import time

import plays
import processes

FRESH_S = 5  # Freshness budget of this machine: it is shared with brokers and whatever else runs.
LAG_MAX_S = 6  # An answer may be complete and up to 5 s behind the log; a second for our own delays.
RECOVERY_BOUND_S = 40  # From "everything is up" to "everything acknowledged is seen by every replica".
FALSE_POSITIVE_RATE_MAX = 0.01
USERS_A_ROUND = 8
ITEMS_A_QUESTION = 60
PROBES_A_QUESTION = 60
ROUND_S = 0.3
TIMEOUT_MS = 1500


def ask(address, questions):
    """Questions (user, items) over one connection: for each the answer, or None where there was none."""
    lines = "".join(
        json.dumps({"user": user[1], "items": items} | ({"scene": user[0]} if user[0] else {})) + "\n"
        for user, items in questions
    )
    command = [plays.binary(), "query", "--server", address, "--batch", "--timeout-ms", str(TIMEOUT_MS)]
    _, out, _ = processes.run(command, stdin=lines, bound_s=30 + len(questions) * TIMEOUT_MS / 1000, check=False)
    answers = [json.loads(line) for line in out.splitlines()]
    if len(answers) != len(questions):
        return [None] * len(questions)
    return [
        None if "error" in answer else plays.checked(answer, user[1], items)
        for answer, (user, items) in zip(answers, questions, strict=True)
    ]


def ask_until_complete(address, user, items):
    return plays.first_complete(lambda: ask(address, [(user, items)])[0], user)


class Questions:
    """The asking thread. A context manager. `calm` is set by the main thread while nothing is broken."""

    def __init__(self, world, oracle, watch, seed):
        self.calm = threading.Event()
        self.violations = []
        self.asked = self.complete = self.incomplete = self.unanswered = 0
        self.probes = self.false_positives = 0
        self.staleness_s = []  # In calm: how long ago the play was acknowledged that is not seen yet.
        self._world = world
        self._oracle = oracle
        self._watch = watch
        self._rng = random.Random(f"questions {seed}")
        self._established = {}  # (user, item): when a complete answer first called it seen.
        self._never = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="questions", daemon=True)

    def replicas(self):
        return {instance: ready["grpc"] for instance, ready in dict(self._world.ready).items() if "grpc" in ready}

    def _probes(self, count):
        self._never += count
        return [f"never-{i}" for i in range(self._never - count, self._never)]

    def _question(self, user):
        items = self._oracle.of(user)
        chosen = self._rng.sample(sorted(items), min(ITEMS_A_QUESTION, len(items)))
        return chosen, self._probes(PROBES_A_QUESTION)

    def _round(self, instance, address):
        users = self._oracle.users()
        chosen = self._rng.sample(users, min(USERS_A_ROUND, len(users)))
        questions = [(user, *self._question(user)) for user in chosen]
        was_calm, asked_at = self.calm.is_set(), time.monotonic()
        was_whole = not self._world.restoring.is_set()
        answers = ask(address, [(user, items + probes) for user, items, probes in questions])
        if not was_whole or self._world.restoring.is_set():
            return
        still_calm = was_calm and self.calm.is_set()
        for (user, items, _), answer in zip(questions, answers, strict=True):
            self._judge(instance, user, len(items), answer, asked_at, still_calm)

    def _judge(self, instance, user, played, answer, asked_at, calm):
        self.asked += 1
        if answer is None or not answer["complete"]:
            self.unanswered += answer is None
            self.incomplete += answer is not None
            if calm:
                self._violate(
                    f"{instance} did not answer completely for {user} while all was well: {answer and answer.get('gaps')}"
                )
            return
        self.complete += 1
        known = self._oracle.of(user)
        for at, verdict in enumerate(answer["items"]):
            if at >= played:
                self.probes += 1
                self.false_positives += verdict["seen"]
                continue
            self._judge_played(instance, user, verdict, known[verdict["item"]], asked_at, calm)

    def _judge_played(self, instance, user, verdict, acknowledged, asked_at, calm):
        key = (user, verdict["item"])
        if verdict["seen"]:
            self._established.setdefault(key, time.monotonic())
            return
        age = asked_at - acknowledged
        since = self._established.get(key)
        in_log = self._watch.in_log_since(acknowledged)
        if since is not None and asked_at - since > LAG_MAX_S:
            self._violate(
                f"{instance} calls {key} unseen, which was seen {asked_at - since:.1f} s before; acknowledged {age:.1f} s ago"
            )
        elif in_log is not None and asked_at - in_log > LAG_MAX_S:
            self._violate(
                f"{instance} calls {key} unseen in a complete answer; in the log for {asked_at - in_log:.1f} s at least"
            )
        elif calm and age > 0:
            self.staleness_s.append(age)
            if age > FRESH_S:
                self._violate(f"{instance} calls {key} unseen while all is well, acknowledged {age:.1f} s ago")

    def _violate(self, what):
        if len(self.violations) < 20:
            self.violations.append(what)

    def _run(self):
        try:
            while not self._stop.wait(ROUND_S):
                for instance, address in self.replicas().items():
                    self._round(instance, address)
        except Exception as failure:  # noqa: BLE001  A law that is not checked any more is a broken law.
            self._violate(f"asking ended: {failure!r}")

    def fresh(self, sample):
        """Whether every replica answers completely and calls everything of the sample {user: items} seen."""
        questions = sorted((user, sorted(items)) for user, items in sample.items())
        replicas = self.replicas()
        if len(replicas) < 2:
            return False
        for address in replicas.values():
            for answer in ask(address, questions):
                if answer is None or not answer["complete"] or not all(verdict["seen"] for verdict in answer["items"]):
                    return False
        return True

    def sample(self, newest=200, older=200):
        """{user: items}: what was acknowledged last, and some of everything."""
        found = {}
        for user, item in self._oracle.newest(newest):
            found.setdefault(user, set()).add(item)
        users = self._oracle.users()
        for user in self._rng.sample(users, min(older // 10, len(users))):
            items = sorted(self._oracle.of(user))
            found.setdefault(user, set()).update(self._rng.sample(items, min(10, len(items))))
        return found

    def stop(self):
        self._stop.set()
        self._thread.join(60)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.stop()
