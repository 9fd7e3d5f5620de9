"""Whatever keeps a process from starting is one last line with key, value, reason and way out; never a signal, never
silence. `check` finds the same."""

import contextlib
import socket

import certificates
import chain
import installation
import one_broker
import plays
import processes
from test_check import web_server

WRONG = 2  # the configuration or the set-up
FAILED = 1  # something outside
BOUND_S = 90
WAIT_S = 1  # process.start_seconds
ANSWERED_S = 4  # The same, where somebody has to answer: on a busy machine that may take more than an attempt.
ALL = "ingest,window,merge,serve"


@contextlib.contextmanager
def taken_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


class StartFailures(one_broker.OneBrokerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.site = installation.Installation(cls.folder, cls.server.bootstrap, "starts")
        cls.files = certificates.Certificates(cls.folder / "pem")
        for name in ("server", "other"):
            cls.files.self_signed(name)
        cls.files.expired("old")
        (cls.folder / "garbage.pem").write_text("garbage\n")
        (cls.folder / "file").write_text("")

    def tls(self, certificate, key, **more):
        keys = {"serve.tls_certificate": self.path(certificate), "serve.tls_key": self.path(key)}
        return keys | {f"serve.{name}": self.path(file) for name, file in more.items()}

    def path(self, name):
        return str(self.folder / name) if name == "garbage.pem" else self.files.path(name)

    def cases(self, port, web_port):
        """Name: (settings, the stage that cannot start, the exit code, the last line, whether check finds it)."""
        file = str(self.folder / "file")
        server = self.tls("server.pem", "server.key")
        nobody = f"127.0.0.1:{processes.free_port()}"
        wait, answered = ({"process.start_seconds": seconds} for seconds in (WAIT_S, ANSWERED_S))
        in_vain = r"waited \d+ s in vain for "
        return {
            "the gRPC port is taken": (
                {"serve.listen": port},
                "serve",
                WRONG,
                rf"serve\.listen is {port}: the port is taken by another process; end that one, or set serve\.listen",
                True,
            ),
            "the admin port is taken": (
                {"admin.listen": port},
                "ingest",
                WRONG,
                rf"admin\.listen is {port}: the port is taken by another process; end that one, or set admin\.listen",
                True,
            ),
            "both ports are the same": (
                dict.fromkeys(("admin.listen", "serve.listen"), nobody),
                "serve",
                WRONG,
                rf"serve\.listen is {nobody}: admin\.listen is the same; give each a port of its own",
                True,
            ),
            "an address of another machine": (
                {"admin.listen": "192.0.2.1:9600"},
                "ingest",
                WRONG,
                r"admin\.listen is 192\.0\.2\.1:9600: nothing can listen there: Cannot assign requested address; name",
                True,
            ),
            "no certificate": (
                self.tls("nowhere.pem", "server.key"),
                "serve",
                WRONG,
                r"serve\.tls_certificate is \S+/nowhere\.pem: it cannot be read: No such file or directory; name",
                True,
            ),
            "no key": (
                self.tls("server.pem", "nowhere.key"),
                "serve",
                WRONG,
                r"serve\.tls_key is \S+/nowhere\.key: it cannot be read: No such file or directory; name",
                True,
            ),
            "a certificate of garbage": (
                self.tls("garbage.pem", "server.key"),
                "serve",
                WRONG,
                r"serve\.tls_certificate is \S+/garbage\.pem: it holds no certificate; name a PEM file",
                True,
            ),
            "a key of another certificate": (
                self.tls("server.pem", "other.key"),
                "serve",
                WRONG,
                r"serve\.tls_key is \S+/other\.key: it is not the key of the certificate in \S+/server\.pem; name",
                True,
            ),
            "an expired certificate": (
                self.tls("old.pem", "old.key"),
                "serve",
                WRONG,
                r"serve\.tls_certificate is \S+/old\.pem: its certificate \(old\) has expired on 2020-01-02 .*; renew",
                True,
            ),
            "no authority for clients": (
                server | {"serve.tls_client_ca": self.path("nowhere.pem")},
                "serve",
                WRONG,
                r"serve\.tls_client_ca is \S+/nowhere\.pem: it cannot be read: No such file or directory; name",
                True,
            ),
            "an authority for replicas of garbage": (
                server | {"serve.tls_peer_ca": self.path("garbage.pem")},
                "serve",
                WRONG,
                r"serve\.tls_peer_ca is \S+/garbage\.pem: it holds no certificate; name",
                True,
            ),
            "a store in a file": (
                {"store.path": f"{file}/store"},
                "merge",
                WRONG,
                rf"store\.path is {file}/store: {file} is no folder; name a folder that this user may make and write",
                True,
            ),
            "a store that is a file": (
                {"store.path": file},
                "window",
                WRONG,
                rf"store\.path is {file}: (it|{file}) is no folder; name",
                True,
            ),
            "a store where nothing can be written": (
                {"store.path": "/proc/bloomring"},
                "merge",
                WRONG,
                r"store\.path is /proc/bloomring: the folder cannot be made: .+; name a folder",
                True,
            ),
            "state in a file": (
                {"state.path": f"{file}/state"},
                "window",
                WRONG,
                rf"state\.path is {file}/state: {file} is no folder; name a folder that this user may make",
                True,
            ),
            "no broker": (
                wait | {"kafka.bootstrap": nobody},
                "ingest",
                FAILED,
                rf"{in_vain}brokers and topics: kafka\.bootstrap is {nobody}: no broker answered at .*\(process\.start",
                True,
            ),
            "a web server for a broker": (
                answered | {"kafka.bootstrap": f"127.0.0.1:{web_port}"},
                "ingest",
                FAILED,
                rf"{in_vain}brokers and topics: kafka\.bootstrap is 127\.0\.0\.1:{web_port}: .* speaks HTTP, and belongs to no",
                True,
            ),
            "no authorities for brokers": (
                {"kafka.properties": '{"security.protocol": "ssl", "ssl.ca.location": "/nonexistent/ca.pem"}'},
                "ingest",
                WRONG,
                r"ssl\.ca\.location is /nonexistent/ca\.pem: it cannot be read: No such file or directory; name a file",
                True,
            ),
            "a topic that is missing": (
                answered | {"topics.user_batches": "nowhere"},
                "ingest",
                FAILED,
                rf"{in_vain}brokers and topics: topic nowhere does not exist.*`bloomring topics --execute` creates it",
                True,
            ),
            "plays that are missing": (
                answered | {"topics.plays": "no-plays"},
                "ingest",
                FAILED,
                rf"{in_vain}brokers and topics: --set topics\.plays: topics\.plays is no-plays: no such topic .*"
                r"; name one that exists.*, or make it with `bloomring topics --execute --create-plays`",
                True,
            ),
            "another number of partitions": (
                {"topics.partitions": chain.PARTITIONS * 2},
                "ingest",
                WRONG,
                rf"topic events-starts has {chain.PARTITIONS} partitions, the configuration says",
                True,
            ),
        }

    def end_of(self, words, settings):
        """(exit code, standard error) of a command that ends by itself."""
        changes = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        code, _, err = processes.run(
            [plays.binary(), *words, "--config", self.site.path, *changes], BOUND_S, check=False
        )
        return code, err

    def last_line(self, err):
        lines = err.splitlines()
        self.assertTrue(lines, "it ended without a word")
        self.assertTrue(lines[-1].startswith("bloomring: "), err)
        return lines[-1]

    def test_run(self):
        """run: each way in which a start fails ends with its code and one last line, all stages and one alone"""
        with taken_port() as port, web_server() as web_port:
            for name, (settings, stage, code, line, _) in self.cases(port, web_port).items():
                for stages in (ALL, stage):
                    with self.subTest(name, stages=stages):
                        ended, err = self.end_of(["run", "--stages", stages], settings)
                        self.assertEqual(ended, code, err)
                        self.assertRegex(self.last_line(err), line)

    def test_check(self):
        """check: what keeps a start from succeeding is found before, with the same code"""
        with taken_port() as port, web_server() as web_port:
            for name, (settings, stage, code, line, found) in self.cases(port, web_port).items():
                if not found:
                    continue
                with self.subTest(name):
                    ended, err = self.end_of(["check"], settings | {"stages": stage})
                    self.assertNotEqual(ended, 0, err)
                    if code == WRONG:
                        self.assertEqual(ended, WRONG, err)
                        expected = r"topic events-starts: has 10 partitions" if "partitions" in settings else line
                        if "another number" not in name:
                            self.assertRegex(err, expected)

    def test_check_beside(self):
        """check: a port that this installation itself holds is a warning, one that a stranger holds an error"""
        admin, grpc = (f"127.0.0.1:{processes.free_port()}" for _ in range(2))
        ports = ["--set", f"admin.listen={admin}", "--set", f"serve.listen={grpc}"]
        check = [plays.binary(), "check", "--config", self.site.path, "--output", "text"]
        run = self.site.process(ALL)
        run.command += ports
        with run, taken_port() as stranger:
            run.ready_line(90)
            _, out, err = processes.run([*check, *ports], BOUND_S)
            self.assertEqual(err, "")
            held = r"the port is held by a running process of this configuration \(instance \S+, stages ingest,window,"
            self.assertRegex(out, rf"warning: admin\.listen is {admin}: {held}")
            self.assertRegex(out, rf"warning: serve\.listen is {grpc}: {held}")
            nobody = ["--set", "kafka.bootstrap=127.0.0.1:1"]
            code, out, err = processes.run([*check, *ports, *nobody], BOUND_S, check=False)
            self.assertEqual(code, FAILED, err)
            self.assertNotIn("taken by another process", err)
            other = rf"the port is held .*, with kafka\.bootstrap {self.server.bootstrap}\)"
            self.assertRegex(out, rf"admin\.listen is {admin}: {other}")
            elsewhere = [*ports[:-1], f"serve.listen={grpc}", "--set", "admin.listen=127.0.0.1:0"]
            _, out, err = processes.run([*check, *elsewhere], BOUND_S)
            self.assertRegex(out, rf"warning: serve\.listen is {grpc}: the port is held by a running bloomring service")
            other = [*ports, "--set", "kafka.group_prefix=another", "--set", f"serve.listen={stranger}"]
            code, _, err = processes.run([*check, *other], BOUND_S, check=False)
            self.assertEqual(code, WRONG)
            for key, port in (("admin.listen", admin), ("serve.listen", stranger)):
                self.assertRegex(err, rf"{key} is {port}: the port is taken by another process; end that one, or set")
            self.assertEqual(run.term(), 0)

    def test_second_merge(self):
        """run: a second merge process of a store is refused, and the first one runs on"""
        with self.site.process("merge") as first:
            first.ready_line(60)
            code, err = self.end_of(["run", "--stages", "merge"], {"instance": "second"})
            self.assertEqual(code, WRONG, err)
            self.assertRegex(self.last_line(err), r"in use by another process: run one merge process")
            self.assertTrue(first.running())
            self.assertEqual(first.term(), 0)
