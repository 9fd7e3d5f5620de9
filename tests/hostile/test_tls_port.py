"""Attacks on a gRPC port with TLS that asks for certificates. After each one a client with a certificate is answered."""

import contextlib
import json
import pathlib
import socket
import ssl
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))

import attack  # noqa: E402

import certificates  # noqa: E402
import law  # noqa: E402
import plays  # noqa: E402
import processes  # noqa: E402

ANSWER_BOUND_MS = 2_000  # Of a normal question after an attack, on a busy machine.
SLOT_SECONDS = 5
CLIENT_HELLO = bytes.fromhex("1603010200010001fc0303")  # The head of a record of 512 bytes, and the first of them.


def record(kind, payload, version=0x0303):
    """A TLS record: 20 change cipher spec, 21 alert, 22 handshake, 23 application data."""
    return bytes((kind,)) + version.to_bytes(2, "big") + len(payload).to_bytes(2, "big") + payload


class TlsPort(law.LawCase):
    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        cls.folder = folder = cls.stack.enter_context(processes.temp_folder("tls-port"))
        cls.pem = certificates.Certificates(folder / "pem")
        cls.pem.with_authority()
        cls.pem.self_signed("stranger")
        # `dev` brings the broker, the store and the pipeline; its own port has no TLS.
        command = [plays.binary(), "dev", "--slot-seconds", SLOT_SECONDS, "--data", folder / "data"]
        dev = cls.stack.enter_context(processes.Process("dev", command, folder))
        kafka = dev.ready_line()["kafka"]
        (folder / "access").write_text("read *\n")
        settings = {
            "kafka.bootstrap": kafka,
            "topics.partitions": 10,
            "ring.slot_seconds": SLOT_SECONDS,
            "store.path": folder / "data" / "store",
            "admin.listen": "127.0.0.1:0",
            "serve.listen": "127.0.0.1:0",
            "serve.tls_certificate": cls.pem.path("own.pem"),
            "serve.tls_key": cls.pem.path("own.key"),
            "serve.tls_client_ca": cls.pem.path("ca.pem"),
            "serve.access_file": folder / "access",
            "serve.drain_seconds": 0,
        }
        command = [plays.binary(), "run", "--stages", "serve"]
        command += [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
        cls.process = cls.stack.enter_context(processes.Process("serve", command, folder))
        cls.grpc = cls.process.ready_line()["grpc"]
        cls.certificate = ["--tls-ca", cls.pem.path("ca.pem")]
        cls.certificate += ["--tls-cert", cls.pem.path("own.pem"), "--tls-key", cls.pem.path("own.key")]
        now_ms = int(time.time() * 1000)
        processes.kcat_produce(kafka, "plays", [json.dumps({"user": "u1", "item": "v1", "time": now_ms})])
        cls.process.wait_until(lambda: cls.ask()["items"][0]["seen"], 60, "v1 is seen")

    @classmethod
    def tearDownClass(cls):
        cls.stack.close()

    @classmethod
    def ask(cls):
        timeout = ["--timeout-ms", int(ANSWER_BOUND_MS * processes.PATIENCE)]
        return plays.query(cls.grpc, "u1", ["v1", "never"], [*cls.certificate, *timeout])

    def tearDown(self):
        """A client with a certificate is answered rightly and in time."""
        self.assertTrue(self.process.running(), self.process.describe("still runs"))
        answer = self.ask()
        self.assertTrue(answer["complete"])
        self.assertEqual([verdict["seen"] for verdict in answer["items"]], [True, False])

    def until_closed(self, client, bound_s=20):
        """The bytes that the port sends until it closes the connection."""
        client.settimeout(bound_s * processes.PATIENCE)
        received = b""
        with contextlib.suppress(ConnectionResetError):
            while data := client.recv(4096):
                received += data
        return received

    def context(self, with_certificate):
        context = ssl.create_default_context(cafile=self.pem.path("ca.pem"))
        context.set_alpn_protocols(["h2"])
        if with_certificate:
            context.load_cert_chain(self.pem.path("own.pem"), self.pem.path("own.key"))
        return context

    def test_denied(self):
        """hostile TLS: the log has a line for a forget that its caller may not make, with the caller and no user"""
        size = self.process.log_size()
        user = "user-of-the-denied"
        words = [plays.binary(), "forget", "--server", self.grpc, "--user", user, "--everything", *self.certificate]
        code, _, err = processes.run(words, check=False)
        self.assertNotEqual(code, 0)
        self.assertIn("gRPC status 7: this client", err)
        text = self.process.err.read_bytes()[size:].decode().replace('"', "")
        (line,) = [line for line in text.splitlines() if "audit: " in line]
        self.assertRegex(line, r"audit: a forget was denied caller=\S+.* at ipv4:127\.0\.0\.1:\d+ status=7 others_without_a_line=0$")
        self.assertNotIn(user, line)

    def test_status(self):
        """hostile TLS: `bloomring status` that is pointed at the port says which port it is"""
        code, _, err = processes.run([plays.binary(), "status", "--admin", self.grpc], check=False)
        self.assertEqual(code, 1)
        words = "the port closes the connection at a request of HTTP, as one with TLS does (serve.listen?): ask at admin.listen"
        self.assertIn(words, err)

    def test_half_open(self):
        """hostile TLS: two hundred handshakes that begin and do not go on keep nobody else out"""
        with attack.connections(self.grpc, 200) as held:
            self.assertEqual(len(held), 200)
            for number, one in enumerate(held):
                with contextlib.suppress(OSError):
                    one.sendall(CLIENT_HELLO[: 1 + number % len(CLIENT_HELLO)])
            self.assertEqual(len(self.ask()["items"]), 2)

    def test_plain_text(self):
        """hostile TLS: plain HTTP/2 and HTTP/1.1 are not answered, and their connections are closed"""
        for opening in (attack.PREFACE + attack.frame(attack.SETTINGS, 0, 0), b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"):
            with self.subTest(opening=opening[:16]), attack.connect(self.grpc) as client:
                client.sendall(opening)
                said = self.until_closed(client)
                self.assertNotIn(b"HTTP", said)
                self.assertFalse(said and said[0] != 21, said)  # Nothing, or an alert of TLS.

    def test_garbage(self):
        """hostile TLS: records that lie of their kind, version or length end their connection alone"""
        for lie in (
            b"\0" * 4096,
            record(22, b"\xff" * 64),
            record(22, b"\x01\xff\xff\xff" + b"x" * 100),
            record(23, b"application data before any handshake"),
            record(20, b"\x01"),
            record(21, b"\x02\x50"),
            record(99, b"x" * 32, version=0xFFFF),
            b"\x16\x03\x01\xff\xff" + b"\x01" * 65_535,
        ):
            with self.subTest(lie=lie[:12]), attack.connect(self.grpc) as client:
                with contextlib.suppress(OSError):
                    client.sendall(lie)
                with contextlib.suppress(OSError):
                    client.shutdown(socket.SHUT_WR)
                said = self.until_closed(client)
                self.assertFalse(said and said[0] != 21, said)

    def test_garbage_after_the_handshake(self):
        """hostile TLS: a client with a certificate that then breaks its records, or HTTP/2, ends its own connection"""
        for lie in (record(23, b"not what the key makes of anything"), record(22, b"\0" * 4)):
            with self.subTest(lie=lie[:5]), attack.connect(self.grpc) as client:
                incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
                tls = self.context(True).wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
                self.shake_hands(tls, incoming, outgoing, client)
                client.sendall(lie)
                self.until_closed(client)
        with self.context(True).wrap_socket(attack.connect(self.grpc), server_hostname="127.0.0.1") as client:
            client.sendall(b"no preface of HTTP/2 at all, but sixty bytes of something else......")
            self.until_closed(client)

    @staticmethod
    def shake_hands(tls, incoming, outgoing, client):
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                client.sendall(outgoing.read())
                incoming.write(client.recv(65_536))
        client.sendall(outgoing.read())

    def handshakes(self, name, address):
        """Of one connection whose client asks for another one three times, or until the server has had enough."""
        command = ["openssl", "s_client", "-connect", address, "-tls1_2", "-alpn", "h2", "-msg"]
        command += ["-cert", self.pem.path("own.pem"), "-key", self.pem.path("own.key")]
        paths = [self.folder / f"{name}.{kind}" for kind in ("messages", "words")]
        with open(paths[0], "wb") as out, open(paths[1], "wb") as err, subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=err) as client:
            processes.wait_for(lambda: "Verify return code" in paths[0].read_text(errors="replace"), 30, "the first handshake")
            for asked in range(1, 4):
                with contextlib.suppress(BrokenPipeError):
                    client.stdin.write(b"R\n")
                    client.stdin.flush()
                processes.wait_for(
                    lambda asked=asked: client.poll() is not None or self.answered(paths, asked), 30, "the server to answer"
                )
            with contextlib.suppress(BrokenPipeError):
                client.stdin.close()
            client.wait(30 * processes.PATIENCE)
        self.assertIn("RENEGOTIATING", paths[1].read_text())
        return paths[0].read_text(errors="replace").count("ServerHello\n")

    @staticmethod
    def answered(paths, asked):
        """Whether the client has asked so often, and each time the server has begun a handshake or sent an alert."""
        messages, words = (path.read_text(errors="replace") for path in paths)
        return words.count("RENEGOTIATING") >= asked and (messages.count("ServerHello\n") > asked or "<<< TLS 1.2, Alert" in messages)

    def test_renegotiation(self):
        """hostile TLS: a client that asks for another handshake on its connection, again and again, gets none"""
        self.assertEqual(self.handshakes("own", self.grpc), 1)
        address = f"127.0.0.1:{processes.free_port()}"
        willing = ["openssl", "s_server", "-accept", address, "-tls1_2", "-client_renegotiation", "-www"]
        willing += ["-cert", self.pem.path("own.pem"), "-key", self.pem.path("own.key")]
        with processes.Process("willing", willing, self.folder) as server:  # So the client does ask.
            server.wait_until(lambda: "ACCEPT" in server.output(), 30, "it to listen")
            self.assertEqual(self.handshakes("willing", address), 4)

    def test_no_certificate(self):
        """hostile TLS: handshakes without a certificate, and with one of a stranger, never come as far as a call"""
        stranger = self.context(False)
        stranger.load_cert_chain(self.pem.path("stranger.pem"), self.pem.path("stranger.key"))
        for context in (self.context(False), stranger):
            received = b""
            with contextlib.suppress(ssl.SSLError, ConnectionError), attack.connect(self.grpc) as plain:
                with context.wrap_socket(plain, server_hostname="127.0.0.1") as client:
                    client.sendall(attack.PREFACE + attack.frame(attack.SETTINGS, 0, 0))
                    received = self.until_closed(client)
            self.assertEqual(received, b"")
