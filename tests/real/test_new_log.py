"""A serve replica whose log is not the one that its filter store was filled from answers nothing, and says why."""

import json
import pathlib
import sys

import chain
import heavy
import installation
import kafka_admin
import one_broker
import plays
import processes

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "formats"))

import dump  # noqa: E402
import records  # noqa: E402

ROUNDS = 6  # Of plays, each in blocks of its own.
USERS = 200


def wait_until_drained(site, process, plays):
    """Until so many different plays stand in user-batches. A metric of plays drained would not tell: a slot that is drained
    again, since nobody merges, counts again."""

    def drained():
        found = set()
        for record in dump.records(site.bootstrap, f"batches-{site.name}"):
            batches = records.decode_batch_record(record.value)
            if isinstance(batches, records.UserBatches):
                found.update((user.key, item) for user in batches.users for item, _ in user.plays())
        return len(found) >= plays

    process.wait_until(drained, 60, f"{plays} plays to be drained")


def caught_up(ready):
    """The merge stage has read its partitions to their ends."""
    lags = processes.values(processes.metrics(ready["admin"]), "bloomring_processing_lag_records", stage="merge")
    return len(lags) == chain.PARTITIONS and sum(lags) == 0


class NewLog(one_broker.OneBrokerCase):
    def test_shorter_than_the_watermark(self):
        """new log: where the log ends before the merged watermark a replica is not ready, names the way out, and gives
        no complete answer; with the watermark gone it takes the log up"""
        site = installation.Installation(self.folder, self.server.bootstrap, "shorter")
        with site.process("ingest,window,merge") as run:
            ready = run.ready_line(60)
            oracle = site.play_heavily(heavy.ONE)
            of_heavy = sum(heavy.ONE.values())
            for sent in range(1, ROUNDS + 1):
                site.play([f"v{sent}"], users=USERS)
                site.wait_until_ingested(run, ready, of_heavy + sent * USERS)
            site.wait_until_merged(run, of_heavy + ROUNDS * USERS)
            self.assertEqual(run.term(), 0)
        kafka_admin.delete_topic(self.server.bootstrap, site.events)
        kafka_admin.create_topic(
            self.server.bootstrap, site.events, chain.PARTITIONS, message_timestamp_type="LogAppendTime"
        )
        admin, grpc = (f"127.0.0.1:{processes.free_port()}" for _ in range(2))
        env = {"BLOOMRING_ADMIN_LISTEN": admin, "BLOOMRING_SERVE_LISTEN": grpc}
        with site.process("ingest") as ingest, site.process("serve", env) as serve:
            ready = ingest.ready_line(60)
            site.play(["c"])
            site.wait_until_ingested(ingest, ready, 30)
            serve.wait_until(lambda: self.readiness(admin)[0] == 503, 60, "the replica not to be ready")
            serve.wait_until(lambda: "store new-log" in self.readiness(admin)[1], 60, "the replica to name the way out")
            waiting = processes.values(processes.metrics(admin), "bloomring_serve_partitions", state="waiting")
            self.assertEqual(waiting, [chain.PARTITIONS])
            for user in range(30):
                code, _, told = processes.run(
                    [plays.binary(), "query", "--server", grpc, "--user", f"u{user}", "c"], check=False
                )
                self.assertEqual(code, 1, told)
            self.assertEqual(serve.term(), 0)
            site.command("store", "new-log", "--execute")
            again = serve.start().ready_line(60)["grpc"]
            site.wait_until_answered(serve, again, ["c"], ["recent"])
            self.assertEqual(heavy.check(again, oracle).wrong(), [])
            self.assertEqual([process.term() for process in (serve, ingest)], [0, 0])

    def test_unread_batches(self):
        """new log: batches of the old log that the merge stage has not read are merged by `store new-log`; what stands in
        the new log is merged when its own slots are, and not before. Of state.path it removes the window stage's folders
        alone: the filter store may lie there too"""
        state = self.folder / "behind" / "state"
        store = {"path": str(state / "store")}
        site = installation.Installation(self.folder, self.server.bootstrap, "behind", store=store)
        with site.process("merge") as merge:  # The store is there, and nothing is merged.
            merge.ready_line(60)
            self.assertEqual(merge.term(), 0)
        with site.process("ingest,window") as run:
            ready = run.ready_line(60)
            for sent in range(1, ROUNDS + 1):
                site.play([f"v{sent}"], users=USERS)
                site.wait_until_ingested(run, ready, sent * USERS)
            wait_until_drained(site, run, ROUNDS * USERS)
            self.assertEqual(run.term(), 0)
        old = site.ends()
        kafka_admin.delete_topic(self.server.bootstrap, site.events)
        kafka_admin.create_topic(
            self.server.bootstrap, site.events, chain.PARTITIONS, message_timestamp_type="LogAppendTime"
        )
        shown = json.loads(site.command("store", "new-log")[1])
        self.assertFalse(shown["executed"])
        self.assertGreaterEqual(shown["batches_unread"], 2)
        self.assertNotEqual(list(state.glob("window-*")), [])
        done = json.loads(site.command("store", "new-log", "--execute")[1])
        self.assertEqual([folder.name for folder in state.iterdir()], ["store"])
        self.assertEqual(done["batches_merged"], shown["batches_unread"])
        self.assertGreaterEqual(done["plays_merged"], ROUNDS * USERS)
        with site.process("ingest") as ingest, site.process("merge") as merge:
            ready = ingest.ready_line(60)
            merged = merge.ready_line(60)
            site.play(["c"], users=USERS)
            site.wait_until_ingested(ingest, ready, USERS)
            merge.wait_until(lambda: caught_up(merged), 60, "the merge stage to have read user-batches")
            self.assertEqual([process.term() for process in (ingest, merge)], [0, 0])
        checked = json.loads(site.command("store", "check")[1])
        self.assertEqual(set(checked["merged_below"].values()), {0}, f"the old log ended at {old}")
        self.assertGreaterEqual(checked["items"], ROUNDS * USERS - 1)
        self.assertEqual(json.loads(site.command("store", "new-log", "--execute")[1])["batches_merged"], 0)

    def test_stages_that_run(self):
        """new log: while a window stage runs `store new-log` is refused, names its group, and changes nothing"""
        site = installation.Installation(self.folder, self.server.bootstrap, "running")
        with site.process("merge") as merge:
            merge.ready_line(60)
            self.assertEqual(merge.term(), 0)
        with site.process("window") as window:
            window.ready_line(60)
            code, _, told = site.command("store", "new-log", "--execute", check=False)
            self.assertEqual(code, 1, told)
            self.assertRegex(told, r"group running-window still has 1 members: stop the window stage of every process")
            self.assertEqual(window.term(), 0)

    def readiness(self, admin):
        try:
            return processes.http_get(admin, "/readyz")
        except OSError:
            return 0, ""
