"""Two replicas of every partition, one of them killed under a load of questions."""

import contextlib
import itertools
import json
import pathlib
import subprocess
import threading
import time

import chain
import kafka_server
import law
import plays
import processes
import replicas
from replicas import BOTH

USERS = 40
PLAYED = 50  # Items of each user but the heavy one, and as many that nobody played.
HEAVY_USER, HEAVY_PLAYED = 7, 5_000
CLIENTS = 4
DEADLINE_MS = 10_000  # Of a busy machine: who is killed answers with a reset, not with silence.
ANSWERS_BETWEEN_KILLS = 40  # Of each client.
QUIET_BOUND_S = 90
NOTICED_S = 3  # Until a client has heard that the connection is gone, on a busy machine.


def connections(address):
    """How many connections a listening port has."""
    port = f":{int(address.rsplit(':', 1)[1]):04X}"
    found = 0
    for table in ("tcp", "tcp6"):
        for line in pathlib.Path("/proc/net", table).read_text(encoding="ascii").splitlines()[1:]:
            local, _, state = line.split()[1:4]
            found += local.endswith(port) and state == "01"  # Established.
    return found


def played(user):
    return [f"i{n}" for n in range(HEAVY_PLAYED if user == HEAVY_USER else PLAYED)]


class Client:
    """One `bloomring query --batch` over one channel to both replicas, with one call in flight at any moment; a context
    manager. The main thread reads `answers` and `errors` as they grow."""

    def __init__(self, addresses, folder, name):
        self.answers = 0
        self.errors = []  # (asked at, answered at, what).
        self.wrong = []
        self.incomplete = 0
        self._positives = {}  # User: items that nobody played and that were seen. The same are asked again and again.
        self._expected = {}  # User: how many of them there may be, by the answers.
        self._command = [
            plays.binary(),
            "query",
            "--server",
            "ipv4:" + ",".join(addresses),
            "--batch",
            "--timeout-ms",
            str(DEADLINE_MS),
        ]
        self._log = folder / f"{name}.err"
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def _run(self):
        try:
            with (
                open(self._log, "wb") as log,
                subprocess.Popen(
                    self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
                ) as child,
            ):
                with contextlib.closing(child.stdin):
                    for user in itertools.cycle(range(USERS)):
                        if self._stop.is_set():
                            break
                        self._ask(child, user)
        except Exception as failure:  # noqa: BLE001  A client that does not ask any more has proved nothing.
            self.wrong.append(f"asking ended: {failure!r}")

    def _ask(self, child, user):
        known = played(user)
        items = known + [f"never-{n}" for n in range(PLAYED)]
        asked_at = time.monotonic()
        child.stdin.write(json.dumps({"user": f"u{user}", "items": items}) + "\n")
        child.stdin.flush()
        answer = json.loads(child.stdout.readline())
        if "error" in answer:
            self.errors.append((asked_at, time.monotonic(), answer["error"]))
            return
        seen = [verdict["seen"] for verdict in answer["items"]]
        self.incomplete += not answer["complete"]  # A busy machine; the answer says so, and what it says is checked.
        positives = self._positives.setdefault(user, set())
        positives.update(verdict["item"] for verdict in answer["items"][len(known) :] if verdict["seen"])
        self._expected[user] = max(self._expected.get(user, 0), plays.expected_false_positives(answer, PLAYED))
        too_many = sum(map(len, self._positives.values())) > plays.false_positives_max(sum(self._expected.values()))
        if too_many or (answer["complete"] and not all(seen[: len(known)])):
            self.wrong.append({"seen": sum(seen)} | {key: answer.get(key) for key in ("user", "complete", "gaps")})
        self.answers += 1

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join(30)


class ReplicaKilled(law.LawCase):
    def test_killed_under_load(self):
        """replicas: one of two is killed under load: no wrong answer about any user, no error but of calls in flight; it is used again"""
        with processes.temp_folder("replicas") as folder, kafka_server.KafkaServer("4.1.0", folder / "kafka") as server:
            # Clients keep the addresses that they were given, so both replicas come back at theirs.
            addresses = [f"127.0.0.1:{processes.free_port()}" for _ in BOTH]
            settings = replicas.settings(ring__slot_seconds=2)
            for name, address in zip(BOTH, addresses, strict=True):
                settings[name]["serve.listen"] = address
            run = chain.Chain(folder, server.bootstrap, replicas.INSTANCES, settings)
            run.make_topics()
            with run:
                run.produce([replicas.event("play", f"u{u}", item) for u in range(USERS) for item in played(u)])
                self.wait_until_fresh(addresses)
                with contextlib.ExitStack() as stack:
                    clients = [stack.enter_context(Client(addresses, folder, f"client-{n}")) for n in range(CLIENTS)]
                    self.more_answers(clients)
                    self.assertEqual([client.errors for client in clients], [[]] * CLIENTS)
                    # The second kill can only be survived by clients that have taken the first replica up again.
                    for instance in BOTH:
                        self.killed(run, instance, clients)
                self.assertEqual([client.wrong for client in clients], [[]] * CLIENTS)
                for client in clients:
                    self.assertLess(client.incomplete, client.answers / 2)
                self.assertEqual(set(run.stop().values()), {0})

    def wait_until_fresh(self, addresses):
        def fresh():
            questions = [(f"u{u}", played(u)) for u in range(USERS)]
            answers = [answer for address in addresses for answer in plays.query_batch(address, questions)]
            return all(answer["complete"] and all(item["seen"] for item in answer["items"]) for answer in answers)

        processes.wait_for(fresh, replicas.FRESH_BOUND_S, "every play is seen by both replicas")

    def more_answers(self, clients):
        """Until each client has got some more answers."""
        enough = [client.answers + ANSWERS_BETWEEN_KILLS for client in clients]

        def answered():
            return all(client.wrong or client.answers >= bound for client, bound in zip(clients, enough, strict=True))

        processes.wait_for(
            answered, QUIET_BOUND_S, lambda: f"answers {[client.answers for client in clients]} reach {enough}"
        )
        self.assertEqual([client.wrong for client in clients], [[]] * CLIENTS)

    def killed(self, run, instance, clients):
        """kill -9 and, after more questions that the other replica answers, a start."""
        before = [len(client.errors) for client in clients]
        killed_at = run.kill9(instance)
        self.more_answers(clients)
        run.start(instance)
        processes.wait_for(
            lambda: connections(run.grpc_of(instance)) >= CLIENTS, QUIET_BOUND_S, f"every client is back at {instance}"
        )
        self.more_answers(clients)
        for client, count in zip(clients, before, strict=True):
            self.assertLessEqual(len(client.errors), count + 1, client.errors)
            for asked_at, answered_at, _ in client.errors[count:]:
                self.assertLess(asked_at, killed_at[1] + NOTICED_S, "asked before the replica was gone")
                self.assertGreater(answered_at, killed_at[0], "and answered with an error after that")
