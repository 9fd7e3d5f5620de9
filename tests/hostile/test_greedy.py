"""A client that asks without end, over many connections and for much at once, and one that asks little.

The greedy client comes from another address of this machine than the modest one, so they are two callers.
"""

import contextlib
import json
import pathlib
import resource
import statistics
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))

import attack  # noqa: E402

import law  # noqa: E402
import plays  # noqa: E402
import processes  # noqa: E402

PYTHON = "/usr/bin/python3"  # Debian's, which has python3-grpcio
MODEST = pathlib.Path(__file__).with_name("modest.py")
GREEDY_ADDRESS = "127.0.0.2"
CONNECTIONS = 128  # Each has one call at a time. The service answers 1,024 users at once: 5 of these batches.
USERS, IDS = 200, 16  # Of a batch: the most users that one may have, in less than a window of HTTP/2.
QUESTIONS = 20
LIMIT = "512MiB"  # Of the process.
WAIT_MS = 5_000  # The longest that can be configured: what counts here is the order, not the time.


class Flood:
    """Batches about users that nobody knows, over so many connections, each without a pause; a context manager."""

    def __init__(self, address, source):
        self.address, self.source = address, source
        self.threads = [threading.Thread(target=self._ask, args=(number,)) for number in range(CONNECTIONS)]
        self.stop = threading.Event()

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join()

    def _ask(self, number):
        names = [f"{number:03}-CALL-{user:03}" for user in range(USERS)]
        body, calls = attack.batch(names, IDS), 0
        while not self.stop.is_set():
            with contextlib.suppress(OSError), attack.Http2(self.address, source=self.source) as client:
                client.settle()
                while not self.stop.is_set() and not client.closed:
                    calls += 1  # Other users each time, so that no cache has them.
                    client.call("FilterBatch", body.replace(b"CALL", b"%04d" % (calls % 10_000)))


class Unread:
    """Answers that their client never reads: on each connection so many calls whose answers may send no byte."""

    CALLS, CONNECTIONS_MAX = 50, 100
    IDS = 4_000

    def __init__(self, address, source):
        self.address, self.source = address, source
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stack.close()

    def begin(self, held_up):
        """Begins more and more of them until some are held up."""
        body = attack.message(attack.question("greedy", self.IDS))
        for _ in range(self.CONNECTIONS_MAX):
            client = self.stack.enter_context(attack.Http2(self.address, window=0, source=self.source))
            client.settle()
            for _ in range(self.CALLS):
                client.send_body(client.begin("Filter"), body)
            if held_up():
                return
        raise AssertionError("the service had room for all of them")


class Greedy(law.LawCase):
    @contextlib.contextmanager
    def service(self, files=None):
        """Yields its addresses, and what tells how many calls wait for room. files: that it may have open at most."""
        with processes.temp_folder("greedy") as folder:
            command = [] if files is None else ["prlimit", f"--nofile={files}:{files}"]
            command += [plays.binary(), "dev", "--data", folder / "data", "--set", f"serve.wait_ms={WAIT_MS}"]
            command += ["--set", f"memory.limit={LIMIT}"]
            with processes.Process("dev", command, folder) as dev:
                ready = dev.ready_line(60)
                admin = ready["admin"]

                def waiting():
                    return processes.values(processes.metrics(admin), "bloomring_calls_waiting")[0]

                yield ready["grpc"], admin, waiting
                self.assertTrue(dev.running(), dev.describe("still runs"))

    def ask(self, grpc, admin):
        """The outcome of each question of the modest client."""
        _, out, _ = processes.run([PYTHON, MODEST, grpc, admin, str(QUESTIONS)], bound_s=300)
        asked = json.loads(out)
        self.assertEqual({one["end"] for one in asked}, {"OK"}, asked)
        return asked

    def test_turns(self):
        """hostile: while a greedy client floods the service over 128 connections, a modest one has its turn"""
        with self.service() as (grpc, admin, waiting), Flood(grpc, GREEDY_ADDRESS):
            processes.wait_for(lambda: waiting() > CONNECTIONS / 2, 60, "the greedy client's calls to wait for room")
            asked = self.ask(grpc, admin)
        before = statistics.median(one["waiting"] for one in asked)
        self.assertGreater(before, CONNECTIONS / 2, asked)  # There was a flood.
        # First come, first served would answer all that wait before the modest client's question.
        self.assertLess(statistics.median(one["batches"] for one in asked), before / 4, asked)

    def test_connections(self):
        """hostile: while a greedy client holds every connection, a modest one is answered"""
        self.hold_connections("memory")

    def test_descriptors(self):
        """hostile: while a greedy client holds every descriptor for connections, a modest one is answered"""
        self.hold_connections("descriptors", files=512)

    def hold_connections(self, bound, files=None):
        """Holds connections until this bound is reached, and asks as a modest client."""
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        with self.service(files) as (grpc, admin, _), contextlib.ExitStack() as stack:

            def refused():
                return processes.values(processes.metrics(admin), "bloomring_connections_refused_total", cause=bound)[0]

            def more():
                """Clients of HTTP/2 that say nothing more, each with a call that never ends: no idle connection."""
                for _ in range(500):
                    with contextlib.suppress(OSError):
                        client = stack.enter_context(attack.Http2(grpc, source=GREEDY_ADDRESS))
                        client.begin("Filter")
                return refused() > 0

            processes.wait_for(more, 120, "the greedy client to be refused")
            self.ask(grpc, admin)
            self.assertGreater(processes.values(processes.metrics(admin), "bloomring_connections_ended_total")[0], 0)

    def test_unread(self):
        """hostile: answers that a greedy client never reads keep the memory for requests from no other client"""
        with self.service() as (grpc, admin, waiting), Unread(grpc, GREEDY_ADDRESS) as unread:
            unread.begin(lambda: waiting() > 0)
            with Flood(grpc, GREEDY_ADDRESS):  # Its calls want that memory, too.
                self.ask(grpc, admin)
