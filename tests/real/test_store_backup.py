"""The embedded filter store is backed up while the processes run, and after a restore the log brings back what was
merged since, by itself."""

import contextlib
import json

import heavy
import installation
import kafka_admin
import one_broker
import processes

SEEN = ["recent", "filter"]
# A window process says this when it was given its partitions again in that moment, by a broker that was busy.
BEGAN_AGAIN = "local state does not continue the filter store"

class StoreBackup(one_broker.OneBrokerCase):
    def test_restore(self):
        """store: after a restore every stage notices the older watermark and reads the log from there; nothing stays
        unseen. When the log has lost it, the numbers and the way out are said"""
        site = installation.Installation(
            self.folder, self.server.bootstrap, "restore", store={"backup_path": str(self.folder / "backups")}
        )
        everything = 30 * 4 + 5_000 + 20_000
        with contextlib.ExitStack() as stack:
            merge, window, serve, ingest = (
                stack.enter_context(site.process(stage)) for stage in ("merge", "window", "serve", "ingest")
            )
            admin = merge.ready_line(60)["admin"]
            window.ready_line(60), ingest.ready_line(60)
            served = serve.ready_line(60)
            grpc = served["grpc"]
            # The filters of one heavy user are in the backup, those of the other one come back from the log.
            oracle = site.play_heavily({"heavy-5000": 5_000})
            site.play(["a", "b"])
            site.wait_until_answered(serve, grpc, ["a", "b"], ["filter"])
            in_backup = site.wait_until_merged(merge, 30 * 2 + 5_000)["items"]

            code, _, err = site.command("store", "backup", "--admin", served["admin"], check=False)
            self.assertEqual(code, 2)
            asked = f"the process at {served['admin']} (instance serve, stages serve)"
            self.assertIn(f"{asked} does not write the filter store", err)
            self.assertIn("name its admin port (its admin.listen) with --admin HOST:PORT", err)
            taken = json.loads(site.command("store", "backup", "--admin", admin)[1])
            self.assertGreater(taken["bytes_new"], 0)
            self.assertEqual(
                [one["backup"] for one in json.loads(site.command("store", "list")[1])["backups"]], [taken["backup"]]
            )
            self.assertEqual(
                sum(processes.values(processes.metrics(admin), "bloomring_store_backups_total", result="ok")), 1
            )

            oracle |= site.play_heavily({"heavy-20000": 20_000})
            site.play(["c", "d"])
            site.wait_until_answered(serve, grpc, ["c", "d"], ["filter"])
            checked = site.wait_until_merged(merge, everything)
            self.assertTrue(checked["sound"])
            self.assertLessEqual(checked["items"], everything)

            self.assertEqual(merge.term(), 0)
            before = window.log_size()
            code, _, err = site.command("store", "restore", check=False)
            self.assertEqual(code, 2)
            self.assertIn("is not empty", err)
            (site.folder / "store").rename(site.folder / "store-lost")
            restored = json.loads(site.command("store", "restore")[1])
            self.assertEqual((restored["backup"], restored["items"]), (taken["backup"], in_backup))
            merge.start().ready_line(60)

            self.ends_because_of_the_store(serve)
            processes.wait_for(
                lambda: not window.running() or window.logged_since(before, BEGAN_AGAIN), 60, "window notices"
            )
            if not window.running():
                self.ends_because_of_the_store(window)
                window.start().ready_line(60)
            ready = serve.start().ready_line(60)
            grpc = ready["grpc"]
            site.wait_until_answered(serve, grpc, ["a", "b", "c", "d"], SEEN)
            site.wait_until_answered(serve, grpc, ["a", "b", "c", "d"], ["filter"])
            self.assertLessEqual(site.wait_until_merged(merge, everything)["items"], everything)
            site.wait_until_lap_over(serve, ready["admin"])
            self.assertEqual(heavy.check(grpc, oracle | {"u7": {"a", "b", "c", "d"}}).wrong(), [])

            # The same restore again, but the log has been cut since: what was merged after the backup is lost.
            ends = site.ends()
            self.assertEqual([process.term() for process in (ingest, window, serve, merge)], [0, 0, 0, 0])
            kafka_admin.delete_records(self.server.bootstrap, site.events, ends)
            (site.folder / "store").rename(site.folder / "store-lost-again")
            site.command("store", "restore", "--backup", str(taken["backup"]))
            merge.start().ready_line(60)
            self.assertEqual(window.start().wait(60), 1)
            self.assertRegex(
                window.tail(20),
                r"\d+ records from offset \d+ are not merged and no longer in the log, "
                r"which starts at \d+.*Restore a newer filter store, or set state\.accept_lost_events",
            )

    def ends_because_of_the_store(self, process):
        self.assertEqual(process.wait(60), 1)
        self.assertIn("the filter store went back", process.tail(30))
