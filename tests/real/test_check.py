"""`bloomring check` finds whatever `run` would refuse, all of it at once, each with key, value, reason and way out."""

import contextlib
import json
import socketserver
import threading
import time

import chain
import law
import plays
import processes

WRONG = 2  # something is set up wrongly
FAILED = 1  # something could not be asked
BOUND_S = 90

# Name: changes of a fine configuration, the key of the finding, and words of its line.
OFFLINE = {
    "no brokers": ({"kafka.bootstrap": ""}, "kafka.bootstrap", "kafka.bootstrap is not set; name the brokers there"),
    "a broker without a port": ({"kafka.bootstrap": "broker-1"}, "kafka.bootstrap", "has broker-1; it must be host:"),
    "one of two brokers without a port": ({"kafka.bootstrap": "a:9092,b"}, "kafka.bootstrap", "has b; it must be"),
    "a variable that nothing has replaced": (
        {"kafka.bootstrap": "${KAFKA}"},
        "kafka.bootstrap",
        "holds ${KAFKA}, and variables are not replaced in values; write the value itself, or set BLOOMRING_KAFKA",
    ),
    "a password that is a variable": (
        {"kafka.properties": {"sasl.password": "${SECRET}"}},
        "kafka.properties",
        "set BLOOMRING_KAFKA_PROPERTIES_SASL_PASSWORD in the environment",
    ),
    "a peer without a port": ({"serve.peers": ["replica-{index}"]}, "serve.peers", "each must be host:port"),
    "a listener without a port": ({"admin.listen": "0.0.0.0"}, "admin.listen", "it must be host:port"),
    "acknowledged by one": ({"kafka.properties": {"acks": "1"}}, "kafka.properties", "leave it out"),
    "a group of its own": (
        {"kafka.properties": {"group.id": "x"}},
        "kafka.properties",
        "set kafka.group_prefix instead",
    ),
    "idempotence": (
        {"kafka.properties": {"enable.idempotence": "true"}},
        "kafka.properties",
        "must not set enable.idempotence to 'true'",
    ),
    "no such property": ({"kafka.properties": {"fooo": "1"}}, "kafka.properties.fooo", "fooo is 1: No such config"),
    "a property that is no number": (
        {"kafka.properties": {"session.timeout.ms": "soon"}},
        "kafka.properties.session.timeout.ms",
        "session.timeout.ms is soon: ",
    ),
    "authorities that are not there": (
        {"kafka.properties": {"security.protocol": "ssl", "ssl.ca.location": "/nonexistent/ca.pem"}},
        "kafka.properties.ssl.ca.location",
        "ssl.ca.location is /nonexistent/ca.pem: it cannot be read: No such file or directory; name a file",
    ),
    "authorities that are no certificate": (
        {"kafka.properties": {"security.protocol": "ssl", "ssl.ca.location": "/proc/version"}},
        "kafka.properties.ssl.ca.location",
        "ssl.ca.location is /proc/version: ",
    ),
    "a number of partitions": ({"topics.partitions": 7}, "topics.partitions", "is 7; it must divide 5000"),
    "too little memory": ({"memory.limit": "1MB"}, "memory.limit", "is 1MB; it must be at least 64MiB and at most"),
}


class NoBroker(socketserver.BaseRequestHandler):
    """Refuses what it does not understand, as web servers do."""

    def handle(self):
        self.request.recv(1000)
        self.request.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")


@contextlib.contextmanager
def web_server():
    """The port of something that listens and is no broker."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), NoBroker) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


class Check(law.LawCase):
    def check(self, path, *flags):
        """(exit code, what it printed as JSON, standard error)."""
        code, out, err = processes.run([plays.binary(), "check", "--config", path, *flags], BOUND_S, check=False)
        return code, json.loads(out), err

    def write(self, folder, changes, bootstrap="127.0.0.1:1"):
        return chain.write_config(folder, bootstrap, "all", changes)

    def found(self, verdict, key):
        """The finding about this key, which has all its parts."""
        for one in verdict["findings"]:
            self.assertEqual(list(one), ["severity", "key", "value", "place", "reason", "way_out"])
            self.assertTrue(one["reason"] and one["way_out"], one)
        of_key = [one for one in verdict["findings"] if one["key"] == key]
        self.assertTrue(of_key, verdict)
        return of_key[0]

    def test_offline(self):
        """check: what is wrong with a configuration alone is told as JSON with key, value, reason and way out"""
        with processes.temp_folder("check") as folder:
            code, verdict, err = self.check(self.write(folder, {}), "--offline")
            self.assertEqual((code, verdict["ok"], verdict["findings"], err), (0, True, [], ""))
            for name, (changes, key, words) in OFFLINE.items():
                with self.subTest(name):
                    code, verdict, err = self.check(self.write(folder, changes), "--offline")
                    self.assertEqual((code, verdict["ok"]), (WRONG, False), err)
                    self.assertEqual(self.found(verdict, key)["severity"], "error")
                    self.assertIn(words, err)

    def test_all_at_once(self):
        """check: everything that is wrong is told in one run, as text on standard error too"""
        with processes.temp_folder("check") as folder:
            keys = {"topics.partitions": 7, "ring.slots": 1, "kafka.properties": {"acks": "1", "client.rack": "a"}}
            path = self.write(folder, {**keys, "memory.limitt": "1GiB"})
            code, verdict, err = self.check(path)
            self.assertEqual(code, WRONG)
            for key in ("topics.partitions", "ring.slots", "kafka.properties", "memory.limitt"):
                self.found(verdict, key)
            self.assertEqual(len(err.splitlines()), 5, err)
            self.assertIn("did you mean memory.limit?", err)
            code, out, text = processes.run(
                [plays.binary(), "check", "--config", path, "--output", "text"], BOUND_S, check=False
            )
            self.assertEqual((code, out, text), (WRONG, "not ok: 5 errors, on standard error\n", err))

    def test_no_broker(self):
        """check, run: what listens at kafka.bootstrap and is no broker is named as that"""
        with processes.temp_folder("check") as folder, web_server() as port:
            path = self.write(folder, {}, f"127.0.0.1:{port}")
            code, verdict, err = self.check(path)
            self.assertEqual(code, FAILED, err)
            reason = self.found(verdict, "kafka.bootstrap")["reason"]
            self.assertIn(f"127.0.0.1:{port}: that port speaks HTTP, and belongs to no Kafka broker", reason)

    def test_store(self):
        """check: a store of another number of partitions is told while a broker is not there"""
        with processes.temp_folder("check") as folder:
            nobody = f"127.0.0.1:{processes.free_port()}"
            play = {"user": "u1", "item": "v1", "time": int(time.time() * 1000)}
            (folder / "plays.jsonl").write_text(json.dumps(play) + "\n")
            made = [plays.binary(), "dev", "--data", folder, "--slot-seconds", "1"]
            processes.run([*made, "--plays", folder / "plays.jsonl", "--once"], BOUND_S)
            changes = {"store.path": str(folder / "store"), "topics.partitions": 20}
            code, verdict, err = self.check(self.write(folder, changes, nobody))
            self.assertEqual(code, WRONG, err)
            self.assertIn(nobody, self.found(verdict, "kafka.bootstrap")["reason"])
            self.assertIn("partitions", self.found(verdict, "store.path")["reason"])
