"""A user whose whole history is forgotten leaves the files of the filter store and its backups by the deadline."""

import json
import pathlib
import re
import sys
import time

import heavy
import installation
import one_broker
import plays
import processes

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "formats"))

from pieces import shard_of, user_key  # noqa: E402

ERASED, KEPT = "user-to-be-erased", "user-to-be-kept"
DEADLINE_S = 20
# Files below an installation that may keep the id of an erased user (docs/erasure.md): forgotten values of the store, its
# list of files, and the state of the window stage.
DOCUMENTED = re.compile(r"store/(\d+\.(sst|log)|MANIFEST-\d+)|state/window-\d+/.+")


def row_prefix(user):
    """How the store keys of the user's filters begin, in no scene."""
    key = user_key("", user)
    return b"f" + shard_of(key).to_bytes(2, "big") + key


def holders(folder, needle):
    """The files below the folder that hold these bytes. One that goes meanwhile holds nothing."""
    found = []
    for path in sorted(folder.rglob("*")):
        try:
            if path.is_file() and needle in path.read_bytes():
                found.append(str(path.relative_to(folder)))
        except FileNotFoundError:
            continue
    return found


def play(site, user, items):
    now_ms = int(time.time() * 1000)
    lines = [json.dumps({"user": user, "item": item, "time": now_ms}) for item in items]
    processes.kcat_produce(site.bootstrap, f"plays-{site.name}", lines)


class Erasure(one_broker.OneBrokerCase):
    def test_deadline(self):
        """erasure: by the deadline no table file or log of the store and no backup but the newest holds the filters of
        a user who has forgotten everything, and others keep theirs"""
        backups = self.folder / "backups"
        site = installation.Installation(
            self.folder,
            self.server.bootstrap,
            "erasure",
            store={"backup_path": str(backups), "erase_within_seconds": DEADLINE_S},
        )
        store = pathlib.Path(json.loads(site.path.read_text())["store"]["path"])
        def number(admin, name):
            return sum(processes.values(processes.metrics(admin), name))

        with site.process("ingest,window,merge,serve") as process:
            ready = process.ready_line(60)
            admin, grpc = ready["admin"], ready["grpc"]
            oracle = site.play_heavily({ERASED: 5_000, KEPT: 5_000})
            site.wait_until_merged(process, 10_000)
            for user in (ERASED, KEPT):
                play(site, user, ["a", "b"])
                site.wait_until_answered(process, grpc, ["a", "b"], ["filter"], user=user)
            old = json.loads(site.command("store", "backup", "--admin", admin)[1])["backup"]
            self.assertTrue(holders(store, row_prefix(ERASED)))
            self.assertTrue(holders(backups, row_prefix(ERASED)))

            erase = ["forget", "--server", grpc, "--user", ERASED, "--all-scenes", "--everything"]
            processes.run([plays.binary(), *erase])
            process.wait_until(lambda: number(admin, "bloomring_merged_forgets_total") >= 1, 60, "the forget to merge")
            process.wait_until(lambda: number(admin, "bloomring_store_erased_ranges_total") >= 1, 60, "the erasure")
            self.assertEqual(number(admin, "bloomring_store_ranges_to_erase"), 0)
            # RocksDB's list of files keeps the first and last keys of removed ones until the next start.
            left = [path for path in holders(store, row_prefix(ERASED)) if not path.startswith("MANIFEST")]
            self.assertEqual(left, [])
            self.report(site, grpc, old)
            self.assertEqual(self.seen(grpc, ERASED, oracle[ERASED]), 0)
            self.assertEqual(heavy.check(grpc, {KEPT: oracle[KEPT]}, heavy.MERGED_OR_NOT).wrong(), [])
            self.assertEqual([old], self.listed(site))  # The newest backup stays, however old it is.
            self.assertEqual(process.term(), 0)

        with site.process("ingest,window,merge,serve") as process:
            ready = process.ready_line(60)
            admin, grpc = ready["admin"], ready["grpc"]
            self.assertEqual(holders(store, row_prefix(ERASED)), [])
            self.assertTrue(holders(store, row_prefix(KEPT)))
            new = json.loads(site.command("store", "backup", "--admin", admin)[1])["backup"]
            process.wait_until(lambda: self.listed(site) == [new], 60, "the old backup to be removed")
            self.assertEqual(holders(backups, row_prefix(ERASED)), [])
            self.assertTrue(holders(backups, row_prefix(KEPT)))
            checked = json.loads(site.command("store", "check")[1])
            self.assertTrue(checked["sound"], checked)
            site.wait_until_answered(process, grpc, ["a", "b"], ["filter", "recent"], user=KEPT)
            self.assertEqual(self.seen(grpc, ERASED, oracle[ERASED]), 0)
            self.assertEqual(heavy.check(grpc, {KEPT: oracle[KEPT]}, heavy.MERGED_OR_NOT).wrong(), [])
            self.assertEqual(process.term(), 0)
        # The id itself is where the page of erasure says, and in no log, report or other file.
        held = holders(site.folder, ERASED.encode())
        self.assertTrue(held)
        self.assertEqual([path for path in held if not DOCUMENTED.fullmatch(path)], [])

    def test_old_backup(self):
        """store: a backup that is older than the log is refused, with a deadline for erasure and without one, since
        users who were erased would be back; one command may accept that"""
        backups = self.folder / "old-backups"
        site = installation.Installation(
            self.folder,
            self.server.bootstrap,
            "old-backup",
            store={"backup_path": str(backups), "erase_within_seconds": 172_800},
        )
        store = pathlib.Path(json.loads(site.path.read_text())["store"]["path"])
        store.mkdir(parents=True)
        site.command("store", "backup")
        store.rename(store.with_name("away"))
        meta = backups / "meta" / "1"  # The number of RocksDB's form, then the time of the backup in seconds.
        lines = meta.read_text().split("\n")
        place = next(place for place, line in enumerate(lines) if len(line) == 10 and line.isdigit())
        lines[place] = str(int(lines[place]) - 48 * 3600)
        meta.write_text("\n".join(lines))
        for deadline in ("172800", "0"):
            with self.subTest(erase_within_seconds=deadline):
                refused = ("store", "restore", "--set", f"store.erase_within_seconds={deadline}")
                code, _, err = site.command(*refused, check=False)
                self.assertEqual(code, 2)
                self.assertIn("backup 1 is 48 hours old", err)
                self.assertIn("users who were erased since would be back", err)
                self.assertFalse(store.exists())
        site.command("store", "restore", "--accept-erased")
        self.assertTrue(store.exists())

    def report(self, site, grpc, backup):
        """The report of `inspect user --erasure` about the erased user."""
        report = json.loads(site.command("inspect", "user", "--user", ERASED, "--erasure", "--server", grpc)[1])
        rows = {one["where"]: one for one in report["erasure"]}
        self.assertNotIn("files of the filter store", rows)  # It is done.
        self.assertEqual(rows["filter store"]["what"], "the user's id and what it has forgotten")
        self.assertGreater(rows["filter store"]["until_ms"], (time.time() + 150 * 86_400) * 1000)
        self.assertEqual(rows[f"backup {backup}"]["until"], "a newer backup is taken")
        for topic in (site.events, "batches-erasure", "dead-erasure", "plays-erasure"):
            self.assertIn(f"topic {topic}", rows)

    def seen(self, grpc, user, items):
        """How many of the items a complete answer calls seen."""
        return sum(verdict["seen"] for verdict in plays.complete_answer(grpc, user, sorted(items))["items"])

    def listed(self, site):
        return [one["backup"] for one in json.loads(site.command("store", "list")[1])["backups"]]
