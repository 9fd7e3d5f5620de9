"""This program reads the data of an earlier version (tests/upgrade/VERSION, by tests/upgrade/make): its configuration, its log,
its batches, its filter store and its local state."""

import base64
import collections
import json
import pathlib
import re
import tarfile

import one_broker
import plays
import processes

KEPT = processes.ROOT / "tests" / "upgrade"
PROPERTIES = ("-X", "acks=all", "-X", "linger.ms=0")
LATER = ("filters", "batches", "ring")  # Where the plays were when the earlier version ended.


def versions():
    return sorted(path.parent for path in KEPT.glob("*/bloomring.yaml"))


class Site:
    """The installation of the earlier version, on a broker of today that has its log."""

    def __init__(self, kept, folder, bootstrap):
        self.kept, self.folder, self.bootstrap = kept, folder, bootstrap
        self.records = [json.loads(line) for line in (kept / "records.jsonl").read_text(encoding="utf-8").splitlines()]
        self.played = json.loads((kept / "played.json").read_text(encoding="utf-8"))
        here = {
            "kafka.bootstrap": bootstrap, "store.path": folder / "store", "state.path": folder / "state",
            "admin.listen": "127.0.0.1:0", "serve.listen": "127.0.0.1:0",
        }  # fmt: skip
        self.here = [part for key, value in here.items() for part in ("--set", f"{key}={value}")]
        folder.mkdir()

    def command(self, *words):
        return [plays.binary(), *words, "--config", self.kept / "bloomring.yaml", *self.here]

    def ends(self):
        """{topic: {partition: log end}} as the earlier version left them."""
        found = collections.defaultdict(collections.Counter)
        for record in self.records:
            found[record["topic"]][record["partition"]] += 1
        return found

    def restore_log(self):
        processes.run(self.command("topics", "--execute", "--create-plays"))
        by_partition = collections.defaultdict(list)
        for record in self.records:
            path = self.folder / "record-{topic}-{partition}-{offset}".format(**record)
            path.write_bytes(base64.b64decode(record["value"]))
            by_partition[record["topic"], record["partition"]].append(path)
        for (topic, partition), paths in by_partition.items():
            processes.run(["kcat", "-P", "-b", self.bootstrap, "-t", topic, "-p", partition, *PROPERTIES, *paths])
        for topic, ends in self.ends().items():
            found = processes.end_offsets(self.bootstrap, topic, len(ends))
            if found != dict(ends):
                raise processes.Failed(f"{topic}: {found}, not {ends}")

    def restore_data(self):
        with tarfile.open(self.kept / "data.tar.gz") as data:
            data.extractall(self.folder)

    def run(self):
        return processes.Process("run", self.command("run"), self.folder, env={"BLOOMRING_LOG_LEVEL": "debug"})


class Upgrade(one_broker.OneBrokerCase):
    def reasons(self, grpc, where, site):
        """{(seen, reason)} of all that was played there; every answer is complete."""
        found = set()
        for user, items in site.played[where].items():
            answer = plays.complete_answer(grpc, user, items)
            found |= {(item["seen"], item.get("reason")) for item in answer["items"]}
        return found

    def test_there(self):
        """upgrade: there is what an earlier version left, with the commit that it was made of"""
        self.assertTrue(versions())
        for kept in versions():
            self.assertRegex((kept / "COMMIT").read_text(encoding="utf-8"), r"^[0-9a-f]{7,40}\n$")
            self.assertLess(sum(path.stat().st_size for path in kept.rglob("*") if path.is_file()), 1_000_000)

    def test_configuration(self):
        """upgrade: the program takes the configuration of an earlier version, every key of it, with its values"""
        for kept in versions():
            text = (kept / "bloomring.yaml").read_text(encoding="utf-8")
            code, printed, err = processes.run([plays.binary(), "check", "--print", "--config", kept / "bloomring.yaml"])
            self.assertEqual((code, err), (0, ""), kept.name)
            bare = re.sub(r"(?m)\s+# .*$", "", printed).splitlines()
            lost = [line for line in text.splitlines() if not line.startswith("#") and line not in bare]
            self.assertEqual(lost, [], kept.name)

    def test_data(self):
        """upgrade: filters, batches and slots of an earlier version are read: every play is seen at once and ends in a filter, and what was forgotten is unseen"""
        for kept in versions():
            with self.subTest(kept.name):
                site = Site(kept, pathlib.Path(self.folder) / kept.name, self.server.bootstrap)
                site.restore_log()
                site.restore_data()
                with site.run() as run:
                    grpc = run.ready_line(120)["grpc"]
                    for where in LATER:
                        self.assertEqual({seen for seen, _ in self.reasons(grpc, where, site)}, {True}, where)
                    self.check_state_was_read(run, site)
                    for where in LATER:
                        run.wait_until(lambda where=where: self.reasons(grpc, where, site) == {(True, "filter")}, 180, f"{where} to be in filters")
                    self.assertEqual(self.reasons(grpc, "forgotten", site), {(False, None)})
                    self.assertEqual(run.term(), 0)
                code, text, err = processes.run(site.command("store", "check"), check=False)
                self.assertEqual(code, 0, err)
                self.assertGreaterEqual(json.loads(text)["items"], sum(len(items) for where in LATER for items in site.played[where].values()))

    def check_state_was_read(self, run, site):
        """The window stage goes on where the earlier version ended: it does not read the log again."""
        starts = re.findall(r"continues at its applied offset (\d+) .*partition=(\d+)", run.err.read_text())
        self.assertEqual({int(p): int(at) for at, p in starts}, dict(site.ends()["user-events"]))
