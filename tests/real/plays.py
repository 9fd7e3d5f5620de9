"""The real plays of tests/data/ as JSON for the pipeline, and the exact answer to every question about them."""

import collections
import dataclasses
import json
import math
import os
import pathlib
import random

import processes

FILE = processes.ROOT / "tests" / "data" / "kuairand_plays.tsv"
BATCH_ITEMS_MAX = 20_000  # the largest request that the service takes
COMPLETE_BOUND_S = 60
TIMEOUT_MS = 5000  # `bloomring query` waits so long unless told.


def binary():
    """The bloomring under test: $BLOOMRING_BIN, or what the preset `tested` builds."""
    path = pathlib.Path(os.environ.get("BLOOMRING_BIN") or processes.ROOT / "build" / "tested" / "bin" / "bloomring")
    if not path.is_file():
        raise processes.Failed(f"no bloomring at {path}: run scripts/test once, or name one in BLOOMRING_BIN")
    return path


@dataclasses.dataclass(frozen=True)
class Play:
    user: str
    item: str
    time_ms: int
    progress_ms: int
    duration_ms: int

    def json(self):
        return json.dumps(
            {
                "user": self.user,
                "item": self.item,
                "time": self.time_ms,
                "event": "play",
                "progress_ms": self.progress_ms,
                "duration_ms": self.duration_ms,
            },
            separators=(",", ":"),
        )


def read(last_play_ms=None, path=FILE):
    """Every row of the file in its order; with last_play_ms all times are moved so that the last play is then."""
    with open(path, encoding="utf-8") as file:
        assert next(file).split() == ["user_id", "video_id", "time_ms", "play_time_ms", "duration_ms"], path
        rows = [line.split() for line in file]
    shift_ms = 0 if last_play_ms is None else last_play_ms - max(int(row[2]) for row in rows)
    return [Play(row[0], row[1], int(row[2]) + shift_ms, int(row[3]), int(row[4])) for row in rows]


def by_user(plays):
    """The oracle: the exact set of items that each user has played."""
    seen = collections.defaultdict(set)
    for play in plays:
        seen[play.user].add(play.item)
    return dict(seen)


def query(address, user, items, options=()):
    """One question through the command line, the answer as it prints it. options: more of the command's."""
    _, out, _ = processes.run(
        [binary(), "query", "--server", address, "--user", user, *_patient(options)],
        stdin="".join(f"{item}\n" for item in items),
    )
    answer = json.loads(out)
    return checked(answer, user, items)


def first_complete(ask, user):
    """The first complete answer that ask() gives, which may give none: on a busy machine one may miss a source for a
    moment, and says so."""
    last = []

    def complete():
        last[:] = [ask()]
        return last[0] and last[0]["complete"]

    processes.wait_for(
        complete, COMPLETE_BOUND_S, lambda: f"no complete answer for {user}: {last[0] and last[0].get('gaps')}"
    )
    return last[0]


def complete_answer(address, user, items, options=()):
    return first_complete(lambda: query(address, user, items, options), user)


def query_batch(address, questions, options=()):
    """Many questions (user, items) over one connection; the answers in their order."""
    lines = "".join(json.dumps({"user": user, "items": items}) + "\n" for user, items in questions)
    command = [binary(), "query", "--server", address, "--batch", *_patient(options)]
    _, out, _ = processes.run(command, stdin=lines, bound_s=120)
    return [checked(json.loads(line), *question) for line, question in zip(out.splitlines(), questions, strict=True)]


def _patient(options):
    """The same options; a sanitized process may take longer for a call."""
    if "--timeout-ms" in options:
        return options
    return [*options, "--timeout-ms", int(TIMEOUT_MS * processes.PATIENCE)]


def checked(answer, user, items):
    """The answer, if it answers this question."""
    got = [verdict["item"] for verdict in answer.get("items", [])]
    if got != list(items):
        raise processes.Failed(
            f"user {user}: asked for {len(items)} items, the verdicts are for {len(got)} others or in another order"
        )
    return answer


