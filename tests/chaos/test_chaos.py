"""The short chaos run, and that its plan and its laws are what they say: a law that cannot be broken proves nothing."""

import collections
import dataclasses
import itertools
import time
import types
from unittest import mock

import chaos
import plan
import world as worlds  # Its import names the folder of `law`.
import load as loads
import questions as asking

import law
import processes

SHORT = ("--minutes", "3", "--seed", "1")
SHORT_ON_SERVERS = ("--minutes", "2", "--seed", "70", "--brokers", "1", "--store", "redis")
USER = ("", "u1")


class Plan(law.LawCase):
    def test_same_seed(self):
        """chaos plan: the same seed deals the same steps, another seed others"""
        some = [list(itertools.islice(plan.steps(seed), 40)) for seed in (7, 7, 8)]
        self.assertEqual(some[0], some[1])
        self.assertNotEqual(some[0], some[2])

    def test_server_deck(self):
        """chaos plan: with a Redis cluster every fault of a server is dealt, and no step lets two servers be replaced"""
        dealt = []
        for step in itertools.islice(plan.steps(3, store="redis"), 5):
            self.assertLessEqual(sum(fault.kind in plan.TAKE_OVERS for fault in step), 1)
            dealt += [fault.kind for fault in step]
        self.assertLessEqual({kind for kind, _ in plan.SERVER_DECK}, set(dealt))

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
        self.assertEqual({kind for kind, _ in plan.LONG_DECK + plan.SERVER_DECK}, set(chaos.faults.KINDS))


