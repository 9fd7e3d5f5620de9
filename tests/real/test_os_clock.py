"""Machines whose wall clock is wrong, for librdkafka too, which stamps what it writes: the brokers' clock is what counts."""

import os
import pathlib
import sys
import time

import heavy
import installation
import one_broker
import processes

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "formats"))

import dump  # noqa: E402

SOURCE = pathlib.Path(__file__).with_name("os_clock.c")
AHEAD_S = 3 * 3600  # Kafka 4 takes no time of a producer that is more than an hour ahead.
BEHIND_S = 3 * 24 * 3600  # Longer than user-batches is kept.


class OsClock(one_broker.OneBrokerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.library = cls.folder / "os_clock.so"
        processes.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", cls.library, SOURCE])

    def test_ahead(self):
        """os clock: with ingest, window and merge on machines 3 hours ahead no process ends; ingest waits for the right
        time, plays are merged and answered, and batches have the broker's time"""
        self.merge_and_answer("ahead", AHEAD_S)

    def test_behind(self):
        """os clock: with ingest, window and merge on machines 3 days behind no batch is older than it is; ingest waits for
        the right time, and plays are merged and answered"""
        self.merge_and_answer("behind", -BEHIND_S)

    def merge_and_answer(self, name, ahead_s):
        site = installation.Installation(self.folder, self.server.bootstrap, name, slot_seconds=2)
        sanitizer = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "verify_asan_link_order=0"]))
        wrong = {"LD_PRELOAD": str(self.library), "OS_CLOCK_AHEAD_S": str(ahead_s), "ASAN_OPTIONS": sanitizer}
        began_ms = time.time() * 1000
        with (
            site.process("merge", wrong) as merge,
            site.process("window", wrong) as window,
            site.process("ingest", wrong) as ingest,
            site.process("serve") as serve,
        ):
            for process in (merge, window):
                process.ready_line(60)
            admin, grpc = ingest.ready_line(60)["admin"], serve.ready_line(60)["grpc"]
            oracle = site.play_heavily(heavy.ONE)
            site.play(["a"])

            def says_why():
                status, text = processes.http_get(admin, "/readyz")
                return status == 503 and "ingest-clock" in text

            ingest.wait_until(says_why, 60, "ingest not to be ready, because of its clock")
            self.assertEqual(ingest.term(), 0)
            ready = ingest.start({"OS_CLOCK_AHEAD_S": "0"}).ready_line(60)
            site.wait_until_ingested(ingest, ready, sum(heavy.ONE.values()) + 30)
            site.wait_until_answered(window, grpc, ["a"], ["filter"])
            self.assertEqual(heavy.check(grpc, oracle, heavy.MERGED_OR_NOT).wrong(), [])
            self.assertEqual([process.term() for process in (serve, ingest, window, merge)], [0, 0, 0, 0])
        batches = dump.records(self.server.bootstrap, f"batches-{name}")
        self.assertNotEqual(batches, [])
        times = [batch.time_ms for batch in batches]
        self.assertEqual([ms for ms in times if not began_ms <= ms <= time.time() * 1000], [])
        self.assertEqual(processes.kcat_consume(self.server.bootstrap, f"dead-{name}"), [])
