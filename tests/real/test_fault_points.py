"""Each fault point, crashed at by a real process of a chain on a real broker."""

import random
import re
import time
import unittest.mock

import chain
import heavy
import kafka_server
import law
import plays
import processes

SLOT_SECONDS = 3
CRASHES_BOUND_S = 480  # Each crash takes a slot or two; the machine is shared.
CHUNK_PLAYS = 250  # Produced every second while processes crash.
KILLED = 137  # The exit code of a process that ended at a fault point.
OWNERS = {"ingest": "ingest", "window": "window-1", "merge": "merge", "store": "merge"}
FOLDERS = ("base", "schemas", "state", "operators", "pipeline", "serving")
NAMED = re.compile(r'\b(?:fault_point|injected_failure)\("([a-z_]+\.[a-z_]+)"\)')
ROW = re.compile(
    r"^\| `((?:ingest|window|merge|store|job|replay|migrate|export|verify|letters)\.[a-z_]+)` \|", re.MULTILINE
)
JOBS = ("job", "replay", "migrate", "export", "verify", "letters")  # Points of jobs, which the tests of these kill at.


def points():
    """The name of every fault point in the sources, sorted."""
    files = [path for folder in FOLDERS for path in (processes.ROOT / folder).rglob("*.cc")]
    return sorted({name for path in files for name in NAMED.findall(path.read_text(encoding="utf-8"))})


class Crashes:
    """One process and the fault points that it has still to crash at, one after the other."""

    def __init__(self, run, instance, names):
        self._run = run
        self._process = run._processes[instance]
        self._instance = instance
        self.left = list(names)
        self._process.kill9()
        self._start_next()

    def _start_next(self):
        self._process.start({"BLOOMRING_FAULT_POINT": self.left[0]} if self.left else {})

    def go_on(self):
        """Whether it has crashed at every point; starts it for the next one when it has at this one."""
        if not self.left:
            return True
        code = self._process.exit_code()
        if code is None:
            return False
        reached = f"fault point {self.left[0]} reached"
        if code != KILLED or reached not in self._process.tail():
            raise processes.Failed(self._process.describe(f"ended with {code} and not at {self.left[0]}"))
        del self.left[0]
        self._start_next()
        if not self.left:
            self._run._wait_ready(self._instance)
        return not self.left


class FaultPoints(law.LawCase):
    def test_table(self):
        """fault points: docs/guarantees.md has a row for each point of the sources, and for no other"""
        table = (processes.ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
        self.assertEqual(sorted(ROW.findall(table)), points())

    def test_crash_at_each(self):
        """fault points: a process that ends at any of them comes back, and every play is seen and in its filter"""
        now_ms = int(time.time() * 1000)
        all_plays = [*plays.read(last_play_ms=now_ms), *heavy.heavy_plays(now_ms)]
        random.Random(1).shuffle(all_plays)  # The heavy users play while processes crash.
        with (
            unittest.mock.patch.object(chain, "SLOT_SECONDS", SLOT_SECONDS),
            processes.temp_folder("faults") as folder,
            kafka_server.KafkaServer(kafka_server.VERSIONS[0], folder / "kafka") as server,
        ):
            run = chain.Chain(folder, server.bootstrap)
            run.make_topics()
            with run:
                self.crash_stages(run, all_plays)
                run.wait_until_merged()
                self.wait_until_filter_answers(run, all_plays[-1])
                self.crash_serve(run, all_plays)
                oracle = plays.by_user(all_plays)
                for report in (
                    heavy.check(run.grpc, {user: oracle[user] for user in heavy.USERS}, heavy.MERGED_OR_NOT),
                    plays.check_all(run.grpc, oracle, probes_per_user=200),
                ):
                    print(f"\n{len(points())} fault points; {report}", flush=True)
                    self.assertEqual(report.wrong(), [])
                    self.assertGreaterEqual(report.reasons["filter"], 0.99 * report.played)
                self.assertEqual(set(run.stop().values()), {0})

    def crash_stages(self, run, all_plays):
        """Plays come in all the time, and three processes crash side by side, each at its own points in turn."""
        names = {}
        for name in points():
            if name != "store.read" and name.split(".")[0] not in JOBS:
                names.setdefault(OWNERS[name.split(".")[0]], []).append(name)
        crashing = [Crashes(run, instance, left) for instance, left in names.items()]
        given, due = 0, 0.0

        def all_crashed():
            nonlocal given, due
            if time.monotonic() >= due:
                run.produce([play.json() for play in all_plays[given : given + CHUNK_PLAYS]])
                given, due = given + CHUNK_PLAYS, time.monotonic() + 1
            return all([each.go_on() for each in crashing])

        begin = time.monotonic()
        processes.wait_for(all_crashed, CRASHES_BOUND_S, lambda: f"no crash at {[each.left for each in crashing]}")
        print(f"\n{sum(map(len, names.values()))} crashes in {time.monotonic() - begin:.0f} s", flush=True)
        run.produce([play.json() for play in all_plays[given:]])

    def crash_serve(self, run, all_plays):
        """A filter is read when somebody asks."""
        crash = Crashes(run, "serve", ["store.read"])
        run._wait_ready("serve")
        users = iter(sorted({play.user for play in all_plays}))

        def crashed():
            processes.run([plays.binary(), "query", "--server", run.grpc, "--user", next(users), "item"], check=False)
            return crash.go_on()

        processes.wait_for(crashed, 60, "serve crashes when it reads a filter")

    def wait_until_filter_answers(self, run, last):
        """The last plays leave the recent ones a lap after the watermark has passed them."""

        def reason():
            return plays.query(run.grpc, last.user, [last.item])["items"][0].get("reason") == "filter"

        processes.wait_for(reason, 60 + 2 * chain.SLOTS * SLOT_SECONDS, "the last play is answered by a filter")
