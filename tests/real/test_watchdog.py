"""A process that stands still says so, and its end is bounded whatever hangs."""

import json
import re
import time

import chain
import heavy
import one_broker
import plays
import processes

STALL_S = 2
STOP_S = 3
HANGS = "window.staged:1=stall:3600000"  # the first block that a window task stages, for an hour


class Watchdog(one_broker.OneBrokerCase):
    def process(self, name, fault="", **process):
        """A process with all stages, topics and stores of its own."""
        folder = self.folder / name
        folder.mkdir()
        settings = chain.config(folder, self.server.bootstrap, name)
        settings["topics"].update(
            plays=f"plays-{name}", user_events=f"events-{name}", user_batches=f"batches-{name}", dead=f"dead-{name}"
        )
        settings["kafka"]["group_prefix"] = name
        settings["process"] = process
        settings["state"]["flush_seconds"] = 3600  # nothing but the orderly end makes it durable
        path = folder / "bloomring.yaml"
        path.write_text(json.dumps(settings))
        processes.run([plays.binary(), "topics", "--execute", "--create-plays", "--config", path])
        return processes.Process(
            name, [plays.binary(), "run", "--config", path], folder, env={"BLOOMRING_FAULT_POINT": fault}
        )

    def play(self, name, users=20):
        now_ms = int(time.time() * 1000)
        lines = [
            json.dumps({"user": f"u{u}", "item": f"v{i}", "time": now_ms}) for u in range(users) for i in range(20)
        ]
        processes.kcat_produce(self.server.bootstrap, f"plays-{name}", lines)

    def play_heavily(self, name):
        """Every play of a heavy user: {user: items}."""
        found = heavy.heavy_plays(int(time.time() * 1000), heavy.ONE)
        processes.kcat_produce(self.server.bootstrap, f"plays-{name}", [one.json() for one in found])
        return plays.by_user(found)

    def unhealthy(self, admin):
        status, body = processes.http_get(admin, "/healthz")
        return body if status == 503 else ""

    def stands_still(self, run, admin):
        """The answer of /healthz once the window task hangs in its fault. Others may be slow for a moment on a busy machine."""

        def named():
            body = self.unhealthy(admin)
            return body if re.search(rf"window events-{run.name}\[\d+\] has made no step for \d+ s", body) else ""

        run.wait_until(lambda: "fault point window.staged reached" in run.err.read_text(), 60, "the task to be at its fault")
        return run.wait_until(named, 60, "/healthz to name the task that stands still")

    def wait_for_line(self, run, words):
        run.wait_until(lambda: re.search(words, run.err.read_text()), 30, f"its log to say {words}")

    def test_stall(self):
        """watchdog: a task that makes no step is named, makes the process unhealthy, and is forgiven when it goes on"""
        with self.process("stall", f"window.staged:1=stall:{6 * STALL_S * 1000}", stall_seconds=STALL_S) as run:
            admin = run.ready_line(60)["admin"]
            self.play("stall")
            self.stands_still(run, admin)
            for path in ("/", "/?format=text", "/?format=json"):
                status, page = processes.http_get(admin, path)
                self.assertEqual(status, 200)
                self.assertRegex(page, r"FAILED|NOT READY")
                self.assertRegex(page, r"window events-stall\[\d+\] has made no step for \d+ s")
            self.wait_for_line(run, r"error window events-stall\[\d+\] has made no step")
            run.wait_until(lambda: not self.unhealthy(admin), 60, "/healthz to be well again")
            self.wait_for_line(run, r"window events-stall\[\d+\] goes on")
            self.assertEqual(run.term(), 0)

    def test_bound(self):
        """shutdown: a process that hangs ends within its bound after SIGTERM, says what it waited for, and loses nothing"""
        with self.process("bound", HANGS, stop_seconds=STOP_S, stall_seconds=1) as run:
            admin = run.ready_line(60)["admin"]
            self.play("bound")
            oracle = self.play_heavily("bound")
            self.stands_still(run, admin)
            self.assertEqual(run.term(STOP_S + 20), 1)
            self.assertRegex(run.tail(50), rf"not ended within {STOP_S} s, waiting for .*window events-bound\[\d+\]")

        healthy = processes.Process("bound", [*run.command, "--set", "process.stop_seconds=25"], run.folder)
        with healthy as run:
            grpc = run.ready_line(60)["grpc"]

            def seen():
                answer = plays.query(grpc, "u7", [f"v{i}" for i in range(20)])
                return answer["complete"] and all(verdict.get("reason") == "filter" for verdict in answer["items"])

            run.wait_until(seen, 120, "all plays to be in the filters")
            self.assertEqual(heavy.check(grpc, oracle, heavy.MERGED_OR_NOT).wrong(), [])
            self.assertEqual(run.term(), 0)

    def test_second_signal(self):
        """shutdown: a second SIGTERM ends the process at once"""
        with self.process("second", HANGS, stop_seconds=3600, stall_seconds=1) as run:
            admin = run.ready_line(60)["admin"]
            self.play("second")
            self.stands_still(run, admin)
            run.signal("SIGTERM")
            run.wait_until(lambda: "stopping; a second signal" in run.tail(50), 30, "the first signal to be heard")
            self.assertTrue(run.running())
            self.assertEqual(run.term(), -15)

    def test_durable(self):
        """shutdown: SIGTERM ends within its bound with everything durable: nothing is read again"""
        with self.process("durable") as run:
            ready = run.ready_line(60)
            self.play("durable", users=200)
            run.wait_until(lambda: processes.window_has_read(ready["admin"], 4000), 60, "everything to be applied")
            ends = processes.end_offsets(self.server.bootstrap, "events-durable", chain.PARTITIONS)
            self.assertEqual(run.term(25), 0)

            admin = run.start({"BLOOMRING_LOG_LEVEL": "debug"}).ready_line(60)["admin"]
            starts = re.findall(
                r"continues at its applied offset (\d+) .*topic=events-durable partition=(\d+)", run.err.read_text()
            )
            self.assertEqual(
                {int(p): int(at) for at, p in starts if int(at)}, {p: end for p, end in ends.items() if end}
            )
            self.assertEqual(sum(processes.values(processes.metrics(admin), "bloomring_window_records_total")), 0)
            self.assertEqual(run.term(25), 0)
