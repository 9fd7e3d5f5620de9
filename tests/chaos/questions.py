"""Questions all the time, and the law that their answers are held to.

  - what one life of a replica has once called seen in a complete answer, that life calls seen in each later one, at once;
  - what a complete answer has called seen, a complete answer of any replica calls seen LAG_MAX_S later: another replica may
    be so far behind the log, and still answer completely;
  - a play whose block was in the log LAG_MAX_S before the question is seen by a complete answer, whatever is broken;
  - what a call has forgotten is unseen by the replica that took it, at once, and by every other one LAG_MAX_S later, until
    it is played again;
  - while nothing is broken, and the machine lets who is due run, answers are complete, and a play acknowledged FRESH_S ago
    is seen;
  - of items that were never played, or whose transaction was aborted, no more are called seen than the answers expect of
    themselves.

Users with thousands of plays are asked about 1 to 20,000 candidates, all played, none played, and mixed, each question twice
at once. A replica that is down, or says that its answer is not complete, breaks no law while faults are under way. No answer
is judged between the restore of a filter store and the return of everybody who follows it.
"""

import collections
import dataclasses
import json
import random
import threading
import time

import heavy
import plays
import processes

FRESH_S = 5  # Freshness budget of this machine: it is shared with brokers and whatever else runs.
LAG_MAX_S = 6  # An answer may be complete and up to 5 s behind the log; a second for our own delays.
RECOVERY_BOUND_S = 90  # From "everything is up" to "everything acknowledged is seen by every replica".
USERS_A_ROUND = 8
ITEMS_A_QUESTION = 60
PROBES_A_QUESTION = 60
HEAVY_SIZES = (1, 60, 1_000, 5_000, 10_000, plays.BATCH_ITEMS_MAX)
HEAVY_ROUNDS = 0.4  # Of all: tens of thousands of verdicts cost this machine as much as everything else.
HEAVY_SHARES = (1, 0, 0.5)  # Of the candidates, that were played.
ROUND_S = 0.3
TIMEOUT_MS = 1500
OLD_ITEMS = 100  # Of a user.
TICK_S = 0.1
OVERSLEPT_S = 0.7  # A thread that wakes up so late was given no processor; brokers and replicas were given none either.


@dataclasses.dataclass
class Question:
    """Candidates in this order: played ones, each with the acknowledgement of its play, forgotten ones, those of aborted
    transactions, and items that nobody ever names again."""

    user: tuple
    played: dict
    forgotten: dict
    aborted: list
    never: list

    @property
    def items(self):
        return [*self.played, *self.forgotten, *self.aborted, *self.never]


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


class Machine:
    """Whether this machine let a thread run that was due; the thread. A virtual machine can stand still for seconds."""

    def __init__(self):
        self.overslept_at = float("-inf")  # When a thread last woke up too late.
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="machine", daemon=True)

    def _run(self):
        due = time.monotonic() + TICK_S
        while not self._stop.wait(TICK_S):
            now = time.monotonic()
            self.note(now, now - due)
            due = now + TICK_S

    def note(self, now, late_s):
        if late_s > OVERSLEPT_S:
            self.overslept_at = now

    def ran_since(self, moment):
        return self.overslept_at < moment

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join(30)


