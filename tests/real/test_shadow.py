"""`bloomring shadow` asks the queries of a site of its old store, a real redis-server, and of the service, and compares."""

import contextlib
import json
import random
import socket
import socketserver
import threading
import time

import heavy
import installation
import old_store
import one_broker
import plays
import processes

ALL = "ingest,window,merge,serve"
DAY_MS = 86_400_000
# Of docs/how-to/migrate.md.
MIRROR = (
    "bloomring shadow --config site.yaml --listen 0.0.0.0:7701 --admin 0.0.0.0:9607 --differences differences.jsonl"
)
PAGE = "bloomring shadow --config site.yaml --queries queries.jsonl --differences differences.jsonl --output text"


def query(user, candidates):
    return json.dumps({"user": user, "candidates": candidates})


def words_of(stream):
    """A command of the Redis protocol, as its words; none at the end of the stream."""
    head = stream.readline()
    words = []
    for _ in range(int(head[1:]) if head else 0):
        size = int(stream.readline()[1:])
        words.append(stream.read(size + 2)[:-2].decode())
    return words


class BloomServer(socketserver.ThreadingTCPServer):
    """BF.MEXISTS of the module RedisBloom, which no package has, over exact sets {key: items}. It says of itself that it is
    a primary and no cluster. A context manager that ends with its thread."""

    daemon_threads = True

    def __init__(self, sets):
        super().__init__(("127.0.0.1", 0), None)
        self._sets = sets

    def finish_request(self, request, client_address):
        stream = request.makefile("rb")
        while words := words_of(stream):
            request.sendall(self.answer(words))

    def handle_error(self, request, client_address):
        """The command under test has gone."""

    def answer(self, words):
        if words[0] == "BF.MEXISTS":
            found = self._sets.get(words[1], set())
            return (f"*{len(words) - 2}\r\n" + "".join(f":{int(word in found)}\r\n" for word in words[2:])).encode()
        if words[0] == "ROLE":
            return b"*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n"
        if words[0] == "CLUSTER":
            return b"-ERR This instance has cluster support disabled\r\n"
        return f"-ERR unknown command '{words[0]}'\r\n".encode()

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    @property
    def address(self):
        return f"127.0.0.1:{self.socket.getsockname()[1]}"