class Laws(law.LawCase):
    """The judge on answers made by hand. Times are seconds of any clock; the play was acknowledged at 100."""

    def setUp(self):
        self.oracle = loads.Oracle()
        self.oracle.acknowledge([(USER, "i1")], [], 100)
        self.in_log = None
        self.world = worlds.World("unused", 1)
        watch = types.SimpleNamespace(in_log_since=lambda acknowledged: self.in_log)
        self.judge = asking.Questions(self.world, self.oracle, watch, seed=1)

    def answer(self, asked_at, *seen, life="serve-0", complete=True, calm=False, error=0, **question):
        """Judges an answer, of i1 unless the question is another one; the violations until now."""
        groups = {"played": {"i1": 100}, "forgotten": {}, "aborted": [], "never": []} | question
        asked = asking.Question(USER, **groups)
        verdicts = [
            {"item": item, "seen": is_seen, "reason": "filter"} for item, is_seen in zip(asked.items, seen, strict=True)
        ]
        if seen[0] and asked.played:
            self.judge._established[USER, "i1", 100] = asked_at
        answer = {"complete": complete, "items": verdicts, "expected_error": error}
        self.judge._judge(life, asked, answer, asked_at, calm)
        return self.judge.violations

    def test_forgotten(self):
        """chaos law: a play that was seen and is unseen later is found, at once in one life of a replica"""
        self.assertEqual(self.answer(103, True), [])
        self.assertEqual(self.answer(106, False, life="serve-1"), [])
        self.assertRegex(self.answer(103.1, False)[0], "has called it seen before")
        self.assertRegex(self.answer(110, False, life="serve-1")[1], "was seen 7.0 s before")

    def test_late(self):
        """chaos law: a play that is unseen while all is well is found, once the freshness budget is over"""
        self.assertEqual(self.answer(104, False, calm=True), [])
        self.assertEqual(self.answer(180, False), [])
        self.assertRegex(self.answer(106, False, calm=True)[0], "acknowledged 6.0 s ago")

    def test_complete(self):
        """chaos law: a complete answer without a play that is long in the log is found, whatever is broken"""
        self.in_log = 108
        self.assertEqual(self.answer(112, False), [])
        self.assertEqual(self.answer(120, False, complete=False), [])
        self.assertRegex(self.answer(120, False)[0], "in the log for 12.0 s")

    def test_no_answer(self):
        """chaos law: no complete answer while all is well is found"""
        self.assertEqual(self.answer(101, True, complete=False), [])
        self.assertRegex(self.answer(101, True, complete=False, calm=True)[0], "did not answer completely")

    def test_machine(self):
        """chaos law: nothing is asked of an answer that came while the machine stood still, and soon after it"""
        machine = self.judge.machine
        machine.note(100, asking.OVERSLEPT_S / 2)
        self.assertTrue(machine.ran_since(0))
        machine.note(200, asking.OVERSLEPT_S * 2)
        self.assertFalse(machine.ran_since(200))
        self.assertTrue(machine.ran_since(201))

    def test_forgets(self):
        """chaos law: something forgotten that is seen is found, at once where the call was taken; unless it is in doubt"""
        how = loads.Forgotten(200, 201, "serve-0")
        self.oracle.begin_to_forget(USER, ["i1"])
        self.assertEqual(self.answer(202, False), [])  # Whoever asked before it was forgotten.
        self.oracle.forget(USER, ["i1"], how)
        asked = {"played": {}, "forgotten": {"i1": how}}
        self.assertEqual(self.answer(206, True, life="serve-1", **asked), [])
        for doubt in ([0, 200], [201, 300]):
            self.world.forget_doubts = [doubt]
            self.assertEqual(self.answer(220, True, **asked), [])
        self.world.forget_doubts = [[0, 199], [202, 300]]
        self.assertRegex(self.answer(202, True, **asked)[0], "i1 of .* seen .filter., which serve-0 has forgotten 1.0 s")
        self.assertRegex(self.answer(208, True, life="serve-1", **asked)[1], "serve-0 has forgotten 7.0 s before")
        self.oracle.begin_to_play_again(USER, ["i1"])
        self.assertEqual(len(self.answer(209, True, **asked)), 2)

    def test_false_positives(self):
        """chaos law: more false positives than the answers expect are found, also where they are far below 1 %"""
        never = {"played": {}, "never": [f"n{i}" for i in range(1000)]}
        self.assertEqual(self.answer(101, *[True] * 5, *[False] * 995, error=0.005, **never), [])
        self.judge.false_positives, self.judge.expected = 0, 0
        found = self.answer(101, *[True] * 5, *[False] * 995, error=1e-6, **never)
        self.assertRegex(found[0], "5 of 2000 never played are seen, expected 0.001")

    def test_aborted(self):
        """chaos law: a play of an aborted transaction that is seen is found"""
        asked = {"played": {}, "aborted": ["i2", "i3"]}
        self.assertEqual(self.answer(101, False, False, error=1e-12, **asked), [])
        self.assertRegex(self.answer(102, True, False, error=1e-12, **asked)[0], "1 of 2 plays of aborted")


    def test_old(self):
        """chaos law: a play that is long in the log and unseen in a complete answer of one replica is found"""
        self.in_log = time.monotonic() - 60
        self.world.ready = {f"serve-{i}": {"grpc": f"host-{i}"} for i in range(2)}
        complete = {"host-0": True, "host-1": True}

        def ask(address, questions):
            return [
                {"complete": complete[address], "items": [{"item": item, "seen": address == "host-0"} for item in items]}
                for _, items in questions
            ]

        with mock.patch.object(asking, "ask", ask):
            complete["host-1"] = False
            self.assertFalse(self.judge.old_seen())
            self.assertEqual(self.judge.violations, [])
            complete["host-1"] = True
            self.judge.old_seen()
            self.assertRegex(self.judge.violations[0], "host-1 calls 1 old plays of .* unseen, as i1")