class Questions:
    """The asking thread. A context manager. `calm` is set by the main thread while nothing is broken."""

    def __init__(self, world, oracle, watch, seed):
        self.calm = threading.Event()
        self.machine = Machine()
        self.violations = []
        self.asked = self.complete = self.incomplete = self.unanswered = 0
        self.probes = self.false_positives = 0
        self.staleness_s = []  # In calm: how long ago the play was acknowledged that is not seen yet.
        self._world = world
        self._oracle = oracle
        self._watch = watch
        self._rng = random.Random(f"questions {seed}")
        self.expected = 0.0  # False positives, by the errors that answers state.
        self.reasons = collections.Counter()  # Of what is seen.
        self.forgotten = 0  # How often something forgotten was judged.
        self._established = {}  # (user, item, its acknowledgement): when a complete answer first called it seen.
        self._seen_by = collections.defaultdict(set)  # Life of a replica: what it has called seen, as above.
        self._aborted_seen = {}  # (user, item) of an aborted transaction: (whether it is seen, by which error).
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
        forgotten, aborted = self._oracle.forgotten(user), self._oracle.aborted(user)
        return Question(
            user,
            {item: items[item] for item in chosen},
            dict(self._rng.sample(sorted(forgotten.items()), min(ITEMS_A_QUESTION, len(forgotten)))),
            self._rng.sample(aborted, min(ITEMS_A_QUESTION, len(aborted))),
            self._probes(PROBES_A_QUESTION),
        )

    def _heavy_question(self, user):
        items = self._oracle.of(user)
        size, share = self._rng.choice(HEAVY_SIZES), self._rng.choice(HEAVY_SHARES)
        chosen = self._rng.sample(list(items), min(round(size * share), len(items)))
        never = self._probes(0 if share == 1 else size - len(chosen))
        return Question(user, {item: items[item] for item in chosen}, {}, [], never)

    def _questions(self):
        users = self._oracle.users()
        found = [self._question(user) for user in self._rng.sample(users, min(USERS_A_ROUND, len(users)))]
        if self._rng.random() < HEAVY_ROUNDS and (heavy_users := self._oracle.heavy_users()):
            found += [self._heavy_question(self._rng.choice(heavy_users))] * 2
        return found

    def _round(self, instance, address):
        questions = self._questions()
        was_calm, asked_at = self.calm.is_set(), time.monotonic()
        was_whole = not self._world.restoring.is_set()
        answers = ask(address, [(question.user, question.items) for question in questions])
        if not was_whole or self._world.restoring.is_set():
            return
        still_calm = was_calm and self.calm.is_set() and self.machine.ran_since(asked_at - FRESH_S)
        for at, (question, answer) in enumerate(zip(questions, answers, strict=True)):
            again = at > 0 and question is questions[at - 1]
            self._judge(f"{instance} at {address}", question, answer, asked_at, still_calm, again)

    def _judge(self, life, question, answer, asked_at, calm, again=False):
        """again: the question has been asked before, so its probes do not count twice."""
        user = question.user
        self.asked += 1
        if answer is None or not answer["complete"]:
            self.unanswered += answer is None
            self.incomplete += answer is not None
            if calm:
                self._violate(
                    f"{life} did not answer completely for {user} while all was well: {answer and answer.get('gaps')}"
                )
            return
        self.complete += 1
        verdicts = iter(answer["items"])
        known = self._oracle.of(user)
        for (item, acknowledged), verdict in zip(question.played.items(), verdicts):
            if known.get(item) == acknowledged:  # Else it is being forgotten.
                self._judge_played(life, user, verdict, acknowledged, asked_at, calm)
        known = self._oracle.forgotten(user) if question.forgotten else {}
        for (item, how), verdict in zip(question.forgotten.items(), verdicts):
            if known.get(item) is how:  # Else it was played again.
                self._judge_forgotten(life, user, verdict, how, asked_at)
        error = answer.get("expected_error", 0)
        for item, verdict in zip(question.aborted, verdicts):
            seen, most = self._aborted_seen.get((user, item), (False, 0))
            self._aborted_seen[user, item] = (seen or verdict["seen"], max(most, error))
        if not again:
            self._judge_never(list(verdicts), error)

    def _judge_never(self, verdicts, error):
        self.probes += len(verdicts)
        self.false_positives += sum(verdict["seen"] for verdict in verdicts)
        self.expected += error * len(verdicts)
        if self.false_positives > plays.false_positives_max(self.expected):
            self._violate(f"{self.false_positives} of {self.probes} never played are seen, expected {self.expected:.3f}")
        aborted = sum(seen for seen, _ in self._aborted_seen.values())
        if aborted > plays.false_positives_max(sum(most for _, most in self._aborted_seen.values())):
            self._violate(f"{aborted} of {len(self._aborted_seen)} plays of aborted transactions are seen")

    def _judge_played(self, life, user, verdict, acknowledged, asked_at, calm):
        key = (user, verdict["item"], acknowledged)
        if verdict["seen"]:
            self.reasons[verdict["reason"]] += 1
            self._established.setdefault(key, time.monotonic())
            self._seen_by[life].add(key)
            return
        age = asked_at - acknowledged
        since = self._established.get(key)
        in_log = self._watch.in_log_since(acknowledged)
        if key in self._seen_by[life]:
            self._violate(f"{life} calls {key} unseen, and has called it seen before; acknowledged {age:.1f} s ago")
        elif since is not None and asked_at - since > LAG_MAX_S:
            self._violate(
                f"{life} calls {key} unseen, which was seen {asked_at - since:.1f} s before; acknowledged {age:.1f} s ago"
            )
        elif in_log is not None and asked_at - in_log > LAG_MAX_S:
            self._violate(
                f"{life} calls {key} unseen in a complete answer; in the log for {asked_at - in_log:.1f} s at least"
            )
        elif calm and age > 0:
            self.staleness_s.append(age)
            if age > FRESH_S:
                self._violate(f"{life} calls {key} unseen while all is well, acknowledged {age:.1f} s ago")

    def _judge_forgotten(self, life, user, verdict, how, asked_at):
        if self._world.doubts_forget(how.begun, how.done) or (life != how.by and asked_at - how.done <= LAG_MAX_S):
            return
        self.forgotten += 1
        if verdict["seen"]:
            self._violate(
                f"{life} calls {verdict['item']} of {user} seen ({verdict['reason']}), which {how.by} has forgotten "
                f"{asked_at - how.done:.1f} s before"
            )

    def _violate(self, what):
        if len(self.violations) < 20:
            self.violations.append(what)

    def _run(self):
        try:
            with self.machine:
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

    def old_seen(self):
        """Whether every replica answers completely about some plays of every user, however old, and about those of heavy
        users. One that a complete answer calls unseen is a violation: all of them are long in the log."""
        asked_at, questions, replicas = time.monotonic(), self._old(), self.replicas()
        if len(replicas) < 2:
            return False
        for address in replicas.values():
            answers = ask(address, questions)
            if any(answer is None or not answer["complete"] for answer in answers):
                return False
            for (user, _), answer in zip(questions, answers, strict=True):
                known = self._oracle.of(user)
                unseen = [verdict["item"] for verdict in answer["items"] if not verdict["seen"]]
                lost = [item for item in unseen if item in known and self._long_in_log(known[item], asked_at)]
                if lost:
                    self._violate(f"{address} calls {len(lost)} old plays of {user} unseen, as {lost[0]}")
        return True

    def _long_in_log(self, acknowledged, at):
        since = self._watch.in_log_since(acknowledged)
        return since is not None and at - since > LAG_MAX_S

    def _old(self):
        """[(user, items)]"""
        found = []
        for user in self._oracle.users():
            items = self._oracle.of(user)
            size = plays.BATCH_ITEMS_MAX if len(items) >= heavy.DENSE_FROM else OLD_ITEMS
            if items:
                found.append((user, self._rng.sample(sorted(items), min(size, len(items)))))
        return found

    def sample(self, newest=200, older=200):
        """{user: items}: what was acknowledged last, and some of everything."""
        found = {}
        for user, item in self._oracle.newest(newest):
            found.setdefault(user, set()).add(item)
        users = self._oracle.users(unsampled=False)
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
