"""`bloomring export zset` writes what users play to the old store of a site, so that its old readers stay right."""

import collections
import contextlib
import json
import random
import re
import time

import heavy
import installation
import old_store
import one_broker
import plays
import processes

ALL = "ingest,window,merge,serve"
KILLED = 137  # The exit code of a process that ended at a fault point.
# Each durable step of an export, in an order in which the one before leaves work for the next.
STEPS = ["job.begun", "export.read:2", "export.written:3", "job.before_save:2", "job.saved:2"]
# Of docs/how-to/migrate.md: the commands of an export's user, and what to type.
RIGHTS = [
    *("ping", "role", "cluster|slots", "readonly", "asking"),
    *("zadd", "zremrangebyscore", "zremrangebyrank", "expire", "eval", "zscore", "zrem"),
]
PAGE = [
    "bloomring export zset --name back --config site.yaml --from 2026-10-01T00:00:00Z --output text",
    "bloomring export zset --name back --config site.yaml --from 2026-10-01T00:00:00Z --refused refused.jsonl --execute",
]


class Site:
    """The plays and forgets of a site's users, as the site knows them."""

    def __init__(self, bootstrap, topic):
        self.bootstrap = bootstrap
        self.topic = topic
        self.sets = collections.defaultdict(dict)  # User: item: time of the latest play.
        self.forgotten = []  # (user, item)
        self.records = 0
        self.rng = random.Random(1)
        self.now_ms = int(time.time() * 1000) - 600_000

    def send(self, events):
        lines = [json.dumps(event) for event in events]
        # By user, as sites do: what one user does stays in its order.
        keyed = [f"{event['user']}\t{line}" for event, line in zip(events, lines, strict=True)]
        processes.run(
            ["kcat", "-P", "-b", self.bootstrap, "-t", self.topic, "-K", "\\t"],
            stdin="\n".join(keyed) + "\n",
            bound_s=120,
        )
        self.records += len(events)

    def play(self, users, count):
        events = []
        for _ in range(count):
            user, item = f"u{self.rng.randrange(users)}", f"v{self.rng.randrange(500)}"
            self.now_ms += 7
            events.append({"user": user, "item": item, "time": self.now_ms})
            self.sets[user][item] = self.now_ms
        self.send(events)

    def play_heavily(self):
        found = heavy.heavy_plays(self.now_ms, heavy.ONE)
        self.send([json.loads(play.json()) for play in found])
        for play in found:
            self.sets[play.user][play.item] = play.time_ms
        return plays.by_user(found)

    def forget_some(self):
        """One item of every third user, and everything of every tenth, as far as it was played before."""
        events = []
        for n, user in enumerate(sorted(user for user in self.sets if user.startswith("u"))):
            self.now_ms += 7
            if n % 10 == 0:
                self.forgotten += [(user, item) for item in self.sets.pop(user)]
                events.append({"user": user, "item": "", "time": self.now_ms, "event": "forget_all"})
            elif n % 3 == 0:
                item = next(iter(self.sets[user]))
                del self.sets[user][item]
                self.forgotten.append((user, item))
                events.append({"user": user, "item": item, "time": self.now_ms, "event": "forget"})
        self.send(events)


