"""What the log loses before it is merged is noticed, at start and while running, with the numbers and the way out."""

import contextlib
import json
import re
import time

import chain
import kafka_admin
import kafka_server
import law
import plays
import processes

ACCEPT = {"BLOOMRING_STATE_ACCEPT_LOST_EVENTS": "true"}


class Custody(law.LawCase):
    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        cls.folder = cls.stack.enter_context(processes.temp_folder("custody"))
        cls.server = cls.stack.enter_context(kafka_server.KafkaServer(kafka_server.VERSIONS[0], cls.folder / "kafka"))

    @classmethod
    def tearDownClass(cls):
        cls.stack.close()

    def prepare(self, name, slot_seconds=chain.SLOT_SECONDS):
        """The configuration of an installation of its own, and its topics."""
        folder = self.folder / name
        folder.mkdir()
        settings = chain.config(folder, self.server.bootstrap, name)
        settings["topics"].update(plays=f"plays-{name}", user_events=f"events-{name}", user_batches=f"batches-{name}",
                                  dead=f"dead-{name}")
        settings["kafka"]["group_prefix"] = name
        settings["ring"]["slot_seconds"] = slot_seconds
        path = folder / "bloomring.yaml"
        path.write_text(json.dumps(settings))
        processes.run([plays.binary(), "topics", "--execute", "--config", path])
        return folder, path

    def process(self, folder, path, stages, env=None):
        instance = stages.replace(",", "-")
        command = [plays.binary(), "run", "--config", path, "--stages", stages, "--set", f"instance={instance}",
                   "--set", f"state.path={folder}/state"]
        return processes.Process(instance, command, folder, env)

    def play(self, name, items, users=30):
        now_ms = int(time.time() * 1000)
        lines = [json.dumps({"user": f"u{u}", "item": item, "time": now_ms}) for u in range(users) for item in items]
        processes.kcat_produce(self.server.bootstrap, f"plays-{name}", lines)

    def ends(self, name):
        return processes.end_offsets(self.server.bootstrap, f"events-{name}", chain.PARTITIONS)

    def wait_until_ingested(self, ingest, ready, plays_sent):
        def read():
            return sum(processes.values(processes.metrics(ready["admin"]), "bloomring_ingest_records_total")) >= plays_sent
        ingest.wait_until(read, 60, "the plays to be ingested")
        ingest.wait_until(lambda: not sum(processes.values(processes.metrics(ready["admin"]), "bloomring_custody_lag_records",
                                                           stage="ingest")), 60, "the plays to be committed")

    def wait_until_filtered(self, process, grpc, items, user="u7"):
        def filtered():
            answer = plays.query(grpc, user, items)
            return answer["complete"] and all(verdict.get("reason") == "filter" for verdict in answer["items"])
        process.wait_until(filtered, 120, "the plays to be in the filters")

    def test_lost_while_running(self):
        """custody: records that leave the log before a running window stage reads them stop it, with their number and
        the way out; it refuses to start again until they are accepted as lost"""
        folder, path = self.prepare("lost", slot_seconds=3600)
        with self.process(folder, path, "ingest") as ingest, self.process(folder, path, "merge") as merge, \
                self.process(folder, path, "window") as window:
            ready = ingest.ready_line(60)
            merge.ready_line(60), window.ready_line(60)
            self.play("lost", ["a", "b"])
            self.wait_until_ingested(ingest, ready, 60)
            read = self.ends("lost")

            def applied():
                return sum(processes.values(processes.metrics(window.ready_line()["admin"]), "bloomring_window_events_total")) == 60
            window.wait_until(applied, 30, "the window stage to have read everything")
            window.signal("SIGSTOP")
            self.play("lost", ["c", "d"])
            self.wait_until_ingested(ingest, ready, 120)
            gone = self.ends("lost")
            kafka_admin.delete_records(self.server.bootstrap, "events-lost", gone)
            window.signal("SIGCONT")
            self.assertEqual(window.wait(60), 1)
            lost = {p: gone[p] - read[p] for p in gone if gone[p] > read[p]}
            told = re.search(r"events-lost\[(\d+)\]: the log no longer has offset (\d+).* retention has removed (\d+) records "
                             r"before they were read.*state\.accept_lost_events", window.tail(50))
            self.assertTrue(told, window.tail(50))
            partition, at, records = (int(word) for word in told.groups())
            self.assertEqual((at, records), (read[partition], lost[partition]))

            self.assertEqual(window.start().wait(60), 1)
            self.assertRegex(window.tail(50), r"\d+ records of user-events from offset \d+ are not merged and no longer in the "
                                              r"log, which starts at \d+.*state\.accept_lost_events")

            with self.process(folder, path, "window", ACCEPT) as accepting:
                admin = accepting.ready_line(60)["admin"]
                self.assertRegex(accepting.tail(80), r"without the records up to \d+ that the log has lost")
                self.play("lost", ["e"])

                def goes_on():
                    return sum(processes.values(processes.metrics(admin), "bloomring_window_events_total")) == 30
                accepting.wait_until(goes_on, 60, "the window stage to go on")

    def test_new_topic(self):
        """custody: a topic that was made anew is refused while running and at start, and with `store new-log` the filters
        stay and the new log is taken up"""
        folder, path = self.prepare("anew")
        with self.process(folder, path, "ingest,window,merge,serve") as run:
            grpc = run.ready_line(60)["grpc"]
            self.play("anew", ["a", "b"])
            self.wait_until_filtered(run, grpc, ["a", "b"])
            kafka_admin.delete_topic(self.server.bootstrap, "events-anew")
            self.assertEqual(run.wait(120), 1)
        kafka_admin.create_topic(self.server.bootstrap, "events-anew", chain.PARTITIONS, message_timestamp_type="LogAppendTime")

        with self.process(folder, path, "ingest,window,merge,serve") as run:
            self.assertEqual(run.wait(60), 1)
            self.assertRegex(run.tail(30), r"merged below offset \d+, but the log ends at 0.*store new-log")
            processes.run([plays.binary(), "store", "new-log", "--execute", "--config", path])
            ready = run.start().ready_line(60)
            self.play("anew", ["c"])
            self.wait_until_filtered(run, ready["grpc"], ["a", "b", "c"])
            self.assertEqual(run.term(), 0)

    def test_another_log(self):
        """custody: a topic that was made anew and is longer than before is told by its last applied record"""
        folder, path = self.prepare("other", slot_seconds=3600)
        with self.process(folder, path, "ingest,window,merge") as run:
            ready = run.ready_line(60)
            self.play("other", ["a", "b"])
            self.wait_until_ingested(run, ready, 60)
            run.wait_until(lambda: sum(processes.values(processes.metrics(ready["admin"]), "bloomring_window_events_total")) == 60,
                           30, "the window stage to have read everything")
            self.assertEqual(run.term(), 0)
        kafka_admin.delete_topic(self.server.bootstrap, "events-other")
        kafka_admin.create_topic(self.server.bootstrap, "events-other", chain.PARTITIONS, message_timestamp_type="LogAppendTime")
        with self.process(folder, path, "ingest") as ingest:
            ready = ingest.ready_line(60)
            for item in ("c", "d", "e", "f"):  # each makes blocks of its own
                self.play("other", [item])
                self.wait_until_ingested(ingest, ready, 30)
        with self.process(folder, path, "ingest,window,merge") as run:
            self.assertEqual(run.wait(60), 1)
            self.assertRegex(run.tail(30), r"holds another record than the one that was read there before.*new-log")
