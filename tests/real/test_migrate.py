"""The old store of a site, sorted sets of a Redis, comes in by `bloomring migrate zset`, and `bloomring verify` compares."""

import contextlib
import json
import time

import installation
import old_store
import one_broker
import plays
import processes

ALL = "ingest,window,merge,serve"
KILLED = 137  # The exit code of a process that ended at a fault point.
DAY_MS = 86_400_000
# Each durable step of a migration, in an order in which the one before leaves work for the next.
STEPS = [
    "job.begun",
    "migrate.read:2",
    "migrate.block_sent:5",
    "migrate.acknowledged:2",
    "job.before_save:2",
    "job.saved:2",
]
# Of docs/how-to/migrate.md.
PAGE = [
    "bloomring migrate zset --name history --config site.yaml --output text",
    "bloomring migrate zset --name history --config site.yaml --refused refused.jsonl --execute",
    "bloomring verify --name compare --config site.yaml --server 127.0.0.1:7700 --differences missing.jsonl --execute",
]


class Migrate(one_broker.OneBrokerCase):
    def install(self, name, store, **sections):
        migrate = {"addresses": [store.address], **sections.pop("migrate", {})}
        return installation.Installation(self.folder, self.server.bootstrap, name, migrate=migrate, **sections)

    def process(self, site, words, env=None):
        command = [plays.binary(), *words, "--config", site.path]
        return processes.Process(words[0], command, self.folder, env)

    def kill_at(self, site, job, step):
        with self.process(site, job, {"BLOOMRING_FAULT_POINT": step}) as process:
            self.assertEqual(process.wait(180), KILLED, process.describe(f"should have ended at {step}"))

    def verify(self, site, ready, name, *flags, code=0):
        words = ["verify", "--name", name, "--server", ready["grpc"], "--watch", ready["admin"], "--settle-seconds", "1"]
        ended, out, err = site.command(*words, "--rate", "1000000", *flags, "--execute", check=False)
        self.assertEqual(ended, code, err + out)
        return json.loads(out)

    def test_there(self):
        """migrate: sets of light and heavy users, killed at each durable step of the migration, are seen member by member;
        what is no play is named; verify finds what is missing, and nothing else"""
        now_ms = int(time.time() * 1000)
        with contextlib.ExitStack() as stack:
            store = stack.enter_context(old_store.OldStore(self.folder, "there"))
            for user in range(60):
                store.add(f"hist:u{user}", [(f"u{user}-{n}", now_ms - n * 3_600_000) for n in range(user + 1)])
            store.add("hist:heavy", [(f"h{n}", now_ms - n * 60_000) for n in range(12_000)])
            store.add("hist:u1", [("never", "-inf"), ("x" * 129, now_ms), ("old", now_ms - 3_000 * DAY_MS)])
            store.ask("SET", "hist:text", "x")
            site = self.install("there", store)
            process = stack.enter_context(site.process(ALL))
            ready = process.ready_line(60)
            job = ["migrate", "zset", "--name", "history", "--watch", ready["admin"]]
            before = self.verify(site, ready, "before", "--differences", self.folder / "before", code=3)
            self.plan(site, job)
            for step in STEPS:
                self.kill_at(site, [*job, "--rate", "4000", "--execute"], step)
            self.refuse_others(site, job)
            refused = self.folder / "refused"
            last = [*job, "--rate", "1000000", "--execute", "--refused", refused]
            self.kill_at(site, last, "job.before_end")
            code, out, err = site.command(*last, check=False)
            self.assertEqual(code, 3, err)
            counts = json.loads(out)["counts"]
            self.assertEqual(set(counts["refused"]), {"not_a_time", "id_too_long", "wrong_type"})
            reasons = {json.loads(line)["reason"] for line in refused.read_text().splitlines()}
            self.assertEqual(reasons, {"not_a_time", "id_too_long", "wrong_type"})
            members = 12_000 + sum(range(1, 61))
            self.assertEqual(before["counts"]["missing"], before["counts"]["asked"])
            after = self.verify(site, ready, "after")["counts"]
            self.assertEqual((after["asked"], after["missing"]), (members, 0))
            self.assertGreaterEqual(after["probes"], 600)
            site.wait_until_merged(process, members)
            site.wait_until_lap_over(process, ready["admin"])
            self.assertEqual(self.verify(site, ready, "filters")["counts"]["missing"], 0)
            # A play that went to the old store alone is found, by its name; migrating its set mends it.
            store.add("hist:u7", [("lost", now_ms)])
            missing = self.folder / "missing"
            found = self.verify(site, ready, "lost", "--differences", missing, code=3)["counts"]
            self.assertEqual(found["missing"], 1)
            line = json.loads(missing.read_text())
            self.assertEqual((line["key"], line["user"], line["member"]), ("hist:u7", "u7", "lost"))
            keys = self.folder / "keys"
            keys.write_text(line["key"] + "\n")
            again = ["migrate", "zset", "--name", "again", "--watch", ready["admin"], "--keys", keys, "--execute"]
            self.assertEqual(json.loads(site.command(*again)[1])["counts"]["plays"], 9)
            self.assertEqual(self.verify(site, ready, "mended", "--keys", keys)["counts"]["missing"], 0)
            self.assertEqual(process.term(), 0)

    def plan(self, site, job):
        before = site.ends()
        plan = json.loads(site.command(*job)[1])
        self.assertEqual((plan["executed"], plan["total"]), (False, 62))
        self.assertIn("would be refused as wrong_type", site.command(*job, "--output", "text")[1])
        self.assertIn("migrate.score_unit right?", site.command(*job, "--set", "migrate.score_unit=s")[1])
        self.assertEqual(site.ends(), before)

    def refuse_others(self, site, job):
        """Each with exit code 2 and a way out, but for a store that does not answer: 1."""
        for words, said, wanted in (
            ([*job, "--set", "migrate.score_unit=s", "--execute"], "migrate.score_unit was 'ms', it is 's' now", 2),
            ([*job, "--share", "0/2", "--execute"], "share was '0/1', it is '0/2' now", 2),
            ([*job, "--share", "2/2"], "--share 2/2: must be INDEX/COUNT", 2),
            (["migrate", "zset", "--name", "other", "--keys", self.folder / "nothing"], "nothing: No such file", 2),
            ([*job, "--set", "migrate.keys=hist"], "must have {user} once", 2),
            ([*job, "--set", "migrate.addresses=[]"], "migrate.addresses", 2),
            (["migrate", "hash", "--name", "history"], "hash must be one of zset", 2),
            (
                ["migrate", "zset", "--name", "other", "--set", "migrate.addresses=127.0.0.1:1"]
                + ["--set", "migrate.timeout_ms=500"],
                "127.0.0.1:1",
                1,
            ),
        ):
            code, _, err = site.command(*words, check=False)
            self.assertEqual(code, wanted, err)
            self.assertIn(said, err)

    def test_million(self):
        """migrate: a set of a million members comes in within the memory of a page, with the old store killed and started
        again in the middle, and scenes are kept apart"""
        now_ms = int(time.time() * 1000)
        with contextlib.ExitStack() as stack:
            store = stack.enter_context(old_store.OldStore(self.folder, "million"))
            store.add_million("hist:feed:giant", now_ms)
            store.add("hist:search:giant", [("s1", now_ms)])
            site = self.install("million", store, migrate={"keys": ["hist:{scene}:{user}"]})
            process = stack.enter_context(site.process(ALL))
            ready = process.ready_line(60)
            job = ["migrate", "zset", "--name", "giant", "--watch", ready["admin"], "--rate", "100000", "--execute"]
            before = sum(site.ends().values())
            with self.process(site, job) as migrating:
                migrating.wait_until(lambda: sum(site.ends().values()) > before + 50, 60, "the set to be read")
                store.kill9()
                store.come_back()
                self.assertEqual(migrating.wait(300), 0, migrating.describe("should have gone on"))
                report = json.loads(migrating.output())
            self.assertEqual(report["counts"]["plays"], old_store.MILLION + 1)
            for scene, items in (("feed", ["m1", "m500000", "m1000000"]), ("search", ["s1"])):
                words = ["query", "--server", ready["grpc"], "--user", "giant", "--scene", scene, *items, "m0"]

                def seen(words=words):
                    answer = json.loads(processes.run([plays.binary(), *words])[1])
                    return answer["complete"] and [item["seen"] for item in answer["items"]]

                wanted = [True] * len(items) + [False]
                process.wait_until(lambda seen=seen, wanted=wanted: seen() == wanted, 120, f"{items} to be seen")
            self.assertEqual(process.term(), 0)

    def test_read_through(self):
        """migrate: with read_through each answer has all plays of its user, before, while and after the user is migrated, and
        then the old store may go"""
        now_ms = int(time.time() * 1000)
        users = {f"u{user}": [f"u{user}-{n}" for n in range(60)] for user in range(40)}
        users["heavy"] = [f"h{n}" for n in range(6_000)]
        with contextlib.ExitStack() as stack:
            store = stack.enter_context(old_store.OldStore(self.folder, "through"))
            for user, items in users.items():
                store.add(f"hist:{user}", [(item, now_ms - n * 60_000) for n, item in enumerate(items)])
            through = {"read_through": True, "read_through_timeout_ms": 20_000}
            site = self.install("through", store, migrate=through)
            process = stack.enter_context(site.process(ALL))
            ready = process.ready_line(60)

            def lacking():
                answers = plays.query_batch(ready["grpc"], list(users.items()))
                return {
                    answer["user"]: (answer["complete"], [item["item"] for item in answer["items"] if not item["seen"]][:5])
                    for answer in answers
                    if not answer["complete"] or not all(item["seen"] for item in answer["items"])
                }

            def reads(result):
                found = processes.metrics(ready["admin"])
                return sum(processes.values(found, "bloomring_old_store_reads_total", result=result))

            process.wait_until(lambda: not lacking(), 60, "the sets of the old store to be in the answers")
            self.assertGreaterEqual(reads("united"), len(users))
            job = ["migrate", "zset", "--name", "through", "--watch", ready["admin"], "--rate", "600", "--execute"]
            rounds = 0
            with self.process(site, job) as migrating:
                while migrating.running():
                    self.assertEqual(lacking(), {})
                    rounds += 1
                self.assertEqual(migrating.wait(60), 0, migrating.describe("should have ended well"))
                counts = json.loads(migrating.output())["counts"]
            self.assertGreater(rounds, 1)
            self.assertEqual((counts["marked"], counts["plays"]), (41, 40 * 60 + 6_000))
            process.wait_until(lambda: reads("migrated") > 0, 60, "a user to be known as migrated")
            store.kill9()
            process.wait_until(lambda: not lacking(), 60, "answers without the old store")
            answer = plays.query(ready["grpc"], "nobody", ["v1"])
            self.assertFalse(answer["complete"])
            self.assertIn("old store", json.dumps(answer))
            site.wait_until_merged(process, 40 * 66 + 6_006)
            site.wait_until_lap_over(process, ready["admin"])
            self.assertEqual(lacking(), {})
            self.assertEqual(process.term(), 0)

    def test_page(self):
        """migrate: what docs/how-to/migrate.md says to type works in its order"""
        admin, grpc = (f"127.0.0.1:{processes.free_port()}" for _ in range(2))
        now_ms = int(time.time() * 1000)
        with contextlib.ExitStack() as stack:
            store = stack.enter_context(old_store.OldStore(self.folder, "page"))
            store.add("hist:u1", [(f"v{n}", now_ms - n) for n in range(50)])
            site = self.install("page", store, admin={"listen": admin}, serve={"listen": grpc})
            stack.enter_context(site.process(ALL)).ready_line(60)
            said = [self.typed(site, command, grpc) for command in PAGE]
        self.assertIn("about 50", said[0])
        self.assertEqual(json.loads(said[1])["counts"]["plays"], 50)
        self.assertEqual(json.loads(said[2])["counts"]["missing"], 0)

    def typed(self, site, command, grpc):
        places = {"bloomring": plays.binary(), "site.yaml": site.path, "127.0.0.1:7700": grpc}
        places |= {name: self.folder / name for name in ("refused.jsonl", "missing.jsonl")}
        return processes.run([str(places.get(word, word)) for word in command.split()], bound_s=90)[1]

