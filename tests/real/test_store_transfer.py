"""A filter store moves to servers of the Redis protocol and back, by files, while the log goes on."""

import contextlib
import json
import signal

import heavy
import installation
import one_broker
import plays
import processes

SEEN = ["recent", "filter"]
# From too few to begin an import to enough for all of it.
MORE_BYTES = range(300_000, 3_000_000, 100_000)
STAGES = ("merge", "window", "serve", "ingest")


class StoreTransfer(one_broker.OneBrokerCase):
    def test_there_and_back(self):
        """store export, import: from the embedded store to a Redis server and back, every played item is seen: those from
        before the export, by heavy users too, and those that were merged during or after it"""
        site = installation.Installation(self.folder, self.server.bootstrap, "transfer")
        with contextlib.ExitStack() as stack:
            redis = self.start_redis(stack)
            running = {stage: stack.enter_context(site.process(stage)) for stage in STAGES}
            ready = {stage: process.ready_line(60) for stage, process in running.items()}
            oracle = site.play_heavily()
            site.play(["a", "b"])
            site.wait_until_answered(running["serve"], ready["serve"]["grpc"], ["a", "b"], ["filter"])
            site.wait_until_merged(running["merge"], 25_000 + 60)

            # The processes run on; what they merge now is in the export, or above its watermarks in the log.
            there = self.folder / "there"
            code, _, err = site.command("store", "import", "--from", there, check=False)
            self.assertEqual((code, "cannot be opened" in err), (2, True), err)
            exported = json.loads(site.command("store", "export", "--to", there)[1])
            self.assertEqual(exported["damaged"], 0)
            self.assertGreaterEqual(exported["filters"], 32)
            site.play(["c"])
            site.wait_until_answered(running["serve"], ready["serve"]["grpc"], ["c"], ["filter"])
            self.assertEqual({process.term() for process in running.values()}, {0})

            embedded = site.path.read_text()
            self.use_redis(site, redis)
            plan = json.loads(site.command("store", "import", "--from", there)[1])
            self.assertEqual((plan["executed"], plan["filters"]), (False, exported["filters"]))
            self.assertEqual(processes.run(["redis-cli", "-p", redis, "DBSIZE"])[1].strip(), "0")
            self.refuse_eviction(site, redis)
            self.stop_an_import(site, there, redis)
            self.kill_an_import(site, there, redis)
            done = json.loads(site.command("store", "import", "--from", there, "--execute")[1])
            self.assertEqual(done["filters"], exported["filters"])
            again = site.command("store", "import", "--from", there, "--execute", check=False)
            self.assertEqual(again[0], 2)
            self.assertIn("already: name an empty store", again[2])

            grpc = self.start_again(running)
            site.wait_until_answered(running["serve"], grpc, ["a", "b", "c"], SEEN)
            site.play(["d"])
            site.wait_until_answered(running["serve"], grpc, ["a", "b", "c", "d"], ["filter"])
            self.assertEqual(heavy.check(grpc, oracle | {"u7": {"a", "b", "c", "d"}}).wrong(), [])
            self.assertEqual({process.term() for process in running.values()}, {0})

            back, third = self.folder / "back", self.folder / "third"
            moved = json.loads(site.command("store", "export", "--to", back)[1])
            (site.folder / "store").rename(site.folder / "store-before")
            site.path.write_text(embedded)
            site.command("store", "import", "--from", back, "--execute")
            self.assertTrue(json.loads(site.command("store", "check")[1])["sound"])
            same = json.loads(site.command("store", "export", "--to", third)[1])
            self.assertEqual((same["filters"], same["merged_below"]), (moved["filters"], moved["merged_below"]))
            self.assertEqual(values_of(third), values_of(back))
            grpc = self.start_again(running)
            site.wait_until_answered(running["serve"], grpc, ["a", "b", "c", "d"], SEEN)
            self.assertEqual(heavy.check(grpc, oracle | {"u7": {"a", "b", "c", "d"}}, SEEN).wrong(), [])

    def start_redis(self, stack):
        port, folder = str(processes.free_port()), self.folder / "redis"
        folder.mkdir()
        command = ["redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
        stack.enter_context(processes.Process("redis", command, folder))
        ping = ["redis-cli", "-p", port, "PING"]
        processes.wait_for(lambda: processes.run(ping, check=False)[1].strip() == "PONG", 60, "redis-server to listen")
        return port

    def use_redis(self, site, port):
        settings = json.loads(site.path.read_text())
        store = {"kind": "redis", "redis": {"addresses": [f"127.0.0.1:{port}"]}}
        settings["store"] = settings.get("store", {}) | store
        site.path.write_text(json.dumps(settings))

    def stop_an_import(self, site, folder, redis):
        """The server is full in the middle of an import: until the same import has ended, a stage refuses the store."""
        cli = ["redis-cli", "-p", redis]
        memory = dict(line.split(":", 1) for line in processes.run([*cli, "INFO", "memory"])[1].split() if ":" in line)
        for more in MORE_BYTES:
            processes.run([*cli, "CONFIG", "SET", "maxmemory", str(int(memory["used_memory"]) + more)])
            code, _, err = site.command("store", "import", "--from", folder, "--execute", check=False)
            self.assertEqual(code, 1, err)
            self.assertIn("OOM", err)
            if processes.run([*cli, "GETRANGE", "bloomring:{m}m", "0", "0"])[1].startswith("\x03"):
                break
        else:
            self.fail("no import has begun before the server was full")
        processes.run([*cli, "CONFIG", "SET", "maxmemory", "0"])
        code, _, err = site.command("run", "--stages", "merge", check=False)
        self.assertEqual(code, 2, err)
        self.assertIn("an import into the store has not ended", err)

    def refuse_eviction(self, site, redis):
        """A server that evicts: check and a merge process refuse it with exit code 2 and the remedy."""
        set_to = ["redis-cli", "-p", redis, "CONFIG", "SET"]
        processes.run([*set_to, "maxmemory", "1gb"])
        processes.run([*set_to, "maxmemory-policy", "allkeys-lru"])
        for command in (["check"], ["run", "--stages", "merge"]):
            code, _, err = site.command(*command, check=False)
            self.assertEqual(code, 2, err)
            self.assertIn(f"127.0.0.1:{redis} removes filters when it is full", err)
            self.assertIn("set maxmemory-policy noeviction", err)
        processes.run([*set_to, "maxmemory-policy", "noeviction"])
        processes.run([*set_to, "maxmemory", "0"])
        code, out, err = site.command("check", check=False)
        self.assertNotIn("removes filters", err)
        self.assertIn("writes nothing to a disk", out, f"exit code {code}")

    def kill_an_import(self, site, folder, redis):
        """kill -9 in the middle of an import that is paced: filters are missing, and a stage refuses the store."""

        def keys():
            return int(processes.run(["redis-cli", "-p", redis, "DBSIZE"])[1])

        before = keys()
        command = [plays.binary(), "store", "import", "--from", folder, "--execute", "--config", site.path]
        command += ["--set", "store.write_bytes_per_second=2000"]
        with processes.Process("import", command, self.folder) as paced:
            paced.wait_until(lambda: keys() > before, 60, "the first filters to be imported")
            self.assertTrue(paced.running())
            paced.kill9()
            self.assertEqual(paced.exit_code(), -signal.SIGKILL)
        code, _, err = site.command("run", "--stages", "merge", check=False)
        self.assertEqual(code, 2, err)
        self.assertIn("an import into the store has not ended", err)

    def start_again(self, running):
        for stage in STAGES:
            running[stage].start()
        return {stage: running[stage].ready_line(60) for stage in STAGES}["serve"]["grpc"]


def values_of(folder):
    """{key: value} of the files, which docs/formats.md describes."""
    found = {}
    for path in sorted(folder.glob("values-*.brx")):
        body, at = path.read_bytes()[:-8], 14
        while at < len(body):
            key, at = length_prefixed(body, at)
            found[key], at = length_prefixed(body, at)
    return found


def length_prefixed(body, at):
    size = shift = 0
    while True:
        size |= (body[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if body[at - 1] < 0x80:
            return body[at : at + size], at + size
