"""The canary: plays of users that do not exist, through every process, and what it tells when one of them is away."""

import chain
import kafka_server
import law
import processes

TIMEOUT_SECONDS = 3
CANARY = {"canary.interval_seconds": 1, "canary.timeout_seconds": TIMEOUT_SECONDS}


class Canary(law.LawCase):
    def test_canary(self):
        """canary: its plays of each partition are seen by real processes, are lost while ingest is away, and seen again"""
        with processes.temp_folder("canary") as folder, kafka_server.KafkaServer("4.1.0", folder / "kafka") as server:
            run = chain.Chain(folder, server.bootstrap, settings={"serve": CANARY})
            run.make_topics()
            with run:
                log = folder / "serve.err"
                # A turn of every partition, each of which has a user of its own.
                processes.wait_for(lambda: self.plays(run, "seen") > chain.PARTITIONS, 120, "a turn of every partition")
                self.assertGreaterEqual(self.measured(run), chain.PARTITIONS)
                self.assertEqual(self.plays(run, "unwritten"), 0)
                run.kill9("ingest")
                lost = self.plays(run, "unseen")
                processes.wait_for(lambda: self.plays(run, "unseen") > lost, 120, "a play to be lost")
                text = log.read_text()
                self.assertIn("canary: a play was not seen in time", text)
                self.assertIn("the query service answers that it is unseen", text)
                self.assertNotIn("bloomring-canary-", text.replace(str(folder), ""))  # No id of a user.
                run.start("ingest")
                seen = self.plays(run, "seen")
                processes.wait_for(lambda: self.plays(run, "seen") > seen + 1, 120, "plays to be seen again")
                run.wait_until_merged()
                self.assertEqual(set(run.stop().values()), {0})

    def plays(self, run, result):
        found = processes.metrics(run.admin_of("serve"))
        return sum(processes.values(found, "bloomring_canary_plays_total", result=result))

    def measured(self, run):
        found = processes.metrics(run.admin_of("serve"))
        return sum(processes.values(found, "bloomring_canary_round_trip_seconds_count"))
