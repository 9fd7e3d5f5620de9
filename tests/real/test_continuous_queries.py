"""Questions all the time while plays arrive, slots turn and processes are killed: the judge of tests/chaos, sharpened.

The law of tests/chaos/questions.py, and: what one life of a replica has called seen in a complete answer, that life
never calls unseen again, with no allowance at all.
"""

import collections
import pathlib
import sys

import law
import processes

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "chaos"))

import chaos  # noqa: E402
import plan  # noqa: E402
import questions as asking  # noqa: E402
import world as worlds  # noqa: E402

SEED = 1
MOVED_MIN = 6  # Partitions whose watermark has to move while questions are asked.
ASKED_MIN = 400  # Complete answers, to have proved anything.


def kill(instance, at_s, for_s):
    return plan.Fault("kill -9", instance, at_s, for_s)


# Each process is killed in company and alone; the last step leaves one replica and nothing else.
STEPS = (
    (kill("merge", 0, 4), kill("window-1", 1, 3), kill("window-2", 3, 2)),
    (kill("serve-1", 0, 3), kill("ingest-1", 1, 2), kill("merge", 2, 2)),
    (
        kill("serve-0", 0, 5),
        kill("window-1", 0, 4),
        kill("window-2", 0, 4),
        kill("merge", 0.5, 4),
        kill("ingest-1", 1, 2),
    ),
)


class Strict(asking.Questions):
    """Remembers by the address, which is another one in each life of a replica."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.reasons = collections.Counter()
        self._seen_by = set()  # (life, user, item)

    def _round(self, instance, address):
        super()._round(f"{instance} at {address}", address)

    def _judge_played(self, instance, user, verdict, acknowledged, asked_at, calm):
        place = (instance, user, verdict["item"])
        if verdict["seen"]:
            self.reasons[verdict["reason"]] += 1
            self._seen_by.add(place)
        elif place in self._seen_by:
            self._violate(f"{instance} calls {verdict['item']} of {user} unseen, and has called it seen before")
        super()._judge_played(instance, user, verdict, acknowledged, asked_at, calm)


class Run(chaos.Chaos):
    """The steps above instead of a plan, on one broker."""

    def __init__(self, folder):
        super().__init__(chaos.parse(["--brokers", "1", "--seed", str(SEED)]), folder)
        self.questions = Strict(self.world, self.load.oracle, self.watch, SEED)

    def run(self):
        with self.world:
            self.load.bootstrap = self.world.server.bootstrap
            with self.load, self.watch, self.questions:
                self.wait_for(self.load.oracle.plays, chaos.WARM_UP_BOUND_S, "the first plays are acknowledged")
                self.recover(chaos.WARM_UP_BOUND_S)
                begin = self.watch.merged()
                for step in STEPS:
                    self.step(step)
                self.wait_for(
                    lambda: sum(offset > begin.get(p, 0) for p, offset in self.watch.merged().items()) >= MOVED_MIN,
                    worlds.UP_BOUND_S,
                    "watermarks have moved meanwhile",
                )
                self.wait_for(
                    lambda: self.questions.reasons["filter"], worlds.UP_BOUND_S, "filters answer, a lap later"
                )
                self.load.stop()
                everything = self.load.oracle.everything()
                self.wait_for(
                    lambda: self.questions.fresh(everything),
                    asking.RECOVERY_BOUND_S,
                    "everything acknowledged is seen by both replicas",
                )
            self.observe()
            self.say(self.table())


class ContinuousQueries(law.LawCase):
    def test_killed(self):
        """queries: what was seen once stays seen, and what is fresh is seen, while slots turn and processes are killed"""
        with processes.temp_folder("queries") as folder:
            run = Run(folder)
            run.run()
        self.assertGreater(run.questions.complete, ASKED_MIN)
        self.assertGreater(run.questions.reasons["recent"], 0)
        self.assertEqual(run.injected["kill -9"], sum(map(len, STEPS)))


class Law(law.LawCase):
    def test_strict(self):
        """queries law: what a life of a replica called seen and calls unseen is found, another life's is not"""
        judge = Strict(None, None, _Log, SEED)
        user = ("", "u1")
        for life, is_seen in (("a", True), ("b", False)):
            judge._judge_played(life, user, {"item": "i1", "seen": is_seen, "reason": "recent"}, 100, 101, False)
        self.assertEqual(judge.violations, [])
        judge._judge_played("a", user, {"item": "i1", "seen": False}, 100, 101, False)
        self.assertRegex(judge.violations[0], "a calls i1 of .* unseen")


class _Log:
    @staticmethod
    def in_log_since(_):
        return None
