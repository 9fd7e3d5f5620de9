"""An ingest process whose wall clock is wrong: no play is lost by it, and it says so."""

import json
import time

import chain
import one_broker
import processes

BEHIND_MS = -3_600_000


class IngestClock(one_broker.OneBrokerCase):
    def test_behind(self):
        """ingest: with a clock an hour behind no play is refused or passed; with the right one all of them are read"""
        bootstrap = self.server.bootstrap
        run = chain.Chain(self.folder, bootstrap, {"ingest": "ingest"})
        run.make_topics()
        with run:
            self.assertEqual(run.stop(), {"ingest": 0})
            run.start("ingest", env={"BLOOMRING_CLOCK_STEP": f"{BEHIND_MS}:0"})
            admin = run.admin_of("ingest")
            now_ms = int(time.time() * 1000)
            run.produce([json.dumps({"user": "u1", "item": f"v{i}", "time": now_ms}) for i in range(100)])

            def says_why():
                status, text = processes.http_get(admin, "/readyz")
                return status == 503 and "ingest-clock" in text

            processes.wait_for(says_why, 60, "it is not ready, because of its clock")
            offset = processes.values(processes.metrics(admin), "bloomring_ingest_clock_offset_seconds")
            self.assertAlmostEqual(offset[0], BEHIND_MS / 1000, delta=60)
            self.assertEqual(processes.kcat_consume(bootstrap, "plays-dead"), [])
            self.assertEqual(run.stop(), {"ingest": 0})
            run.start("ingest")
            run.wait_until_committed("ingest", "plays", 60)
            found = processes.metrics(run.admin_of("ingest"))
            self.assertEqual(processes.values(found, "bloomring_ingest_records_total", result="accepted"), [100])
            self.assertEqual(processes.kcat_consume(bootstrap, "plays-dead"), [])