def false_positives_max(expected):
    """How many there may be when so many are expected: chance alone gives more in less than one of a billion runs."""
    if expected > 100:
        return expected + 6 * math.sqrt(expected)
    count, more, probability = 0, 1.0, math.exp(-expected)  # Poisson: that there are exactly, and more than, `count`.
    while (more := more - probability) > 1e-9:
        count += 1
        probability *= expected / count
    return count


def expected_false_positives(answer, probes):
    """By the error that the answer states for itself. It states none when no filter was read."""
    return answer.get("expected_error", 0) * probes


def unseen(user, answer, played):
    """[(user, item)]: of the first `played` items of an answer, those that it calls unseen."""
    return [(user, verdict["item"]) for verdict in answer["items"][:played] if not verdict["seen"]]


@dataclasses.dataclass
class Report:
    """The verdicts of answers: plays that were not seen, and the number of never-played items that were."""

    users: int = 0
    played: int = 0
    unseen: list = dataclasses.field(default_factory=list)  # (user, item)
    incomplete: list = dataclasses.field(default_factory=list)  # users whose first answer was not complete
    probes: int = 0
    false_positives: int = 0
    expected: float = 0  # False positives, by the errors that the answers state.
    changed: int = 0  # Verdicts that were others when the same was asked twice.
    reasons: collections.Counter = dataclasses.field(default_factory=collections.Counter)  # of the played items
    false_reasons: collections.Counter = dataclasses.field(default_factory=collections.Counter)  # of the others, in words
    other_reasons: int = 0  # Of them, those that were not allowed.

    def judge(self, user, answer, played):
        """A complete answer, of which the first `played` items were played and the others never."""
        self.played += played
        self.unseen += unseen(user, answer, played)
        self.reasons.update(verdict["reason"] for verdict in answer["items"][:played] if verdict["seen"])
        probes = answer["items"][played:]
        self.probes += len(probes)
        self.false_positives += sum(verdict["seen"] for verdict in probes)
        self.false_reasons.update(
            f"{verdict['reason']} {verdict.get('period', '')}".rstrip() for verdict in probes if verdict["seen"]
        )
        self.expected += expected_false_positives(answer, len(probes))

    def wrong(self):
        """The breach of the law, in words; empty without one."""
        found = []
        if self.unseen:
            found.append(f"{len(self.unseen)} of {self.played} played items are unseen, as {self.unseen[0]}")
        if self.false_positives > false_positives_max(self.expected):
            found.append(
                f"{self.false_positives} false positives of {self.probes}, {self.expected:.3f} expected; seen for "
                f"{dict(self.false_reasons)}"
            )
        if self.changed:
            found.append(f"{self.changed} verdicts changed when the same was asked again")
        if self.other_reasons:
            found.append(f"{self.other_reasons} played items are seen for other reasons: {dict(self.reasons)}")
        return found

    def __str__(self):
        return (
            f"{self.users} users, {self.played} played items: {len(self.unseen)} unseen, reasons {dict(self.reasons)}; "
            f"{self.probes} never-played probes: {self.false_positives} false positives, {self.expected:.3f} expected; "
            f"{len(self.incomplete)} incomplete answers"
        )


def check_all(address, oracle, probes_per_user=2000, seed=1):
    """Asks for every item each user has played, and for real items of others that the user has not."""
    everything = sorted(set().union(*oracle.values()))
    report = Report()

    def ask(user):
        played = sorted(oracle[user])
        never = [item for item in everything if item not in oracle[user]]
        probes = random.Random(f"{seed} {user}").sample(never, min(probes_per_user, BATCH_ITEMS_MAX - len(played)))
        return user, played, played + probes

    questions = [ask(user) for user in sorted(oracle)]
    answers = query_batch(address, [(user, asked) for user, _, asked in questions])
    for (user, played, _), answer in zip(questions, answers, strict=True):
        report.users += 1
        if not answer["complete"]:
            report.incomplete.append(user)
            answer = complete_answer(address, user, [verdict["item"] for verdict in answer["items"]])
        report.judge(user, answer, len(played))
    return report
