"""Every line that processes write to standard error with log.format=json is JSON, also while things go wrong."""

import contextlib
import json
import re
import socket

import certificates
import installation
import one_broker
import plays
import processes

LEVELS = {"debug", "info", "warning", "error"}


def begun(text, stage):
    """The lines of a log that say with how many partitions a stage begins."""
    complete = [json.loads(line) for line in text.split("\n")[:-1]]
    return [line for line in complete if line["level"] == "info" and line["message"].startswith(f"{stage} begins")]


def partitions(told):
    return sum(line["partitions"] for line in told)


class Logs(one_broker.OneBrokerCase):
    def lines(self, path):
        """The file's lines, each a JSON object of one line with time, level and message."""
        found = []
        for text in path.read_text().splitlines():
            with self.subTest(line=text):
                line = json.loads(text)
                self.assertRegex(line["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
                self.assertIn(line["level"], LEVELS)
                self.assertRegex(line["message"], r"^[^\x00-\x1f]+$")
                found.append(line)
        return found

    def fails_to_run(self, site, *flags):
        """(exit code, its lines) of a run that does not start."""
        path = site.folder / "failed.err"
        code, _, err = processes.run(
            [plays.binary(), "run", "--config", site.path, *flags], check=False, bound_s=60
        )
        path.write_text(err)
        return code, self.lines(path)

    def test_json(self):
        """logs: with log.format=json every line is JSON: of starts and ends, of a broker that goes, of a bad TLS client"""
        site = installation.Installation(
            self.folder, self.server.bootstrap, "logs", slot_seconds=60, log={"format": "json", "level": "debug"}
        )
        certificates.make(site.folder)
        with contextlib.ExitStack() as stack:
            rest = stack.enter_context(site.process("ingest,window,merge"))
            serve = site.process("serve")
            serve.command += ["--set", f"serve.tls_certificate={site.folder / 'own.pem'}"]
            serve.command += ["--set", f"serve.tls_key={site.folder / 'own.key'}"]
            stack.enter_context(serve)
            admin = rest.ready_line(90)["admin"]
            grpc = serve.ready_line(90)["grpc"]
            site.play(["v1"])
            rest.wait_until(lambda: processes.window_has_read(admin, 30), 60, "the plays to be read")
            self.speak_plainly(serve, grpc)
            for process, stage in ((rest, "window"), (rest, "merge"), (serve, "serve")):
                process.wait_until(
                    lambda process=process, stage=stage: partitions(begun(process.err.read_text(), stage)) >= 10,
                    60,
                    f"{stage} to begin with all partitions",
                )
            before = {"serve": serve.err.read_text(), "window": rest.err.read_text(), "merge": rest.err.read_text()}
            sizes = {process: process.log_size() for process in (rest, serve)}
            self.server.kill9()
            for process, size in sizes.items():
                process.wait_until(
                    lambda process=process, size=size: process.logged_since(size, '"event":"FAIL"'),
                    60,
                    "librdkafka to say that the broker is gone",
                )
            self.server.restart()
            for process in (rest, serve):
                self.assertEqual(process.term(), 0)
        of_serve, of_rest = self.lines(serve.err), self.lines(rest.err)
        self.of_starts(site, of_serve, of_rest, before)
        self.assertTrue([line for line in of_serve if line["message"].startswith("grpc: ") and line["file"]])
        for lines in (of_serve, of_rest):
            gone = [line for line in lines if line.get("event") == "FAIL"]
            self.assertTrue(gone[0]["client"])
            self.assertNotIn("user-events", " ".join(line["message"] for line in lines))

    def speak_plainly(self, serve, grpc):
        host, port = grpc.split(":")
        with (
            contextlib.suppress(ConnectionError),
            socket.create_connection((host, int(port)), timeout=60) as connection,
        ):
            connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
            connection.recv(100)
        serve.wait_until(lambda: '"message":"grpc: ' in serve.tail(1000), 30, "gRPC to complain")

    def of_starts(self, site, of_serve, of_rest, before):
        for lines in (of_serve, of_rest):
            (start,) = [line for line in lines if line["message"] == "bloomring starts"]
            self.assertEqual(start["config"], str(site.path))
            self.assertRegex(start["commit"], "^([0-9a-f]{12}|unknown)$")
        ready = [line for line in of_serve if line["message"] == "ready"]
        self.assertTrue(ready[0]["grpc"])
        topics = {"window": site.events, "merge": f"batches-{site.name}", "serve": site.events}
        for stage, lines in (("window", of_rest), ("merge", of_rest), ("serve", of_serve)):
            told = begun(before[stage], stage)
            while partitions(told[:-1]) >= 10:
                told.pop()  # A group that has joined again tells once more.
            self.assertEqual({line["topic"] for line in told}, {topics[stage]})
            self.assertEqual(partitions(told), 10)
            self.assertLess(len(told), 10, "not a line for each partition")
            each = [line for line in lines if line.get("stage") == stage and "partition" in line and "offset" in line]
            self.assertEqual({line["partition"] for line in each}, set(range(10)), "at level debug, each partition")
            self.assertEqual({line["topic"] for line in each}, {topics[stage]})

    def test_failed_starts(self):
        """logs: why a process does not start, or a configuration is refused, is JSON as well, with a code"""
        site = installation.Installation(
            self.folder, self.server.bootstrap, "failed", log={"format": "json"}, filter={"time_zone": "UTC"}
        )
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            code, lines = self.fails_to_run(site, "--stages", "ingest", "--set", f"admin.listen=127.0.0.1:{port}")
        self.assertIn(code, (1, 2))
        self.assertEqual(lines[-1]["level"], "error")
        self.assertIn(str(port), lines[-1]["message"])
        self.assertTrue(lines[-1]["code"])
        code, lines = self.fails_to_run(site, "--set", "ring.slots=1", "--set", "topics.partitions=7")
        self.assertEqual(code, 2)
        self.assertEqual({line["code"] for line in lines}, {"invalid"})
        self.assertTrue([line for line in lines if re.search(r"topics\.partitions", line["message"])])
