"""A filter store on a server that speaks TLS alone, through the tunnel that docs/operating.md describes."""

import contextlib
import json
import re
import time

import certificates
import chain
import law
import plays
import processes

MANUAL = processes.ROOT / "docs" / "operating.md"
RECIPE = re.compile(r"### TLS to the servers, by stunnel\n.*?```ini\n(?P<file>.*?)```", re.DOTALL)
BOUND_S = 90
FAILED = 1
USERS = 20
SERVERS = 3


def recipe(**values):
    """The file of the manual, with other values."""
    text = RECIPE.search(MANUAL.read_text(encoding="utf-8"))["file"]
    for name, value in values.items():
        text, found = re.subn(rf"^{name} = .*$", f"{name} = {value}", text, flags=re.MULTILINE)
        assert found == 1, f"the recipe of the manual has {name} {found} times"
    return text


class StoreTls(law.LawCase):
    def test_tunnel(self):
        """store over TLS: through the tunnel of the manual a store is filled and read; a server of another authority, or of
        another name, is refused by the tunnel, and bloomring names the tunnel's address"""
        with processes.temp_folder("store-tls") as self.folder, contextlib.ExitStack() as self.stack:
            good, other = certificates.Certificates(self.folder / "good"), certificates.Certificates(self.folder / "other")
            for made in (good, other):
                made.with_authority("DNS:kv-1")
            server = self.start_server(good)
            exported = self.export_a_store()
            tunnel = self.start_tunnel("tunnel", server, good.path("ca.pem"), "kv-1")
            done = self.command("store", "import", "--from", self.folder / "export", "--execute", redis=tunnel)
            self.assertEqual(done["filters"], exported["filters"])
            checked = self.command("store", "check", redis=tunnel)
            self.assertEqual((checked["sound"], checked["filters"]), (True, USERS))

            for name, authority, host in (("authority", other, "kv-1"), ("name", good, "kv-2")):
                with self.subTest(name):
                    refused = self.start_tunnel(name, server, authority.path("ca.pem"), host)
                    code, _, err = self.run_command("store", "check", redis=refused)
                    self.assertEqual(code, FAILED, err)
                    self.assertIn(refused, err)

    def test_cluster(self):
        """store over TLS: a cluster whose servers announce names is filled and read through a tunnel for each, the servers that
        bloomring is not told of included"""
        with processes.temp_folder("store-tls-cluster") as self.folder, contextlib.ExitStack() as self.stack:
            made = certificates.Certificates(self.folder / "made")
            made.with_authority("DNS:kv-1")
            # For names that a hosts file would lead to these addresses of the machine.
            names = {f"127.0.1.{n + 1}": None for n in range(SERVERS)}
            for name in names:
                names[name] = self.start_server(made, f"redis-{name}", announced=name)
            tls = ["--tls", "--cacert", str(made.path("ca.pem")), "--sni", "kv-1"]
            addresses = [f"127.0.0.1:{port}" for port in names.values()]
            processes.run(["redis-cli", *tls, "--cluster", "create", *addresses, "--cluster-yes"], BOUND_S)
            exported = self.export_a_store()
            for name, port in names.items():
                self.start_tunnel(name, port, made.path("ca.pem"), "kv-1", accept=f"{name}:{port}")
            first = next(f"{name}:{port}" for name, port in names.items())

            done = self.command("store", "import", "--from", self.folder / "export", "--execute", redis=first)
            self.assertEqual(done["filters"], exported["filters"])
            checked = self.command("store", "check", redis=first)
            self.assertEqual((checked["sound"], checked["filters"]), (True, USERS))
            for port in names.values():
                keys = processes.run(["redis-cli", "-p", str(port), *tls, "DBSIZE"])[1]
                self.assertGreater(int(keys), 0)

    def start_server(self, made, name="redis", announced=None):
        """A redis-server with TLS and no other port; of a cluster, where it announces a name."""
        port, folder = processes.free_port(), self.folder / name
        folder.mkdir()
        command = ["redis-server", "--port", "0", "--tls-port", str(port), "--bind", "127.0.0.1", "--save", ""]
        command += ["--tls-cert-file", made.path("own.pem"), "--tls-key-file", made.path("own.key")]
        command += ["--tls-ca-cert-file", made.path("ca.pem"), "--tls-auth-clients", "no", "--dir", str(folder)]
        if announced:
            command += ["--cluster-enabled", "yes", "--cluster-port", str(processes.free_port()), "--tls-cluster", "yes"]
            command += ["--cluster-announce-hostname", announced, "--cluster-preferred-endpoint-type", "hostname"]
        self.stack.enter_context(processes.Process(name, command, folder))
        ping = ["redis-cli", "-p", str(port), "--tls", "--cacert", made.path("ca.pem"), "--sni", "kv-1", "PING"]
        processes.wait_for(lambda: processes.run(ping, check=False)[1].strip() == "PONG", BOUND_S, "redis to listen")
        plain = processes.run(["redis-cli", "-p", str(port), "PING"], check=False)
        self.assertNotIn("PONG", plain[1])
        return port

    def start_tunnel(self, name, server, authority, host, accept=None):
        """The address of a stunnel of its own, once it listens."""
        accept, path = accept or f"127.0.0.1:{processes.free_port()}", self.folder / f"{name}.conf"
        path.write_text(recipe(accept=accept, connect=f"127.0.0.1:{server}", CAfile=authority, checkHost=host))
        process = self.stack.enter_context(processes.Process(name, ["stunnel4", path], self.folder))
        process.wait_until(lambda: "Configuration successful" in process.tail(50), BOUND_S, "the tunnel to listen")
        return accept

    def export_a_store(self):
        """Of the embedded store that `bloomring dev` has made: in the folder `export`."""
        now_ms = int(time.time() * 1000)
        lines = [json.dumps({"user": f"u{n}", "item": "v1", "time": now_ms}) for n in range(USERS)]
        (self.folder / "plays.jsonl").write_text("\n".join(lines) + "\n")
        made = [plays.binary(), "dev", "--data", self.folder, "--slot-seconds", "1"]
        processes.run([*made, "--plays", self.folder / "plays.jsonl", "--once"], BOUND_S)
        return self.command("store", "export", "--to", self.folder / "export")

    def run_command(self, *words, redis=None):
        path = chain.write_config(self.folder, "127.0.0.1:1", "tools", {"ring.slot_seconds": 1})
        flags = ["--config", path, "--output", "json"]
        if redis is not None:
            flags += ["--set", "store.kind=redis", "--set", f"store.redis.addresses={redis}"]
        return processes.run([plays.binary(), *words, *flags], BOUND_S, check=False)

    def command(self, *words, redis=None):
        code, out, err = self.run_command(*words, redis=redis)
        self.assertEqual(code, 0, err)
        return json.loads(out)
