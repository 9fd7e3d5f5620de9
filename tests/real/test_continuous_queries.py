"""Questions all the time while plays arrive, slots turn and processes are killed: the judge of tests/chaos on one broker.

Light and heavy users, 1 to 20,000 candidates that were all played, never played, or mixed, each question of a heavy user
twice at once: the law is that of tests/chaos/questions.py.
"""

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


class Run(chaos.Chaos):
    """The steps above instead of a plan, on one broker."""

    def __init__(self, folder):
        super().__init__(chaos.parse(["--brokers", "1", "--seed", str(SEED)]), folder)

    def run(self):
        with self.world:
            with self.asking():
                self.warm_up()
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
                self.stop_playing()
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
        self.assertGreater(run.questions.complete, ASKED_MIN / processes.PATIENCE)
        self.assertGreater(run.questions.reasons["recent"], 0)
        self.assertEqual(run.injected["kill -9"], sum(map(len, STEPS)))
