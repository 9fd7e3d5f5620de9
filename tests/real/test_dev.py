"""The first thing a person does: the chain in one process, a play produced with kcat, a question asked."""

import datetime
import json
import re
import time

import heavy
import law
import plays
import processes

SLOT_SECONDS = 2
SLOTS = 6


class Dev(law.LawCase):
    def verdicts(self, address, user, *items):
        """Types the command; returns the verdicts as {item: (seen, reason)}."""
        _, out, _ = processes.run([plays.binary(), "query", "--server", address, "--user", user, *items])
        return {verdict["item"]: (verdict["seen"], verdict.get("reason")) for verdict in json.loads(out)["items"]}

    def test_play_and_ask(self):
        """dev: a play from kcat is seen at once as recent and, once the ring has turned, in a filter"""
        with processes.temp_folder("dev") as folder:
            command = [plays.binary(), "dev", "--slot-seconds", str(SLOT_SECONDS), "--data", folder / "data"]
            with processes.Process("dev", command, folder) as dev:
                ready = dev.ready_line()
                now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
                processes.kcat_produce(ready["kafka"], "plays", [json.dumps({"user": "u1", "item": "v1", "time": now})])

                def ask(reason):
                    return dev.wait_until(
                        lambda: (
                            self.verdicts(ready["grpc"], "u1", "v1", "v2")
                            == {"v1": (True, reason), "v2": (False, None)}
                        ),
                        30 + 3 * SLOTS * SLOT_SECONDS,
                        f"v1 seen ({reason}), v2 unseen",
                    )

                ask("recent")
                ask("filter")
                self.assertEqual(processes.http_get(ready["admin"], "/healthz")[0], 200)
                dev.wait_until(lambda: processes.http_get(ready["admin"], "/readyz")[0] == 200, 30, "readiness")
                self.assertTrue(processes.metrics(ready["admin"]))
                self.assertEqual(dev.term(), 0)

    def test_start_again(self):
        """dev: a second start on its folder begins a new log, and everything that was merged stays seen"""
        with processes.temp_folder("again") as folder:
            data = folder / "data"
            bound_s = 30 + 3 * SLOTS * SLOT_SECONDS

            def start(name, slot_seconds=SLOT_SECONDS):
                command = [plays.binary(), "dev", "--slot-seconds", str(slot_seconds), "--data", data]
                return processes.Process(name, command, folder)

            def play(ready, item):
                time_ms = int(time.time() * 1000)
                processes.kcat_produce(ready["kafka"], "plays", [json.dumps({"user": "u1", "item": item, "time": time_ms})])

            def ask(dev, ready, expected):
                dev.wait_until(lambda: self.verdicts(ready["grpc"], "u1", *expected) == expected, bound_s, f"{expected}")

            with start("dev-1") as dev:
                ready = dev.ready_line()
                play(ready, "v1")
                ask(dev, ready, {"v1": (True, "filter"), "v2": (False, None)})
                self.assertEqual(dev.term(), 0)
            with start("dev-2") as dev:
                ready = dev.ready_line()
                ask(dev, ready, {"v1": (True, "filter"), "v2": (False, None)})
                play(ready, "v2")
                ask(dev, ready, {"v1": (True, "filter"), "v2": (True, "recent")})
                ask(dev, ready, {"v1": (True, "filter"), "v2": (True, "filter")})
                self.assertEqual(dev.term(), 0)
            with start("dev-3", SLOT_SECONDS + 1) as dev:  # Slots of another length.
                ready = dev.ready_line()
                ask(dev, ready, {"v1": (True, "filter"), "v2": (True, "filter")})
                play(ready, "v3")
                ask(dev, ready, {"v2": (True, "filter"), "v3": (True, "filter")})
                self.assertEqual(dev.term(), 0)
            (data / "dev").unlink()
            code, _, err = processes.run([plays.binary(), "dev", "--data", data], check=False)
            self.assertEqual(code, 2)
            self.assertIn("name an empty folder", err)

    def test_heavy_users(self):
        """dev: of users with thousands of plays in a month every candidate is answered rightly, by filters alone"""
        all_plays = heavy.heavy_plays(int(time.time() * 1000))
        with processes.temp_folder("heavy") as folder:
            command = [plays.binary(), "dev", "--slot-seconds", str(SLOT_SECONDS), "--data", folder / "data"]
            with processes.Process("dev", command, folder) as dev:
                ready = dev.ready_line()
                processes.kcat_produce(ready["kafka"], "plays", [play.json() for play in all_plays])

                def total(name):
                    return sum(processes.values(processes.metrics(ready["admin"]), name))

                bound_s = 60 + 3 * SLOTS * SLOT_SECONDS
                dev.wait_until(lambda: total("bloomring_ingest_records_total") >= len(all_plays), 60, "all is read")
                # A lap later no play is recent, whoever asks; a question would put filters into the cache.
                dev.wait_until(lambda: total("bloomring_merged_plays_total") >= len(all_plays), bound_s, "all is merged")
                dev.wait_until(lambda: total("bloomring_recent_entries") == 0, bound_s, "the lap is over")
                report = heavy.check(ready["grpc"], plays.by_user(all_plays))
                print(f"\n{report}", flush=True)
                self.assertEqual(report.wrong(), [])
                self.assertEqual(dev.term(), 0)

    def test_demo(self):
        """demo: scripts/demo plays the file, finds nothing unseen, and says how to go on, over each kind of store"""
        for words in [[], ["--store", "redis"]]:
            with self.subTest(words=words):
                self.check_demo(words)

    def check_demo(self, words):
        command = ["scripts/demo", *words]
        _, out, _ = processes.run(command, bound_s=900, cwd=processes.ROOT)
        self.assertIn("How to go on", out)
        # The filters of 664 users, and what the store keeps next to them.
        keys = re.search(r"on the server +(\d+) keys of bloomring in \S+; it ends with the demo", out)
        self.assertEqual(keys is not None, "redis" in words, out)
        self.assertGreater(int(keys[1]) if keys else 665, 664)
        found = re.search(
            r"664 users against exact sets: 0 unseen of 41395 played; (\d+) of (\d+) never played items seen \((\S+) expected\)",
            out,
        )
        self.assertIsNotNone(found, out)
        self.assertGreaterEqual(int(found[2]), 1_000_000)
        self.assertGreater(float(found[3]), 0)
        self.assertLessEqual(int(found[1]), plays.false_positives_max(float(found[3])))