class Shadow(one_broker.OneBrokerCase):
    def add(self, store, user, items, time_ms):
        store.add(f"hist:{user}", [(item, time_ms) for item in items])

    def installed(self, stack, name, **migrate):
        """(site, process, ready line) of a running installation."""
        site = installation.Installation(self.folder, self.server.bootstrap, name, migrate=migrate)
        process = stack.enter_context(site.process(ALL))
        return site, process, process.ready_line(60)

    def shadow(self, site, ready, lines, *flags, code=0):
        """The report of a comparison of these queries."""
        command = [plays.binary(), "shadow", "--config", site.path, "--server", ready["grpc"], "--queries", "-"]
        command += ["--settle-seconds", "0.5", "--rate", "10000", *flags]
        ended, out, err = processes.run(command, check=False, stdin="".join(f"{line}\n" for line in lines), bound_s=120)
        self.assertEqual(ended, code, err + out)
        return json.loads(out)

    def played(self, site, process, ready, users=None):
        """Heavy users' plays, merged, about which the service answers completely. A busy machine's first answers may not."""
        played = site.play_heavily(users)
        site.wait_until_merged(process, sum(map(len, played.values())))
        for user, items in played.items():
            plays.complete_answer(ready["grpc"], user, sorted(items)[:1])
        return played

    def both_have(self, stack, name):
        """An installation and an old store that both have the heavy users' plays, merged, with questions about them."""
        store = stack.enter_context(old_store.OldStore(self.folder, name))
        site, process, ready = self.installed(stack, name, addresses=[store.address])
        users = self.played(site, process, ready)
        now_ms = int(time.time() * 1000)
        for user, items in users.items():
            self.add(store, user, sorted(items), now_ms)
        site.wait_until_lap_over(process, ready["admin"])
        return store, site, process, ready, users

    def test_file(self):
        """shadow: two stores with the same heavy users agree; a play that only the old one has is found and named; what is
        forgotten, expired or refused is explained"""
        with contextlib.ExitStack() as stack:
            store, site, process, ready, users = self.both_have(stack, "file")
            self.assertEqual(heavy.check(ready["grpc"], users).wrong(), [])
            asked = [question for user, items in sorted(users.items()) for question in self.questions(user, items)]
            lines = [query(user, items) for user, items in asked]
            report = self.shadow(site, ready, [*lines, "no query", ""])
            self.assertEqual(report["queries"]["compared"], len(asked))
            self.assertEqual(report["queries"]["refused"], 1)
            played = sum(1 for user, items in asked for item in items if item in users[user])
            self.assertEqual(report["candidates"]["seen"], played)
            self.assertEqual(report["candidates"]["compared"], sum(len(items) for _, items in asked))
            self.assertEqual(set(report["explained"]) - {"false_positive"}, set())
            self.assertEqual(report["unexplained"]["missing"], 0)
            for service in ("old", "new"):
                latency = report["latency_ms"][service]
                self.assertGreater(latency["p50"], 0)
                self.assertLessEqual(latency["p50"], latency["p90"])
                self.assertLessEqual(latency["p90"], latency["p99"])
                self.assertLessEqual(latency["p99"], latency["max"])
            self.misses(store, site, ready, lines)
            self.forgets(site, process, ready, users)
            self.assertEqual(process.term(), 0)

    def questions(self, user, items):
        rng = random.Random(user)
        played = sorted(items)
        for size, share in ((100, 1), (10_000, 0.3), (20_000, 0.1), (5_000, 0.5)):
            yield user, heavy.question(user, played, size, share, rng)[0]

    def misses(self, store, site, ready, lines):
        now_ms = int(time.time() * 1000)
        self.add(store, "heavy-5000", ["lost-1", "lost-2"], now_ms)
        self.add(store, "heavy-5000", ["old-1"], now_ms - 400 * DAY_MS)
        self.add(store, "heavy-5000", ["no-time"], 5)
        differences = self.folder / "differences.jsonl"
        more = query("heavy-5000", ["lost-1", "old-1", "no-time", "lost-2", heavy.item("heavy-5000", 7)])
        report = self.shadow(site, ready, [*lines, more], "--differences", differences, code=3)
        self.assertEqual(report["unexplained"]["missing"], 2)
        self.assertEqual(report["explained"]["expired"], 1)
        self.assertEqual(report["refused"], {"time_too_early": 1})
        named = [json.loads(line) for line in differences.read_text().splitlines()]
        self.assertEqual([(one["user"], one["item"]) for one in named], [("heavy-5000", "lost-1"), ("heavy-5000", "lost-2")])
        # Of a set that the site cuts, what only the service has is no accident of a filter.
        store.ask("ZREM", "hist:heavy-20000", heavy.item("heavy-20000", 1))
        cut = self.shadow(site, ready, [query("heavy-20000", [heavy.item("heavy-20000", 1)])], "--cut", "19999")
        self.assertEqual(cut["explained"], {"cut": 1})

    def forgets(self, site, process, ready, users):
        def forget(user, *what):
            processes.run([plays.binary(), "forget", "--server", ready["grpc"], "--user", user, *what])

        def everything_merged():
            found = json.loads(site.command("inspect", "user", "--user", "heavy-20000")[1])
            return found["forgotten"].get("everything_until_ms", 0) > 0

        forget("heavy-5000", heavy.item("heavy-5000", 3))
        forget("heavy-20000", "--everything")
        process.wait_until(everything_merged, 120, "the forget of everything to be merged")
        some = sorted(users["heavy-20000"])[:50]
        lines = [query("heavy-5000", [heavy.item("heavy-5000", 3)]), query("heavy-20000", some)]
        # One of them was taken out of the old set before.
        report = self.shadow(site, ready, lines)
        self.assertEqual(report["explained"], {"forgotten": 50})
        self.assertEqual(report["candidates"]["unseen"], 1)

    def test_mirror(self):
        """shadow: copies of calls are answered at once, compared behind the answer, dropped by count beyond the queue, and
        SIGTERM ends with the report"""
        with contextlib.ExitStack() as stack:
            store, site, process, ready, users = self.both_have(stack, "mirror")
            words = ["--config", site.path, "--server", ready["grpc"], "--settle-seconds", "0.5"]
            words += ["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--rate", "200"]
            shadow = stack.enter_context(processes.Process("shadow", [plays.binary(), "shadow", *words], self.folder))
            at = shadow.ready_line(60)
            items = sorted(users["heavy-5000"])[:200]
            answer = plays.query(at["grpc"], "heavy-5000", items)
            self.assertFalse(answer["complete"])
            self.assertFalse(any(item["seen"] for item in answer["items"]))
            self.wait_for_count(shadow, at, "compared", 1)
            self.add(store, "heavy-5000", ["lost"], int(time.time() * 1000))
            plays.query(at["grpc"], "heavy-5000", ["lost"])
            code = processes.run(
                [plays.binary(), "forget", "--server", at["grpc"], "--user", "heavy-5000", "--everything"], check=False
            )[0]
            self.assertEqual(code, 1)
            self.wait_for_count(shadow, at, "missing", 1, "bloomring_shadow_candidates_total")
            seen = processes.values(processes.metrics(at["admin"]), "bloomring_shadow_candidates_total", result="seen")
            self.assertEqual(seen, [200])
            # More than the queue holds, faster than the rate: what is dropped is counted, and nothing else is lost.
            copies = 3_000
            for _ in range(copies // 200):
                plays.query_batch(at["grpc"], [("heavy-20000", ["none"])] * 200)
            self.wait_for_count(shadow, at, "dropped", 1)
            self.assertEqual(processes.http_get(at["admin"], "/readyz")[0], 200)
            shadow.ask_to_end()
            self.assertEqual(shadow.wait(60), 3, shadow.describe("should have found the lost item"))
            report = json.loads(shadow.output().splitlines()[-1])
            self.assertTrue(report["stopped"])
            self.assertEqual(report["unexplained"]["missing"], 1)
            self.assertGreater(report["queries"]["dropped"], 0)
            self.assertLessEqual(report["queries"]["compared"] + report["queries"]["dropped"], copies + 2)
            self.assertEqual(process.term(), 0)

    def wait_for_count(self, shadow, at, result, least, name="bloomring_shadow_queries_total"):
        def counted():
            return sum(processes.values(processes.metrics(at["admin"]), name, result=result)) >= least

        shadow.wait_until(counted, 60, f"{least} {result}")

    def test_filters(self):
        """shadow: an old store that answers from Bloom filters is asked by BF.MEXISTS; what only it has beyond its error
        rate is a difference"""
        with contextlib.ExitStack() as stack:
            old = {f"bf:{user}": {heavy.item(user, n) for n in range(count)} for user, count in heavy.ONE.items()}
            server = stack.enter_context(BloomServer(old))
            keys = ["bf:{user}"]
            site, process, ready = self.installed(stack, "filters", addresses=[server.address], filter_keys=keys)
            users = self.played(site, process, ready, heavy.ONE)
            lines = [query(user, items) for user, played in users.items() for user, items in self.questions(user, played)]
            report = self.shadow(site, ready, lines, "--old", "filters")
            self.assertEqual(report["unexplained"]["missing"], 0)
            self.assertEqual(report["old_errors"]["found"], 0)
            self.assertGreater(report["candidates"]["seen"], 5_000)
            # 30 of a thousand are more than one of a hundred explains; 5 are not.
            for only_old, code in ((5, 0), (30, 3)):
                user = f"user-{only_old}"
                old[f"bf:{user}"] = {f"only-{n}" for n in range(only_old)}
                line = query(user, [f"only-{n}" for n in range(1_000)])
                plays.complete_answer(ready["grpc"], user, ["only-0"])
                report = self.shadow(site, ready, [line], "--old", "filters", code=code)
                self.assertEqual(report["explained"], {"old_error": only_old})
                self.assertEqual(report["unexplained"]["old_errors_above_rate"], code == 3)
            self.assertEqual(process.term(), 0)

    def test_mistakes(self):
        """shadow: a service, an old store and a file that are not there are said, each with its exit code"""
        with contextlib.ExitStack() as stack:
            store = stack.enter_context(old_store.OldStore(self.folder, "mistakes"))
            site = installation.Installation(
                self.folder, self.server.bootstrap, "mistakes", migrate={"addresses": [store.address]}
            )
            closed = socket.socket()
            closed.bind(("127.0.0.1", 0))  # Nobody listens on it.
            nobody = f"127.0.0.1:{closed.getsockname()[1]}"
            stack.callback(closed.close)
            queries = self.folder / "one"
            queries.write_text(query("u1", ["v1"]) + "\n")
            known = ["shadow", "--queries", queries, "--timeout-ms", "500"]
            for words, said, wanted in (
                ([*known, "--server", nobody], "no query was answered completely", 1),
                ([*known, "--set", f"migrate.addresses={nobody}", "--set", "migrate.timeout_ms=300"], "no query was", 1),
                ([*known, "--set", "migrate.addresses=[]"], "migrate.addresses", 2),
                ([*known, "--old", "filters", "--set", "migrate.filter_keys=bf:{user}"], "no module RedisBloom", 2),
                (["shadow", "--queries", self.folder / "nothing"], "nothing: No such file", 2),
                (["shadow", "--listen", "nowhere"], "nowhere", 2),
            ):
                code, _, err = site.command(*words, check=False)
                self.assertEqual(code, wanted, err)
                self.assertIn(said, err)

    def test_page(self):
        """shadow: what docs/how-to/migrate.md says to type works"""
        with contextlib.ExitStack() as stack:
            store = stack.enter_context(old_store.OldStore(self.folder, "page"))
            grpc = f"127.0.0.1:{processes.free_port()}"
            site = installation.Installation(
                self.folder,
                self.server.bootstrap,
                "page",
                migrate={"addresses": [store.address]},
                serve={"listen": grpc},
            )
            stack.enter_context(site.process(ALL)).ready_line(60)
            plays.complete_answer(grpc, "u1", ["v1"])  # The first answers of a busy machine may lack a source.
            queries = self.folder / "queries.jsonl"
            queries.write_text(query("u1", ["v1", "v2"]) + "\n")
            places = {"bloomring": plays.binary(), "site.yaml": site.path, "queries.jsonl": queries}
            places["differences.jsonl"] = self.folder / "page-differences"
            command = [str(places.get(word, word)) for word in PAGE.split()]
            out = processes.run([*command, "--server", grpc])[1]
            self.assertIn("1 compared", out)
            self.assertIn("missing      0", out)
            places |= {"0.0.0.0:7701": "127.0.0.1:0", "0.0.0.0:9607": "127.0.0.1:0"}
            words = [str(places.get(word, word)) for word in MIRROR.split()]
            shadow = stack.enter_context(processes.Process("mirror", [*words, "--server", grpc], self.folder))
            at = shadow.ready_line(60)
            plays.query(at["grpc"], "u1", ["v1"])
            self.wait_for_count(shadow, at, "compared", 1)
            shadow.ask_to_end()
            self.assertEqual(shadow.wait(60), 0, shadow.describe("should have found no difference"))
