"""Attacks of somebody who reaches a port of a running process. After each one a normal client is answered as before, and
the process has stayed below its memory limit."""

import concurrent.futures
import contextlib
import json
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))

import attack  # noqa: E402

import law  # noqa: E402
import plays  # noqa: E402
import processes  # noqa: E402

LIMIT_MIB = 1024
FILES = 1024  # The usual soft limit of descriptors; here the hard one, so that the process cannot have more.
FILES_SOFT = 256  # Before the process raises it.
STREAMS = 256  # That a connection may have at once, by the server's settings.
ANSWER_BOUND_MS = 2_000  # Of a normal question after an attack, on a busy machine; a few ms alone.


class Hostile(law.LawCase):
    """One process with every stage, for all attacks one after another: the traces of one, the next ones see."""

    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        cls.folder = cls.stack.enter_context(processes.temp_folder("hostile"))
        command = ["prlimit", f"--nofile={FILES_SOFT}:{FILES}", plays.binary(), "dev", "--data", cls.folder / "data"]
        settings = (f"memory.limit={LIMIT_MIB}MiB", "admin.health_listen=127.0.0.1:0", f"store.backup_path={cls.folder / 'backups'}")
        command += [word for setting in settings for word in ("--set", setting)]
        cls.process = cls.stack.enter_context(processes.Process("dev", command, cls.folder))
        cls.ready = cls.process.ready_line()
        cls.grpc, cls.admin, cls.health = (cls.ready[name] for name in ("grpc", "admin", "health"))
        now_ms = int(time.time() * 1000)
        processes.kcat_produce(cls.ready["kafka"], "plays", [json.dumps({"user": "u1", "item": "v1", "time": now_ms})])
        cls.process.wait_until(lambda: plays.query(cls.grpc, "u1", ["v1"])["items"][0]["seen"], 60, "v1 is seen")

    @classmethod
    def tearDownClass(cls):
        cls.stack.close()

    def tearDown(self):
        """A client that never attacked is answered rightly and in time, probes too, and the memory is below the limit."""
        self.assertTrue(self.process.running(), self.process.describe("still runs"))
        answer = plays.query(self.grpc, "u1", ["v1", "never"], ["--timeout-ms", self.patient(ANSWER_BOUND_MS)])
        self.assertTrue(answer["complete"])
        self.assertEqual([verdict["seen"] for verdict in answer["items"]], [True, False])
        self.assertEqual(processes.http_get(self.health, "/healthz", 5)[0], 200)
        self.assertEqual(processes.http_get(self.health, "/readyz", 5)[0], 200)
        self.assertLess(self.memory_mib(peak=True), LIMIT_MIB)

    @staticmethod
    def patient(ms):
        return int(ms * processes.PATIENCE)

    def memory_mib(self, peak=False):
        return processes.resident_mib(self.process.pid, peak)

    def refused(self):
        found = processes.metrics(self.admin)
        return sum(processes.values(found, "bloomring_connections_refused_total", cause="descriptors"))

    def threads(self):
        return len(list(pathlib.Path(f"/proc/{self.process.pid}/task").iterdir()))

    def test_files(self):
        """hostile: a process raises its soft limit of descriptors to the hard one when it starts"""
        limits = pathlib.Path(f"/proc/{self.process.pid}/limits").read_text()
        self.assertRegex(limits, rf"(?m)^Max open files\s+{FILES}\s+{FILES}\s")

    def test_audit(self):
        """hostile: the log has a line for each forget and each action, with who asked for it, and no id of a user"""
        size = self.process.log_size()
        user = "user-of-the-audit"
        for words in (["--everything"], ["--everything", "--all-scenes"], ["item-of-the-audit"]):
            processes.run([plays.binary(), "forget", "--server", self.grpc, "--user", user, *words])
        forgets = self.audited(size, "a forget")
        self.assertEqual(len(forgets), 3, forgets)
        for line, what in zip(forgets, ("everything", "everything", "one item"), strict=True):
            self.assertRegex(line, rf"caller=ipv4:127\.0\.0\.1:\d+ user=#[0-9a-f]+ scene=(all scenes)? ?what={what} status=0$")
            self.assertNotIn(user, line)
        self.assertEqual(["all scenes" in line for line in forgets], [False, True, False])
        (token,) = self.folder.glob("data/**/admin.token")
        for given, status in ((token.read_text().strip(), 200), ("guess" * 4, 401)):
            with attack.connect(self.admin, 30) as client:
                head = f"POST /store/backup HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {given}\r\nContent-Length: 0\r\n\r\n"
                client.sendall(head.encode())
                self.assertIn(f" {status} ", client.recv(4096).decode().splitlines()[0])
        (action,) = self.audited(size, "an action action=/store/backup")
        self.assertRegex(action, r"action=/store/backup peer=127\.0\.0\.1 status=200$")

    def audited(self, size, what):
        """The audit lines about this behind the first bytes of the log, without quotes."""
        text = self.process.err.read_bytes()[size:].decode().replace('"', "")
        return [line for line in text.splitlines() if f"audit: {what} " in line]

    def test_connections(self):
        """hostile: more connections than there are descriptors, and the port answers behind them"""
        with attack.connections(self.grpc, FILES + 100) as held:
            self.assertGreater(len(held), FILES // 2)
            self.process.wait_until(self.refused, 30, "connections to be refused for want of descriptors")

    def test_many_times(self):
        """hostile: connections that come and go, ten thousand of them"""
        for _ in range(10):
            with attack.connections(self.grpc, 1000):
                pass

    def test_half_open_handshakes(self):
        """hostile: connections that say half a preface, half a TLS handshake, or what is no protocol"""
        openings = (attack.PREFACE[:10], bytes.fromhex("1603010200010001fc0303"), b"GET / HTTP/1.1\r\n", b"\0" * 4096)
        with attack.connections(self.grpc, 200) as held:
            for number, one in enumerate(held):
                with contextlib.suppress(OSError):
                    one.sendall(openings[number % len(openings)])
            self.assertEqual(len(plays.query(self.grpc, "u1", ["v1"])["items"]), 1)

    def test_resets(self):
        """hostile: ten thousand calls that are taken back at once, on one connection"""
        self.assertGreater(attack.reset_flood(self.grpc, 10_000), 0)

    def test_streams(self):
        """hostile: more calls at once on a connection than it may have take no threads and no memory"""
        threads, memory = self.threads(), self.memory_mib()
        client, begun = attack.open_streams(self.grpc, 5_000)
        with client:
            self.assertGreater(begun, 100)
            self.assertEqual(len(plays.query(self.grpc, "u1", ["v1"])["items"]), 1)
            self.assertLess(self.threads(), threads + 80)
            self.assertLess(self.memory_mib(), memory + 64)

    def test_silent_calls(self):
        """hostile: calls whose messages never come, over 300 connections, take the memory of a bounded number of calls"""
        methods = ("Filter", "Forget", "/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch")
        before, met_before = self.memory_mib(), self.silent_calls_met()
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(attack.Http2(self.grpc)) for _ in range(300)]
            for number, client in enumerate(clients):
                client.settle()
                attack.silent_calls(client, STREAMS, methods[number % len(methods)])

            def met():
                """The port also closes connections: those that it could not greet in time, on a busy machine."""
                for client in clients:
                    for _ in client.frames(0.001):
                        pass
                held = sum(not client.closed for client in clients)
                return held > 100 and self.silent_calls_met() - met_before >= held * STREAMS

            self.process.wait_until(met, 120, "every call to have had a place or to have one")
            self.assertEqual(len(plays.query(self.grpc, "u1", ["v1"])["items"]), 1)
            self.assertLess(self.memory_mib(peak=True), before + 128)

    def silent_calls_met(self):
        found = processes.metrics(self.admin)
        gave_way = processes.values(found, "bloomring_calls_without_place_total", result="silent_ended")
        return sum(gave_way) + sum(processes.values(found, "bloomring_calls_open"))

    def test_empty_requests(self):
        """hostile: eight of the largest messages of the smallest requests at once are refused before they are parsed"""
        body = attack.empty_requests(4 << 20)

        def send(_):
            with attack.Http2(self.grpc) as client:
                client.settle()
                return client.call("FilterBatch", body, bound_s=60)

        before = self.memory_mib(peak=True)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            outcomes = list(pool.map(send, range(8)))
        self.assertEqual(set(outcomes), {"answered"}, outcomes)
        self.assertLess(self.memory_mib(peak=True), before + 256)

    def test_compressed_bombs(self):
        """hostile: a compressed message is refused and not inflated, whatever it would become"""
        before = self.memory_mib(peak=True)
        for encoding, body in (
            ("gzip", attack.gzip_bomb(256 << 20)),
            ("gzip", attack.small_gzip(b"\x0a\x02u1")),
            ("deflate", b"\x78\x9c\x03\x00\x00\x00\x00\x01"),
            ("identity", attack.gzip_bomb(64 << 20)),
        ):
            with self.subTest(encoding=encoding, bytes=len(body)), attack.Http2(self.grpc) as client:
                client.settle()
                outcome = client.call("Filter", body, [("grpc-encoding", encoding)], compressed=True)
                self.assertIn(outcome, ("answered", "reset"))
        self.assertLess(self.memory_mib(peak=True), before + 64)

    def test_metadata(self):
        """hostile: a call with a megabyte of metadata is refused"""
        with attack.Http2(self.grpc) as client:
            client.settle()
            stream = client.next_stream()
            block = attack.call_headers("Filter", [(f"x-{i}", "y" * 4000) for i in range(260)])
            pieces = [block[i : i + attack.FRAME_BYTES] for i in range(0, len(block), attack.FRAME_BYTES)]
            client.send(attack.frame(attack.HEADERS, 0, stream, pieces[0]))
            for number, piece in enumerate(pieces[1:], 2):
                last = number == len(pieces)
                client.send(attack.frame(9, attack.END_HEADERS if last else 0, stream, piece))
            self.assertNotEqual(client.outcome(stream, 10), "nothing")

    def test_slow_readers(self):
        """hostile: clients that ask and never read take only what a connection may hold"""
        question = b"\x0a\x02u1"  # GetSnapshot of u1
        before = self.memory_mib()
        with contextlib.ExitStack() as stack:
            for _ in range(50):
                client = stack.enter_context(attack.Http2(self.grpc, window=0))
                for _ in range(50):
                    stream = client.begin("GetSnapshot")
                    client.send(attack.frame(attack.DATA, attack.END_STREAM, stream, attack.message(question)))
            self.assertEqual(len(plays.query(self.grpc, "u1", ["v1"])["items"]), 1)
            self.assertLess(self.memory_mib(), before + 128)

    def test_slow_writers(self):
        """hostile: messages that begin and never end take only what a connection may hold"""
        with contextlib.ExitStack() as stack:
            for _ in range(100):
                client = stack.enter_context(attack.Http2(self.grpc))
                stream = client.begin("Filter")
                client.send(attack.frame(attack.DATA, 0, stream, b"\x00\x00\x40\x00\x00" + b"\x0a" * 1000))
            self.assertEqual(len(plays.query(self.grpc, "u1", ["v1"])["items"]), 1)

    def test_lying_frames(self):
        """hostile: frames that lie of their size, kind, stream or settings end their connection alone"""
        lies = (
            b"\xff\xff\xff\x00\x00\x00\x00\x00\x01",
            attack.frame(attack.HEADERS, attack.END_HEADERS, 0, b""),
            attack.frame(attack.HEADERS, attack.END_HEADERS, 1, b"\xff" * 100),
            attack.frame(attack.SETTINGS, 0, 0, b"\x00\x04\xff\xff\xff\xff"),
            attack.frame(attack.WINDOW_UPDATE, 0, 0, b"\x7f\xff\xff\xff") * 2,
            attack.frame(attack.PING, 0, 0, b"short"),
            attack.frame(250, 255, 7, b"x" * 100),
        )
        for lie in lies:
            with self.subTest(lie=lie[:12]), attack.Http2(self.grpc) as client:
                client.settle()
                client.send(lie)
                for _ in client.frames(0.2):
                    pass

    def test_slow_admin(self):
        """hostile: forty slow clients of the admin port do not delay the probes on their own port"""
        with attack.connections(self.admin, 40) as held:
            for one in held:
                one.sendall(b"GET /metrics HT")
            for _ in range(20):
                self.assertEqual(processes.http_get(self.health, "/healthz", 2)[0], 200)

    def test_admin_actions(self):
        """hostile: whoever only reaches the admin port takes no backup, and a page in a browser neither"""
        for headers in ("", "Authorization: Bearer guess\r\n", "Origin: http://evil.example\r\n"):
            with attack.connect(self.admin) as client:
                request = f"POST /store/backup HTTP/1.1\r\nHost: evil.example\r\n{headers}Content-Length: 0\r\n\r\n"
                client.sendall(request.encode())
                self.assertRegex(client.recv(4096).decode(), r"^HTTP/1.1 40[13] ")

    def asks(self, head):
        """(status, the rest) of what the admin port answers to these bytes; status 0 where it hangs up. civetweb refuses
        a head that it cannot read in the words of HTTP/1.0."""
        with attack.connect(self.admin, 30) as client:
            with contextlib.suppress(OSError):  # It may answer and hang up before it has read all.
                client.sendall(head)
            answer = b""
            with contextlib.suppress(OSError):
                while piece := client.recv(65536):
                    answer += piece
        found = re.match(rb"HTTP/1\.[01] (\d{3}) ", answer)
        return int(found[1]) if found else 0, answer.decode(errors="replace")

    def test_page_requests(self):
        """hostile: paths, queries and heads that no page has get a clear 4xx, which repeats nothing of them"""
        evil = "<script>alert(1)</script>"
        paths = ["/..", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//", "/.git/config", "/index.html", f"/{evil}"]
        paths += ["/\\..\\etc", "/" + "a" * 8_000, "/%ff%fe", "/;/metrics", "/metrics/..%2f", "/?format=xml", f"/?format={evil}"]
        paths += ["/?format=json&format=text", "/?" + "q" * 8_000, "/?format=json%00", "/?%66ormat=json", "/?format=../../etc/passwd"]
        for path in paths:
            with self.subTest(path=path[:60]):
                status, answer = self.asks(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                self.assertIn(status, (400, 404), answer[:200])
                self.assertNotIn("script", answer)
                self.assertNotIn("root:", answer)
        for head in (f"X-Long: {'y' * 20_000}", "\r\n".join(f"X-{n}: {'z' * 100}" for n in range(200)), "Host: a\0b", "no colon"):
            with self.subTest(head=head[:30]):
                status, answer = self.asks(f"GET / HTTP/1.1\r\nHost: localhost\r\n{head}\r\n\r\n".encode("latin-1"))
                self.assertEqual(status, 400, answer[:200])
        for method in ("POST", "PUT", "DELETE", "TRACE", "PROPFIND", "NONE"):  # civetweb itself refuses the unusual ones.
            with self.subTest(method=method):
                status, answer = self.asks(f"{method} / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n".encode())
                self.assertIn(status, (400, 405, 501), answer[:200])
        status, answer = self.asks(b"GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n\r\n")
        self.assertEqual(status, 200)
        self.assertNotIn("Access-Control-Allow-Origin", answer)  # So the page of another site cannot read it...
        status, answer = self.asks(b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")
        self.assertEqual(status, 403)  # ...not even where its own name leads here.
        self.assertNotIn("evil", answer)

    def test_page_flood(self):
        """hostile: a hundred pages at once are all answered, and take no memory that stays"""
        before = self.memory_mib()
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            heads = [b"GET /?format=json HTTP/1.1\r\nHost: localhost\r\n\r\n"] * 50 + [b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"] * 50
            found = [status for status, _ in pool.map(self.asks, heads)]
        self.assertEqual(set(found), {200})
        self.assertLess(self.memory_mib(), before + 64)
