"""`bloomring bundle`: everything for a bug report about a running process, and nothing of its users or secrets."""

import json
import stat
import tarfile
import time

import installation
import one_broker
import processes

PASSWORD = "hunter2-of-the-brokers"
TOKEN = "a-token-that-nobody-knows"
PERSON = "person-4711"
ITEM = "item-they-watched"
ALWAYS = ["README.txt", "configuration.yaml", "configuration.txt", "versions.json", "topology.json"]
PAGES = ["process.json", "status.json", "readyz.json", "healthz.json", "log_level.json", "metrics.txt"]


def read(path):
    """{name: text} of a bundle."""
    with tarfile.open(path) as tar:
        return {member.name: tar.extractfile(member).read().decode() for member in tar.getmembers()}


class Bundle(one_broker.OneBrokerCase):
    def site(self, name):
        token = self.folder / f"token-{name}"
        token.write_text(TOKEN + "\n")
        token.chmod(0o600)
        site = installation.Installation(self.folder, self.server.bootstrap, name, admin={"token_file": str(token)})
        settings = json.loads(site.path.read_text())
        settings["kafka"]["properties"]["sasl.password"] = PASSWORD  # Unused without SASL.
        site.path.write_text(json.dumps(settings))
        site.path.chmod(0o600)
        return site

    def play(self, site, run, ready):
        play = json.dumps({"user": PERSON, "item": ITEM, "time": int(time.time() * 1000)})
        processes.kcat_produce(self.server.bootstrap, f"plays-{site.name}", [play])
        site.wait_until_answered(run, ready["grpc"], [ITEM], ["recent", "filter"], user=PERSON)

    def test_whole(self):
        """bundle: it has configuration, versions, topology and the pages of a running process, and no id, password or token"""
        site = self.site("whole")
        with site.process("ingest,window,merge,serve") as run:
            ready = run.ready_line(90)
            self.play(site, run, ready)
            path = self.folder / "whole.tar"
            told = json.loads(site.command("bundle", "--admin", ready["admin"], "--to", path)[1])
            self.assertEqual((told["file"], told["complete"], told["parts"]), (str(path), True, ALWAYS + PAGES))
            parts = read(path)
            self.assertEqual(list(parts), told["parts"])
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
            for name in (name for name in parts if name.endswith(".json")):
                json.loads(parts[name])
            self.assertIn('sasl.password: "***"', parts["configuration.yaml"])
            self.assertIn("topics:\n", parts["configuration.yaml"])
            self.assertIn("bloomring_build_info{", parts["metrics.txt"])
            self.assertEqual(json.loads(parts["process.json"])["instance"], "ingest-window-merge-serve")
            self.assertTrue(json.loads(parts["readyz.json"])["ready"])
            bytes_ = path.read_bytes()
            for hidden in (PASSWORD, TOKEN, PERSON, ITEM):
                self.assertNotIn(hidden.encode(), bytes_, hidden)
            code, _, err = site.command("bundle", "--admin", ready["admin"], "--to", path, check=False)
            self.assertEqual(code, 2)
            self.assertIn(f"{path} cannot be written: File exists", err)
            self.assertEqual(run.term(), 0)

    def test_nobody(self):
        """bundle: without a process that answers, and with a configuration that has faults, it has the rest and names what it lacks"""
        site = self.site("nobody")
        path = self.folder / "nobody.tar"
        nobody = f"127.0.0.1:{processes.free_port()}"
        code, out, err = site.command("bundle", "--admin", nobody, "--to", path, check=False)
        self.assertEqual(code, 1)
        self.assertIn(f"metrics.txt: {nobody}/metrics ", err)
        self.assertFalse(json.loads(out)["complete"])
        parts = read(path)
        self.assertEqual(list(parts), [*ALWAYS, "missing.txt"])
        self.assertEqual([line.split(":")[0] for line in parts["missing.txt"].splitlines()], PAGES)

        settings = json.loads(site.path.read_text())
        settings["ring"]["slots"] = 1
        site.path.write_text(json.dumps(settings))
        path = self.folder / "faults.tar"
        code, out, _ = site.command("bundle", "--to", path, check=False)
        self.assertEqual(code, 1)
        parts = read(path)
        self.assertIn("ring.slots is 1; it must be an integer in [3, 64]", parts["configuration.txt"])
        self.assertNotIn(PASSWORD.encode(), path.read_bytes())
