"""A process that waits while it starts answers its probes, says what it waits for, hears signals, and goes on."""

import json
import re
import socket
import time

import chain
import installation
import kafka_server
import law
import one_broker
import plays
import processes

AT_ONCE_S = 0.7  # An attempt to reach a broker takes a second, and is not waited for.
TRIES = 4  # A busy machine takes longer once in a while.


def readiness(admin):
    """(status, the reason of the part "start") of /readyz; None while nobody listens."""
    try:
        status, body = processes.http_get(admin, "/readyz")
    except OSError:
        return None
    return status, json.loads(body)["parts"].get("start", {}).get("reason", "")


def wait_until_waiting(run, admin, words):
    """Until /readyz is 503 and says that the process waits for this."""

    def waits():
        found = readiness(admin)
        return found and found[0] == 503 and words in found[1] and found[1]

    return run.wait_until(waits, 60, f"/readyz to say {words}")


def seconds_to_end(case, run):
    """From SIGTERM to an end in order."""
    began = time.monotonic()
    case.assertEqual(run.term(), 0)
    return time.monotonic() - began


class StartWait(one_broker.OneBrokerCase):
    def site(self, name, **process):
        admin = f"127.0.0.1:{processes.free_port()}"
        return installation.Installation(
            self.folder, self.server.bootstrap, name, admin={"listen": admin}, process=process
        ), admin

    def test_store(self):
        """start: serve before merge waits for the filter store, alive and not ready, and serves when it is there"""
        site, admin = self.site("store", start_seconds=0)
        with site.process("serve") as serve:
            reason = wait_until_waiting(serve, admin, "waiting for the filter store since 20")
            self.assertIn("which the process that runs the merge stage makes", reason)
            self.assertEqual(processes.http_get(admin, "/healthz")[0], 200)
            self.assertEqual(processes.http_get(admin, "/metrics")[0], 200)
            self.assertIn("waiting for the filter store since", serve.tail(20))
            merge = site.process("merge")
            merge.command += ["--set", "admin.listen=127.0.0.1:0"]
            with merge:
                serve.ready_line(60)
                self.assertEqual(readiness(admin)[0], 200)
                self.assertEqual(serve.term(), 0)
                self.assertEqual(merge.term(), 0)

    def test_signal(self):
        """start: SIGTERM while it waits ends the process at once and in order"""
        site, admin = self.site("signal", start_seconds=0)
        for stages in ("serve", "window"):
            with self.subTest(stages):
                took_s = []
                while len(took_s) < TRIES and min(took_s, default=AT_ONCE_S) >= AT_ONCE_S:
                    with site.process(stages) as run:
                        wait_until_waiting(run, admin, "the filter store")
                        took_s.append(seconds_to_end(self, run))
                self.assertLess(min(took_s), AT_ONCE_S * processes.PATIENCE, took_s)

    def test_over(self):
        """start: when process.start_seconds are over it ends with 1 and says what it waited for"""
        site, _ = self.site("over", start_seconds=6)  # A busy broker may answer after more than a second.
        code, _, err = site.command("run", "--stages", "serve", check=False)
        self.assertEqual(code, 1, err)
        self.assertRegex(
            err.splitlines()[-1],
            r"bloomring: waited \d+ s in vain for the filter store: store\.path is \S+, which the process that runs "
            r"the merge stage makes: .*process\.start_seconds",
        )

    def test_topics(self):
        """start: a topic that is missing is waited for, with the command that makes it"""
        site, admin = self.site("topics", start_seconds=0)
        run = site.process("merge")
        run.command += ["--set", "topics.user_batches=made-later"]
        with run:
            reason = wait_until_waiting(run, admin, "topic made-later does not exist")
            self.assertIn("`bloomring topics --execute` creates it", reason)
            site.command("topics", "--execute", "--set", "topics.user_batches=made-later")
            run.ready_line(60)
            self.assertEqual(run.term(), 0)


class BrokerAway(law.LawCase):
    def test_broker(self):
        """start: a broker that is away is waited for; SIGTERM ends the wait, and the broker's return the start"""
        with processes.temp_folder("away") as folder, kafka_server.KafkaServer("4.1.0", folder / "kafka") as server:
            admin = f"127.0.0.1:{processes.free_port()}"
            changes = {"admin.listen": admin, "process.start_seconds": 0}
            path = chain.write_config(folder, server.bootstrap, "away", changes)
            processes.run([plays.binary(), "topics", "--execute", "--create-plays", "--config", path])
            server.kill9()
            command = [plays.binary(), "run", "--config", path]
            with processes.Process("first", command, folder) as run:
                reason = wait_until_waiting(run, admin, "waiting for brokers and topics since 20")
                self.assertIn(f"kafka.bootstrap is {server.bootstrap}: no broker answered", reason)
                self.assertEqual(processes.http_get(admin, "/healthz")[0], 200)
                seconds_to_end(self, run)
                self.assertIn("ended in order, before it began, waiting for brokers and topics since", run.tail(2))
            with processes.Process("second", command, folder) as run:
                wait_until_waiting(run, admin, "waiting for brokers")
                server.restart()
                run.ready_line(60)
                self.assertEqual(readiness(admin)[0], 200)
                self.assertEqual(run.term(), 0)
                self.assertRegex(run.tail(1), "info ended in order$")
            with processes.Process("third", [*command, "--stages", "ingest"], folder) as run:
                run.ready_line(60)
                server.kill9()
                run.wait_until(lambda: "#producer-" in run.tail(100), 60, "its producer to miss the broker")
                # Clients are numbered: two that try the properties, one that looks at topics, and the one that writes.
                self.assertEqual(set(re.findall(r"#producer-\d+", run.tail(100))), {"#producer-4"})

    def test_silent(self):
        """start: SIGTERM ends the wait for a broker that is silent at once, however often it is tried"""
        with processes.temp_folder("silent") as folder, socket.create_server(("127.0.0.1", 0)) as silent:
            admin = f"127.0.0.1:{processes.free_port()}"
            changes = {"admin.listen": admin, "process.start_seconds": 0}
            path = chain.write_config(folder, f"127.0.0.1:{silent.getsockname()[1]}", "silent", changes)
            took_s = []
            for attempt in range(TRIES):
                with processes.Process(f"run{attempt}", [plays.binary(), "run", "--config", path], folder) as run:
                    wait_until_waiting(run, admin, "waiting for brokers and topics since 20")
                    took_s.append(seconds_to_end(self, run))
            self.assertLess(min(took_s), AT_ONCE_S * processes.PATIENCE, took_s)