class Clocks(law.LawCase):
    """The fault of a clock that is far off, on an ingest process that is made by hand."""

    def carry_out(self, words, clocks, away=False):
        """Its log, then its report about its clock: the fault waits for words in them."""
        told = iter(clocks)
        world = types.SimpleNamespace(
            ready={"ingest-1": {}},
            lives=collections.Counter({"ingest-1": 1}),
            up=lambda *_, **__: world.lives.update({"ingest-1": 1} if world.lives["ingest-1"] < 2 else {}),
            ask_to_end=lambda _: None,
            ended=lambda _: True,
            exit_code=lambda _: 0,
            log_size=lambda _: 0,
            logged_since=lambda *arguments: arguments[-1] in words,
            brokers_away=lambda: away,
            clock_of_ingest=lambda _: next(told),
            says_ready=lambda _: True,
        )
        fault = plan.Fault("clock far behind", "ingest-1", 0, 0 if away or not words else 60, "-900000")
        waits = [wait for wait in chaos.faults.clock_off(world, fault) if isinstance(wait, chaos.faults.Until)]
        return [wait.what for wait in waits if not wait.condition()]

    def test_ingest(self):
        """chaos fault: ingest whose clock is far off says so, reads nothing meanwhile, and goes on when it is right"""
        off = worlds.ClockOfIngest("ingest-clock: ...", -900.2, 7)
        wrong, right = chaos.faults.CLOCK_IS_WRONG, chaos.faults.CLOCK_IS_RIGHT
        self.assertEqual(self.carry_out([wrong, right], [off, off]), [])
        self.assertEqual(self.carry_out([wrong], [off, off]), ["ingest-1 goes on when its clock is right"])
        for clocks, why in (
            ((off, dataclasses.replace(off, records=8)), "reads plays while its clock is off"),
            ((off, dataclasses.replace(off, offset_s=0)), "whose clock is -900.0 s off"),
            ((dataclasses.replace(off, not_ready=""), off), "whose clock is -900.0 s off"),
        ):
            with self.assertRaisesRegex(processes.Failed, why):
                self.carry_out([wrong, right], clocks)

    def test_silent_ingest(self):
        """chaos fault: ingest that does not notice that its clock is far off is found, unless brokers were away"""
        with mock.patch.object(chaos.faults, "CLOCK_STEP_AFTER_MS", -1000):
            with self.assertRaisesRegex(processes.Failed, "did not say that its clock was -900.0 s off"):
                self.carry_out([], [])
            self.assertEqual(self.carry_out([], [], away=True), [])


class Excuses(law.LawCase):
    """The processes that may end by themselves, with their last words."""

    def end(self, code, words, was_ready=True):
        """Whether the world takes it."""
        process = types.SimpleNamespace(exit_code=lambda: code, tail=lambda _: words, describe=lambda what: what)
        self.world._processes["merge"] = process
        if was_ready:
            self.world.ready["merge"] = {"admin": ""}
        try:
            self.world._note_end("merge")
        except processes.Failed:
            return False
        return True

    def setUp(self):
        self.world = worlds.World("unused", 1)

    def test_reason(self):
        """chaos law: an exit is excused by the fault under way alone, with its code and its message"""
        full = "merge cannot go on: No space left on device"
        self.assertFalse(self.end(1, full))
        with self.world.may_end("merge", "full disk", "No space left"):
            self.assertTrue(self.end(1, full))
            self.assertFalse(self.end(137, full))
            self.assertFalse(self.end(1, "merge cannot go on: Message size too large"))
            self.assertFalse(self.end(1, full + "; 3 records are lost"))
        self.assertFalse(self.end(1, full))

    def test_brokers(self):
        """chaos law: while brokers are away, who starts may give up waiting for them, and nobody ends for another reason"""
        with self.world.brokers_away_for("broker kill -9"):
            for gave_up in ("no broker answered at 127.0.0.1:1", "waited 60 s in vain for the filter store"):
                self.assertTrue(self.end(1, gave_up, was_ready=False))
                self.assertFalse(self.end(1, gave_up))
            self.assertFalse(self.end(1, "cannot write to plays-dead[0]: Broker: Message size too large", was_ready=False))


class Short(law.LawCase):
    def test_short_run(self):
        """chaos: nothing acknowledged is lost while brokers, processes, disks and clocks fail, for three minutes of a fixed seed"""
        self.assertTrue(chaos.hold(chaos.parse(SHORT)))

    def test_short_run_on_servers(self):
        """chaos: the same with the filters on a Redis cluster, whose servers are killed, stalled, filled and cut off, for two
        minutes of a fixed seed"""
        self.assertTrue(chaos.hold(chaos.parse(SHORT_ON_SERVERS)))


assert worlds