class Export(one_broker.OneBrokerCase):
    def install(self, name, store, **sections):
        migrate = {"addresses": [store.address], **sections.pop("migrate", {})}
        return installation.Installation(self.folder, self.server.bootstrap, name, migrate=migrate, **sections)

    def process(self, site, words, env=None):
        return processes.Process(words[0], [plays.binary(), *words, "--config", site.path], site.folder, env)

    def wait_for_sets(self, store, done, exporter, bound_s=120):
        """Until every set of the old store is as the site knows it."""

        def same():
            return all(store.set(f"hist:{user}") == items for user, items in done.sets.items())

        exporter.wait_until(same, bound_s, "the sets of the old store to be as the site knows them")

    def test_there(self):
        """export: what users play and forget is in the sets of the old store, exactly, over kills of the job at each of its
        durable steps, a kill -9, and an old store that goes and comes; bloomring and the sets agree"""
        with contextlib.ExitStack() as stack:
            store = stack.enter_context(old_store.OldStore(self.folder, "there"))
            store.ask("SET", "hist:text", "x")
            site = self.install("there", store)
            process = stack.enter_context(site.process(ALL))
            ready = process.ready_line(60)
            done = Site(self.server.bootstrap, "plays-there")
            job = ["export", "zset", "--name", "back", "--watch", ready["admin"], "--rate", "2000"]
            self.assertIn("follows the topics", site.command(*job, "--output", "text")[1])
            self.assertEqual(store.ask("DBSIZE"), "1")
            done.play(40, 6_000)
            for step in STEPS:
                with self.process(site, [*job, "--execute"], {"BLOOMRING_FAULT_POINT": step}) as exporter:
                    self.assertEqual(exporter.wait(120), KILLED, exporter.describe(f"should have ended at {step}"))
            done.forget_some()
            done.play(40, 3_000)
            done.send([{"user": "text", "item": "v1", "time": done.now_ms}, {"user": "u1", "time": done.now_ms}])
            refused = site.folder / "refused"
            job = [*job, "--refused", refused, "--execute"]
            with self.process(site, job) as exporter:
                before = self.writes(store)
                exporter.wait_until(lambda: self.writes(store) > before, 60, "the export to write")
                exporter.kill9()
                exporter.start()
                # Away, and back: the job waits for it.
                store.kill9()
                heavy_users = done.play_heavily()
                store.come_back()
                self.wait_for_sets(store, done, exporter)
                done.play(40, 500)
                done.forget_some()
                self.wait_for_sets(store, done, exporter)
                self.assertEqual(exporter.term(), 1)  # Stopped: whoever started it starts it again.
                report = json.loads(exporter.output())
            for user, item in done.forgotten:
                self.assertTrue(item in done.sets.get(user, {}) or not store.ask("ZSCORE", f"hist:{user}", item))
            self.assertEqual(store.ask("GET", "hist:text"), "x")
            self.assertEqual(set(report["counts"]["refused"]), {"wrong_type", "missing_field"})
            self.assertEqual(report["done"], done.records)
            reasons = {json.loads(line)["reason"] for line in refused.read_text().splitlines()}
            self.assertEqual(reasons, {"wrong_type", "missing_field"})
            self.agree(site, process, ready, store, done, heavy_users)
            self.assertEqual(process.term(), 0)

    def writes(self, store):
        """ZADDs that the old store has carried out."""
        stats = store.ask("INFO", "commandstats")
        found = re.search(r"^cmdstat_zadd:calls=(\d+)", stats, re.MULTILINE)
        return int(found.group(1)) if found else 0

    def agree(self, site, process, ready, store, done, heavy_users):
        """In both directions: what is in a set is seen, and what is seen, of all that was ever played, is in its set."""
        site.wait_until_ingested(process, ready, done.records)
        words = ["verify", "--name", "compare", "--server", ready["grpc"], "--watch", ready["admin"]]
        counts = json.loads(site.command(*words, "--rate", "1000000", "--execute")[1])["counts"]
        members = sum(len(items) for items in done.sets.values())
        self.assertEqual((counts["asked"], counts["missing"]), (members, 0))
        self.assertEqual(heavy.check(ready["grpc"], heavy_users, heavy.MERGED_OR_NOT).wrong(), [])
        by_user = collections.defaultdict(list)
        for user, item in done.forgotten:
            if item not in done.sets.get(user, {}):
                by_user[user].append(item)
        self.assertGreater(len(by_user), 5)
        seen = asked = 0
        for user, items in by_user.items():
            answer = plays.complete_answer(ready["grpc"], user, items)
            asked += len(items)
            seen += sum(verdict["seen"] for verdict in answer["items"])
        self.assertLessEqual(seen, plays.false_positives_max(0.01 * asked))

    def test_page(self):
        """export: what docs/how-to/migrate.md says to type works with the rights that it names, sets keep the form that
        the site gives them, and a job with an end ends"""
        admin = f"127.0.0.1:{processes.free_port()}"
        with contextlib.ExitStack() as stack:
            user = ["--user", "site", "on", ">secret", "~hist:*", *(f"+{word}" for word in RIGHTS)]
            store = stack.enter_context(old_store.OldStore(self.folder, "page", user))
            password = self.folder / "password"
            password.write_text("secret\n")
            password.chmod(0o600)
            form = {"keys": ["hist:{scene}:{user}"], "member": "v:{item}", "score_unit": "s"}
            form |= {"export_members_max": 5, "export_ttl_hours": 2, "user": "site", "password_file": str(password)}
            site = self.install("page", store, migrate=form, admin={"listen": admin})
            stack.enter_context(site.process(ALL)).ready_line(60)
            now_ms = int(time.time() * 1000)
            events = [
                {"user": "u1", "item": f"{n}", "time": now_ms - 10_000 * (n + 1), "scene": "feed"} for n in range(8)
            ]
            done = Site(self.server.bootstrap, "plays-page")
            done.send(events)
            said = [self.typed(site, words) for words in (PAGE[0], PAGE[1].replace("--name back", "--until now --name once"))]
            self.assertIn("8", said[0])
            self.assertEqual(json.loads(said[1])["counts"], {"plays": 8})
            newest = {f"v:{event['item']}": event["time"] // 1000 for event in events[:5]}
            self.assertEqual(store.set("hist:feed:u1"), newest)
            self.assertGreater(int(store.ask("TTL", "hist:feed:u1")), 7_000)
            with processes.Process("back", self.words(site, PAGE[1]), site.folder) as exporter:
                done.send([{"user": "u2", "item": "1", "time": now_ms, "scene": "feed"}])
                exporter.wait_until(lambda: store.set("hist:feed:u2") == {"v:1": now_ms // 1000}, 60, "the play")
                self.assertEqual(exporter.term(), 1)

    def words(self, site, command):
        places = {"bloomring": plays.binary(), "site.yaml": site.path, "refused.jsonl": site.folder / "refused.jsonl"}
        return [str(places.get(word, word)) for word in command.split()]

    def typed(self, site, command):
        return processes.run(self.words(site, command), bound_s=90)[1]
