"""A history comes into a living installation by `bloomring replay`, while its plays go on."""

import contextlib
import json
import random
import time

import heavy
import installation
import kafka_admin
import one_broker
import plays
import processes
import test_store_transfer

ALL = "ingest,window,merge,serve"
KILLED = 137  # The exit code of a process that ended at a fault point.
DAY_MS = 86_400_000
# Each durable step of a replay, in an order in which the one before leaves work for the next.
STEPS = [
    "replay.range_fixed",
    "job.begun",
    "replay.scanned",
    "ingest.block_sent:3",
    "ingest.acknowledged:3",
    "ingest.committed:2",
    "job.before_save:2",
    "job.saved:2",
]
# Of docs/replay.md.
PAGE = [
    "bloomring replay --name history --config site.yaml --output text",
    "bloomring replay --name history --config site.yaml --execute",
    "bloomring jobs --config site.yaml --output text",
    "bloomring jobs rate history 5000 --config site.yaml",
    "bloomring jobs remove history --config site.yaml",
]


def event(kind, user, item, time_ms):
    return json.dumps({"event": kind, "user": user, "item": item, "time": time_ms})


class History:
    """Events of users, in two halves. The first is older."""

    def __init__(self, now_ms):
        played = heavy.heavy_plays(now_ms - 60_000)
        self.oracle = plays.by_user(played)
        half = len(played) // 2
        self.first = [play.json() for play in played[:half]]
        self.second = [play.json() for play in played[half:]]
        for user in range(60):
            for n in range(10):
                item, time_ms = f"old-{user}-{n}", now_ms - 20 * DAY_MS + n * DAY_MS + user
                self.first.append(event("play", f"quiet-{user}", item, time_ms))
                self.oracle.setdefault(f"quiet-{user}", set()).add(item)
        old_ms, new_ms = now_ms - 3 * 3_600_000, now_ms - 1_000
        # By user, where the replay was: what must be seen, and what must not. The user regrets-2 forgets by a call.
        self.seen = {
            "regrets-1": ["again", "kept"],
            "regrets-2": ["kept"],
            "regrets-3": ["later"],
        }
        self.unseen = {
            "regrets-1": ["gone"],
            "regrets-2": ["gone-later"],
            "regrets-3": ["all-gone-1", "all-gone-2"],
        }
        self.first += [
            event("play", "regrets-1", "gone", old_ms),
            event("play", "regrets-1", "again", old_ms),
            event("play", "regrets-1", "kept", old_ms),
            event("forget", "regrets-1", "gone", old_ms + 60_000),
            event("forget", "regrets-1", "again", old_ms + 60_000),
            event("play", "regrets-1", "again", old_ms + 120_000),
            event("play", "regrets-2", "gone-later", old_ms),
            event("play", "regrets-2", "kept", old_ms),
            event("play", "regrets-3", "all-gone-1", old_ms),
            event("play", "regrets-3", "all-gone-2", old_ms + 1),
        ]
        self.second += [
            event("forget_all", "regrets-3", "", new_ms),
            event("play", "regrets-3", "later", new_ms + 1),
        ]
        random.Random(1).shuffle(self.first)


