"""A loss of records that are not merged is noticed, at start and while running, with the numbers and the way out."""

import re

import chain
import heavy
import installation
import kafka_admin
import one_broker
import processes

ACCEPT = {"BLOOMRING_STATE_ACCEPT_LOST_EVENTS": "true"}


class Custody(one_broker.OneBrokerCase):
    def install(self, name, **options):
        return installation.Installation(self.folder, self.server.bootstrap, name, **options)

    def test_lost_while_running(self):
        """custody: records that leave the log before a running window stage reads them stop it, with their number and
        the way out; it refuses to start again until they are accepted as lost"""
        properties = {"session.timeout.ms": 120_000}
        slot_seconds = processes.quiet_slot_seconds()
        site = self.install("lost", slot_seconds=slot_seconds, kafka={"properties": properties})
        with site.process("ingest") as ingest, site.process("merge") as merge, site.process("window") as window:
            ready = ingest.ready_line(60)
            merge.ready_line(60)
            window_ready = window.ready_line(60)
            site.play(["a", "b"])
            site.wait_until_ingested(ingest, ready, 60)
            read = site.ends()
            window.wait_until(
                lambda: processes.window_has_read(window_ready["admin"], 60), 30, "the window stage to have read everything"
            )
            window.signal("SIGSTOP")
            # The broker answers a fetch that was on its way with the first block that comes: that one may be read yet.
            site.play(["c"])
            site.wait_until_ingested(ingest, ready, 90)
            may_be_read = site.ends()
            site.play(["d"])
            site.wait_until_ingested(ingest, ready, 120)
            gone = site.ends()
            kafka_admin.delete_records(self.server.bootstrap, site.events, gone)
            window.signal("SIGCONT")
            self.assertEqual(window.wait(60), 1)
            told = re.search(
                r"events-lost\[(\d+)\]: the log no longer has offset (\d+).* retention has removed (\d+) records "
                r"before they were read.*state\.accept_lost_events",
                window.tail(50),
            )
            self.assertTrue(told, window.tail(50))
            partition, at, records = (int(word) for word in told.groups())
            self.assertIn(at, range(read[partition], may_be_read[partition] + 1))
            self.assertEqual(records, gone[partition] - at)
            self.assertGreater(records, 0)

            self.assertEqual(window.start().wait(60), 1)
            self.assertRegex(
                window.tail(50),
                r"\d+ records from offset \d+ are not merged and no longer in the "
                r"log, which starts at \d+.*state\.accept_lost_events",
            )

            with site.process("window", ACCEPT) as accepting:
                ready = accepting.ready_line(60)
                self.assertRegex(accepting.tail(80), r"without the records up to \d+ that the log has lost")
                site.play(["e"])
                accepting.wait_until(lambda: processes.window_has_read(ready["admin"], 30), 60, "the window stage to go on")

    def test_new_topic(self):
        """custody: a topic that was made again is refused while running and at start, a replica names the way out, and
        with `store new-log` the filters stay and the new log is taken up"""
        site = self.install("remade")
        with site.process("ingest,window,merge") as run, site.process("serve") as serve:
            run.ready_line(60)
            grpc = serve.ready_line(60)["grpc"]
            oracle = site.play_heavily(heavy.ONE)
            site.play(["a", "b"])
            site.wait_until_answered(serve, grpc, ["a", "b"], ["filter"])
            site.wait_until_merged(run, sum(heavy.ONE.values()) + 60)
            self.make_events_topic(site)
            self.assertEqual(run.wait(120), 1)
            self.assertRegex(run.tail(60), r"the topic was cut or made again|the topic was made again or cut")
            serve.wait_until(lambda: "run `bloomring store new-log`" in serve.tail(500), 120, "the way out to be named")

            self.assertEqual(run.start().wait(120), 1)
            self.assertRegex(run.tail(30), r"merged below offset \d+, but the log ends at 0.*store new-log")
            site.command("store", "new-log", "--execute")
            self.assertEqual(serve.wait(60), 1)
            self.assertIn("the filter store went back", serve.tail(60))
            run.start().ready_line(60)
            grpc = serve.start().ready_line(60)["grpc"]
            site.play(["c"])
            site.wait_until_answered(serve, grpc, ["a", "b", "c"], ["filter"])
            self.assertEqual(heavy.check(grpc, oracle).wrong(), [])
            self.assertEqual([process.term() for process in (serve, run)], [0, 0])

    def test_another_log(self):
        """custody: a topic that was made again and is longer than before is told by its last applied record"""
        site = self.install("other", slot_seconds=processes.quiet_slot_seconds())
        with site.process("ingest,window,merge") as run:
            ready = run.ready_line(60)
            site.play(["a", "b"])
            site.wait_until_ingested(run, ready, 60)
            run.wait_until(lambda: processes.window_has_read(ready["admin"], 60), 30, "the window stage to have read everything")
            self.assertEqual(run.term(), 0)
        self.make_events_topic(site)
        with site.process("ingest") as ingest:
            ready = ingest.ready_line(60)
            for sent, item in enumerate(("c", "d", "e", "f"), 1):  # each makes blocks of its own
                site.play([item])
                site.wait_until_ingested(ingest, ready, 30 * sent)
        with site.process("ingest,window,merge") as run:
            self.assertEqual(run.wait(60), 1)
            self.assertRegex(run.tail(30), r"holds another record than the one that was read there before.*new-log")

    def make_events_topic(self, site):
        """The topic goes, and another one of its name is there."""
        kafka_admin.delete_topic(self.server.bootstrap, site.events)
        kafka_admin.create_topic(
            self.server.bootstrap, site.events, chain.PARTITIONS, message_timestamp_type="LogAppendTime"
        )
