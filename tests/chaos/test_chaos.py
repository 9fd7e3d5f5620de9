"""The short chaos run, and that its plan and its laws are what they say: a law that cannot be broken proves nothing."""

import itertools
import types

import chaos
import plan
import world as worlds  # Its import names the folder of `law`.
import load as loads
import questions as asking

import law

SHORT = ("--minutes", "3", "--seed", "1")
USER = ("", "u1")


class Plan(law.LawCase):
    def test_same_seed(self):
        """chaos plan: the same seed deals the same steps, another seed others"""
        some = [list(itertools.islice(plan.steps(seed), 40)) for seed in (7, 7, 8)]
        self.assertEqual(some[0], some[1])
        self.assertNotEqual(some[0], some[2])

    def test_deck(self):
        """chaos plan: a deck holds every kind, and faults of a step strike different things, one of them brokers at most"""
        dealt = []
        for step in plan.steps(3):
            targets = [fault.target for fault in step]
            self.assertEqual(len(set(targets)), len(targets))
            self.assertLessEqual(sum(target.startswith("broker") for target in targets), 1)
            dealt += step
            if len(dealt) >= len(plan.DECK):
                break
        self.assertEqual({fault.kind for fault in dealt}, {kind for kind, _ in plan.DECK})
        self.assertEqual({kind for kind, _ in plan.LONG_DECK}, set(chaos.faults.KINDS))


class Laws(law.LawCase):
    """The judge on answers made by hand. Times are seconds of any clock; the play was acknowledged at 100."""

    def judge(self, verdicts, complete=True, calm=False, in_log=None):
        """The violations after answers (asked at, seen) about one play."""
        oracle = loads.Oracle()
        oracle.acknowledge([(USER, "i1")], [], 100)
        watch = types.SimpleNamespace(in_log_since=lambda acknowledged: in_log)
        judge = asking.Questions(None, oracle, watch, seed=1)
        for asked_at, seen in verdicts:
            if seen:
                judge._established[(USER, "i1")] = asked_at
            answer = {"complete": complete, "items": [{"item": "i1", "seen": seen}]}
            judge._judge("serve-0", USER, 1, answer, asked_at, calm)
        return judge.violations

    def test_forgotten(self):
        """chaos law: a play that was seen and is unseen later is found"""
        self.assertEqual(self.judge([(103, True), (106, False)]), [])
        self.assertRegex(self.judge([(103, True), (110, False)])[0], "was seen 7.0 s before")

    def test_late(self):
        """chaos law: a play that is unseen while all is well is found, once the freshness budget is over"""
        self.assertEqual(self.judge([(104, False)], calm=True), [])
        self.assertEqual(self.judge([(180, False)]), [])
        self.assertRegex(self.judge([(106, False)], calm=True)[0], "acknowledged 6.0 s ago")

    def test_complete(self):
        """chaos law: a complete answer without a play that is long in the log is found, whatever is broken"""
        self.assertEqual(self.judge([(112, False)], in_log=108), [])
        self.assertEqual(self.judge([(120, False)], in_log=108, complete=False), [])
        self.assertRegex(self.judge([(120, False)], in_log=108)[0], "in the log for 12.0 s")

    def test_no_answer(self):
        """chaos law: no complete answer while all is well is found"""
        self.assertEqual(self.judge([(101, True)], complete=False), [])
        self.assertRegex(self.judge([(101, True)], complete=False, calm=True)[0], "did not answer completely")


class Short(law.LawCase):
    def test_short_run(self):
        """chaos: nothing acknowledged is lost while brokers, processes, disks and clocks fail, for three minutes of a fixed seed"""
        self.assertTrue(chaos.hold(chaos.parse(SHORT)))


assert worlds