class Replay(one_broker.OneBrokerCase):
    def test_half_a_history(self):
        """replay: an installation with half of a history, and a replay that is killed at each of its durable steps, end
        with the same filters, byte for byte, as one that was live all the time; what was forgotten stays forgotten"""
        always = installation.Installation(self.folder, self.server.bootstrap, "always")
        half = installation.Installation(self.folder, self.server.bootstrap, "half")
        history = History(int(time.time() * 1000))
        with contextlib.ExitStack() as stack:
            running = {site: stack.enter_context(site.process(ALL)) for site in (always, half)}
            ready = {site: running[site].ready_line(60) for site in running}
            processes.kcat_produce(self.server.bootstrap, "plays-always", history.first)
            always.wait_until_ingested(running[always], ready[always], len(history.first))
            for topic in ("plays-always", "plays-half"):
                processes.kcat_produce(self.server.bootstrap, topic, history.second)
            half.wait_until_ingested(running[half], ready[half], len(history.second))
            always.wait_until_ingested(running[always], ready[always], len(history.first) + len(history.second))
            half.wait_until_answered(running[half], ready[half]["grpc"], ["later"], test_store_transfer.SEEN, "regrets-3")
            forget = ["forget", "--server", ready[half]["grpc"], "--user", "regrets-2", "gone-later"]
            processes.run([plays.binary(), *forget])

            job = ["replay", "--name", "history", "--topic", "plays-always", "--watch", ready[half]["admin"]]
            self.plan(half, job, len(history.first) + len(history.second))
            for step in STEPS:
                self.kill_at(half, [*job, "--rate", "6000", "--execute"], step)
            self.stop(half, [*job, "--rate", "500", "--execute"])
            self.refuse_others(half, job)
            self.slow_down_and_speed_up(half, running[half], [*job, "--execute"])
            self.kill_at(half, [*job, "--rate", "100000", "--execute"], "job.before_end")
            self.kill_at(half, [*job, "--execute"], "job.ended")
            report = json.loads(half.command(*job, "--execute")[1])
            self.assertEqual((report["state"], report["done"]), ("done", report["total"]))
            self.assertGreaterEqual(report["counts"]["left_out"]["forgotten"], 4)
            self.list_and_remove(half)

            items = sum(map(len, history.oracle.values()))
            for site in (always, half):
                site.wait_until_merged(running[site], items)
                site.wait_until_lap_over(running[site], ready[site]["admin"])
                report = heavy.check(ready[site]["grpc"], {user: history.oracle[user] for user in heavy.USERS})
                self.assertEqual(report.wrong(), [])
            self.check_forgotten(ready[half]["grpc"], history)
            self.compare_filters(always, half)
            self.assertEqual({process.term() for process in running.values()}, {0})

    def test_page(self):
        """replay: what docs/replay.md says to type works in its order"""
        admin = f"127.0.0.1:{processes.free_port()}"
        site = installation.Installation(self.folder, self.server.bootstrap, "page", admin={"listen": admin})
        with site.process(ALL) as process:
            process.ready_line(60)
            site.play(["a", "b"])
            said = [self.typed(site, command) for command in PAGE]
        self.assertIn("60 records", said[0])
        done = json.loads(said[1])
        self.assertEqual((done["state"], done["counts"]), ("done", {"written": 60}))
        self.assertIn("history  replay  done", said[2])
        self.assertEqual(json.loads(said[4])["jobs"], [])

    def test_expiring(self):
        """replay: a topic of jobs whose records expire is refused, with the way out; the plan needs none"""
        site = installation.Installation(self.folder, self.server.bootstrap, "expiring")
        kafka_admin.create_topic(self.server.bootstrap, "expiring-jobs", 1, cleanup_policy="delete")
        job = ["replay", "--name", "history", "--unwatched"]
        code, _, err = site.command(*job, "--execute", check=False)
        self.assertEqual(code, 2, err)
        self.assertIn("expiring-jobs has cleanup.policy delete", err)
        self.assertIn("--add-config cleanup.policy=compact", err)
        site.command(*job)

    def test_gaps(self):
        """replay: a log whose range ends in an aborted transaction and its marker is replayed to its end, without it"""
        site = installation.Installation(self.folder, self.server.bootstrap, "gaps")
        site.play(["a"])
        now_ms = int(time.time() * 1000)
        lines = [event("play", "aborted", f"x{n}", now_ms) for n in range(3)]
        kafka_admin.write_transaction(self.server.bootstrap, "plays-gaps", 0, lines, commit=False)
        report = json.loads(site.command("replay", "--name", "history", "--unwatched", "--execute")[1])
        self.assertEqual((report["state"], report["counts"]), ("done", {"written": 30}))
        self.assertEqual(report["done"], report["total"])

    def typed(self, site, command):
        words = [str(plays.binary() if word == "bloomring" else word) for word in command.split()]
        return processes.run([str(site.path) if word == "site.yaml" else word for word in words], bound_s=90)[1]

    def process(self, site, words, env=None):
        command = [plays.binary(), *words, "--config", site.path]
        return processes.Process("replay", command, self.folder, env)

    def plan(self, site, job, records):
        """Without --execute nothing is written, not even the topic of jobs."""
        before = site.ends()
        plan = json.loads(site.command(*job)[1])
        self.assertEqual((plan["executed"], plan["total"]), (False, records))
        self.assertIn("it writes plays", site.command(*job, "--output", "text")[1])
        self.assertEqual(json.loads(site.command("jobs")[1])["jobs"], [])
        self.assertNotIn("half-jobs", processes.run(["kcat", "-L", "-b", site.bootstrap])[1])
        self.assertEqual(site.ends(), before)

    def kill_at(self, site, job, step):
        with self.process(site, job, {"BLOOMRING_FAULT_POINT": step}) as process:
            self.assertEqual(process.wait(120), KILLED, process.describe(f"should have ended at {step}"))

    def stop(self, site, job):
        process = self.process(site, job)
        before = process.log_size()
        with process:
            process.wait_until(lambda: process.logged_since(before, "knows the forgets"), 60, "the second pass to begin")
            self.assertEqual(process.term(), 1)
            self.assertEqual(json.loads(process.output())["state"], "stopped")
        only = json.loads(site.command("jobs")[1])["jobs"][0]
        self.assertEqual((only["job"], only["kind"], only["state"]), ("history", "replay", "stopped"))

    def refuse_others(self, site, job):
        code, _, err = site.command(*job, "--from", "2020-01-01T00:00:00Z", "--execute", check=False)
        self.assertEqual(code, 2, err)
        self.assertIn("from was '', it is '2020-01-01T00:00:00Z' now", err)
        code, _, err = site.command("replay", "--name", "other", "--topic", "nothing", check=False)
        self.assertEqual(code, 2, err)
        self.assertIn("topic nothing does not exist", err)
        code, _, err = site.command("replay", "--name", "other", "--from", "0=999999", check=False)
        self.assertEqual(code, 2, err)
        self.assertIn("offset 999999 of plays-half[0] is not there yet", err)
        code, _, err = site.command("replay", "--name", "other", "--watch", "127.0.0.1:1", "--execute", check=False)
        self.assertEqual(code, 2, err)
        self.assertIn("does not answer", err)
        code, _, err = site.command("jobs", "rate", "nobody", "5", check=False)
        self.assertEqual(code, 2, err)
        self.assertIn("there is no job nobody", err)
        away = self.folder / "away.yaml"
        away.write_text(json.dumps({"kafka": {"bootstrap": "127.0.0.1:1"}}))
        code, _, err = site.command("replay", "--name", "other", "--source-config", away, check=False)
        self.assertEqual(code, 1, err)
        self.assertIn("127.0.0.1:1", err)

    def slow_down_and_speed_up(self, site, living, job):
        """A process that does not answer slows the job; `jobs rate` changes a job that runs; both are in the list."""

        def only():
            return json.loads(site.command("jobs")[1])["jobs"][0]

        with self.process(site, [*job, "--rate", "100"]) as process:
            process.wait_until(lambda: only()["rate"] == 100, 60, "the rate to be in the list")
            living.stall()
            process.wait_until(lambda: "does not answer" in only().get("slowed_by", ""), 60, "the job to slow down")
            self.assertLess(only()["share"], 1)
            living.resume()
            process.wait_until(lambda: only()["share"] == 1, 120, "the job to work at its rate again")
            done = only()["done"]
            site.command("jobs", "rate", "history", "5000")
            process.wait_until(lambda: only()["rate"] == 5000, 60, "the rate to change")
            process.wait_until(lambda: only()["done"] > done + 2000, 60, "the job to be faster")
            self.assertEqual(process.term(), 1)

    def list_and_remove(self, site):
        self.assertIn("history  replay  done", site.command("jobs", "--output", "text")[1])
        self.assertEqual(json.loads(site.command("jobs", "remove", "history")[1])["jobs"], [])
        self.assertEqual(json.loads(site.command("jobs")[1])["jobs"], [])

    def check_forgotten(self, grpc, history):
        for user, items in history.seen.items():
            answer = plays.complete_answer(grpc, user, items)
            self.assertEqual(plays.unseen(user, answer, len(items)), [])
        for user, items in history.unseen.items():
            answer = plays.complete_answer(grpc, user, items)
            self.assertEqual([verdict["item"] for verdict in answer["items"] if verdict["seen"]], [])

    def compare_filters(self, always, half):
        values = {}
        for site in (always, half):
            to = self.folder / f"export-{site.name}"
            site.command("store", "export", "--to", to)
            values[site] = {
                key: value for key, value in test_store_transfer.values_of(to).items() if b"regrets" not in key
            }
        self.assertGreaterEqual(len(values[always]), 62)
        self.assertEqual(values[always], values[half])
