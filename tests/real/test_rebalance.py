"""The owner of each partition, when members restart, leave and stand still: on a real broker."""

import contextlib
import itertools
import json
import subprocess
import time
import unittest.mock

import chain
import heavy
import kafka_server
import law
import processes

INSTANCES = {"merge": "merge", "window-1": "window", "window-2": "window"}
USERS = 60  # Every one of ten partitions has some of them.
SESSION_S = 6
STALL_SESSION_S = 20  # Where others have to work on meanwhile.
# The longest that a partition stands still which stays where it is, while others move; the machine is shared. Less than the
# session: who waited for the member that stands still would wait for longer.
PAUSE_S = 15
MANY_ITEMS = 3000
TAKE_OVER_S = (
    30  # From the moment at which the group knows to the last partition's task at work; the machine is shared.
)


class Flow:
    """A stream of plays, and how long each partition of user-events stood still under it.

    Every look() of it gives each user a play and asks what each instance has applied. A context manager.
    """

    def __init__(self, run, instances):
        self._run = run
        self.instances = list(instances)  # Those that are asked: none that stands still.
        self._items = itertools.count()
        self._applied = {}  # partition: how far, and since when
        self.held_by = {}  # partition: instance that last said how far
        self.longest = {}  # partition: the longest time without a step

    def __enter__(self):
        self._kcat = subprocess.Popen(
            ["kcat", "-P", "-b", self._run.bootstrap, "-t", "plays", "-X", "linger.ms=5"],
            stdin=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_):
        self._kcat.kill()
        self._kcat.communicate()

    def look(self):
        """True once every partition has made a step."""
        item, now_ms = next(self._items), int(time.time() * 1000)
        for user in range(USERS):
            self._kcat.stdin.write(
                json.dumps({"user": f"u{user}", "item": f"v{item}", "time": now_ms, "event": "play"}) + "\n"
            )
        self._kcat.stdin.flush()
        for instance in self.instances:
            found = processes.metrics(self._run._ready[instance]["admin"])
            now = time.monotonic()
            for (name, labels), applied in found.items():
                labels = dict(labels)
                if name == "bloomring_applied_offset" and labels["stage"] == "window":
                    self._note(int(labels["partition"]), instance, applied, now)
        return len(self._applied) == chain.PARTITIONS

    def _note(self, partition, instance, applied, now):
        before, since = self._applied.get(partition, (-1, now))
        self.longest[partition] = max(self.longest.get(partition, 0), now - since)
        if applied > before:
            self._applied[partition] = (applied, now)
            self.held_by[partition] = instance

    def forget_times(self):
        self.longest = {}

    def wait_until(self, condition, bound_s, what):
        return processes.wait_for(lambda: self.look() and condition(), bound_s, what)

    def worst(self, partitions):
        return max(self.longest.get(partition, 0) for partition in partitions)


@contextlib.contextmanager
def two_windows(session_s, instances=INSTANCES, settings=None):
    with (
        processes.temp_folder("rebalance") as folder,
        kafka_server.KafkaServer(kafka_server.VERSIONS[0], folder / "kafka") as server,
        unittest.mock.patch.object(chain, "SESSION_TIMEOUT_MS", session_s * 1000),
    ):
        run = chain.Chain(folder, server.bootstrap, instances, settings)
        run.make_topics()
        with run:
            run.server = server
            wait_for_share(run, {"window-1": 5, "window-2": 5}, 60)
            yield run


def numbers(run, instance, name, **labels):
    return sum(processes.values(processes.metrics(run._ready[instance]["admin"]), name, stage="window", **labels))


def held(run, instance):
    return numbers(run, instance, "bloomring_assigned_partitions")


def merge_number(run, name, **labels):
    return sum(processes.values(processes.metrics(run._ready["merge"]["admin"]), name, **labels))


def wait_for_share(run, shares, bound_s):
    """Until these instances hold so many partitions; how long that took."""
    begin = time.monotonic()
    processes.wait_for(
        lambda: all(held(run, instance) == share for instance, share in shares.items()),
        bound_s,
        lambda: f"{shares}: {[(instance, held(run, instance)) for instance in shares]}",
    )
    return time.monotonic() - begin


class Rebalance(law.LawCase):
    def test_restart(self):
        """rebalance: kill -9 and a restart within the session timeout move no partition of another member"""
        with two_windows(session_s=60) as run:
            before = numbers(run, "window-2", "bloomring_rebalances_total")
            run.crash("window-1")
            wait_for_share(run, {"window-1": 5, "window-2": 5}, 60)
            self.assertEqual(numbers(run, "window-2", "bloomring_rebalances_total"), before)

    def test_leave(self):
        """rebalance: SIGUSR1 ends a member with exit code 0, and its partitions move at once, long before its session ends"""
        session_s = 120
        with two_windows(session_s) as run:
            leaving = run._processes.pop("window-2")
            leaving.ask_to_leave()
            self.assertEqual(leaving.wait(30), 0)
            print(f"\nmoved in {wait_for_share(run, {'window-1': 10}, session_s / 4):.1f} s", flush=True)

    def test_fenced(self):
        """rebalance: a member that is fenced by one that goes away again joins once more with its id, and works on"""
        with two_windows(session_s=60) as run:
            fenced = run._processes["window-1"]
            mark = fenced.log_size()
            command = ["kcat", "-b", run.bootstrap, "-G", "bloomring-window", "-X", "group.instance.id=window-1-window"]
            command += ["-X", "partition.assignment.strategy=range", "user-events"]
            # As a coordinator that stood still makes a member look like a second one of itself.
            rival = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                fenced.wait_until(lambda: fenced.logged_since(mark, "with the same id"), 60, "the member is fenced")
            finally:
                rival.kill()
                rival.wait()
            wait_for_share(run, {"window-1": 5, "window-2": 5}, 90)
            run.all_running()

    def test_others_keep_working(self):
        """rebalance: partitions that stay where they are pause for a moment when others move, and not at all while a member
        stands still; those that move are at work within a bound. Every play of a heavy user is seen meanwhile"""
        with (
            two_windows(STALL_SESSION_S, {**INSTANCES, "ingest": "ingest", "serve": "serve"}) as run,
            Flow(run, ["window-1", "window-2"]) as flow,
        ):
            oracle = run.play_heavily(heavy.ONE)
            flow.wait_until(lambda: True, 60, "plays reach every partition")
            moving = [partition for partition, instance in flow.held_by.items() if instance == "window-2"]
            staying = [partition for partition, instance in flow.held_by.items() if instance == "window-1"]
            self.assertEqual((len(moving), len(staying)), (5, 5))

            def all_at(instance):
                return set(flow.held_by.values()) == {instance}

            flow.instances = ["window-1"]
            flow.forget_times()
            run._processes["window-2"].stall()
            flow.wait_until(
                lambda: all_at("window-1"), STALL_SESSION_S + TAKE_OVER_S, "what the stalled member had is worked on"
            )
            print(
                f"\na member stands still: its partitions paused {flow.worst(moving):.1f} s with a session of {STALL_SESSION_S} s, "
                f"those of the other {flow.worst(staying):.1f} s",
                flush=True,
            )
            self.assertLess(flow.worst(staying), PAUSE_S)
            self.assertLess(flow.worst(moving), STALL_SESSION_S + TAKE_OVER_S)
            self.assertEqual(heavy.check(run.grpc, oracle, heavy.MERGED_OR_NOT).wrong(), [])

            flow.instances = ["window-1", "window-2"]
            run._processes["window-2"].resume()
            flow.wait_until(
                lambda: set(flow.held_by.values()) == {"window-1", "window-2"}, 60, "both members work again"
            )
            flow.instances = ["window-1"]
            flow.forget_times()
            run._processes.pop("window-2").ask_to_leave()
            flow.wait_until(lambda: all_at("window-1"), TAKE_OVER_S, "what the member that left had is worked on")
            print(
                f"a member leaves: its partitions paused {flow.worst(moving):.1f} s, those of the other "
                f"{flow.worst(staying):.1f} s",
                flush=True,
            )
            self.assertLess(flow.worst(staying), PAUSE_S)
            self.assertEqual(heavy.check(run.grpc, oracle, heavy.MERGED_OR_NOT).wrong(), [])
            run.all_running()

    def test_stalled_writer(self):
        """rebalance: a process that stood still beyond its session changes no filter before it has joined its group again"""
        stall_ms = 1000 * (SESSION_S + 4)
        with two_windows(SESSION_S, {**INSTANCES, "ingest": "ingest"}, {"merge": {"threads.merge": 1}}) as run:
            merge, broker = run._processes["merge"], run.server.process()
            merge.term()
            # More in a slot than one batches record holds: behind the first batch of a partition there is another.
            now_ms = int(time.time() * 1000)
            run.produce(
                json.dumps({"user": f"u{user}", "item": f"many-{item}", "time": now_ms, "event": "play"})
                for item in range(MANY_ITEMS)
                for user in range(USERS)
            )
            with Flow(run, ["window-1", "window-2"]) as flow:
                flow.wait_until(lambda: self.shortest_log(run) >= 4, 90, "every partition has batches of two slots")
            for other in ("ingest", "window-1", "window-2"):
                run._processes[other].kill9()  # A stalled broker is not their test.
            # The one thread that merges stops behind its first batch, with those of the other partitions at hand.
            merge.start({"BLOOMRING_FAULT_POINT": f"merge.applied:1=stall:{stall_ms}"})
            run._wait_ready("merge")
            merge.wait_until(
                lambda: "fault point merge.applied reached" in merge.tail(1000), 60, "the first batch is merged"
            )
            updates = merge_number(run, "bloomring_store_updates_total")
            merge.stall()
            broker.stall()
            begin = time.monotonic()
            processes.wait_for(lambda: time.monotonic() - begin > stall_ms / 1000, 60, "the session is over")
            merge.resume()  # The broker still stands: nobody can tell it whose the partitions are.
            processes.wait_for(
                lambda: merge_number(run, "bloomring_rebalances_total", kind="lost") > 0,
                60,
                "the process knows that its partitions are lost",
            )
            self.assertEqual(merge_number(run, "bloomring_store_updates_total"), updates)
            broker.resume()
            processes.wait_for(
                lambda: merge_number(run, "bloomring_store_updates_total") > updates,
                90,
                "it goes on once it has its partitions again",
            )

    def shortest_log(self, run):
        return min(processes.end_offsets(run.bootstrap, "user-batches", chain.PARTITIONS).values())

    def test_stalled_sender(self):
        """rebalance: a process that stood still beyond its session, with blocks in its hands and others at work on its
        partitions, writes none of them to the log"""
        stall_ms = 1000 * (SESSION_S + 4)
        with (
            processes.temp_folder("rebalance") as folder,
            kafka_server.KafkaServer(kafka_server.VERSIONS[0], folder / "kafka") as server,
            unittest.mock.patch.object(chain, "SESSION_TIMEOUT_MS", SESSION_S * 1000),
        ):
            run = chain.Chain(folder, server.bootstrap, {"ingest-1": "ingest", "ingest-2": "ingest"})
            run.make_topics()
            with run:
                stalled, other = (run._processes[name] for name in run._processes)
                stalled.term()
                other.ask_to_leave()
                other.wait(30)
                # Its thread stops behind the first block of plays, with those of the other partitions closed and not yet
                # sent. Before it comes the event with which ingest asks the brokers' time.
                stalled.start({"BLOOMRING_FAULT_POINT": f"ingest.block_sent:2=stall:{stall_ms}"})
                run._wait_ready("ingest-1")
                now_ms = int(time.time() * 1000)
                run.produce([json.dumps({"user": f"u{user}", "item": "v1", "time": now_ms}) for user in range(USERS)])
                stalled.wait_until(
                    lambda: "fault point ingest.block_sent reached" in stalled.tail(1000), 60, "the first block is sent"
                )
                processes.wait_for(lambda: run.log_end("user-events") == 2, 30, "the first block is in the log")
                stalled.stall()
                other.start()
                run._wait_ready("ingest-2")

                def total(instance, name, **labels):
                    found = processes.metrics(run.admin_of(instance))
                    return sum(processes.values(found, name, stage="ingest", **labels))

                def events():
                    found = processes.metrics(run.admin_of("ingest-2"))
                    return sum(processes.values(found, "bloomring_ingest_records_total", result="accepted"))

                processes.wait_for(
                    lambda: events() >= USERS and total("ingest-2", "bloomring_custody_lag_records") == 0,
                    SESSION_S + 60,
                    "the other process has written every play and committed it",
                )
                written = run.log_end("user-events")
                # Each partition's block, one of the stalled, and what each of both asked with.
                self.assertGreaterEqual(written, 3 + chain.PARTITIONS)
                stalled.resume()
                processes.wait_for(
                    lambda: total("ingest-1", "bloomring_rebalances_total", kind="lost") > 0,
                    stall_ms / 1000 + 30,
                    "the process knows that its partitions are lost",
                )
                processes.wait_for(
                    lambda: all(total(name, "bloomring_assigned_partitions") > 0 for name in ("ingest-1", "ingest-2")),
                    60,
                    "both processes share the partitions",
                )
                self.assertEqual(run.log_end("user-events"), written)
                run.all_running()

    def test_stall(self):
        """rebalance: a member that stands still beyond its session loses its partitions, hears of it, and shares again"""
        with two_windows(SESSION_S) as run:
            stalled = run._processes["window-1"]
            stalled.stall()
            took_s = wait_for_share(run, {"window-2": 10}, SESSION_S + TAKE_OVER_S)
            print(f"\ntaken over {took_s - SESSION_S:.1f} s after the session of {SESSION_S} s", flush=True)
            stalled.resume()
            processes.wait_for(
                lambda: numbers(run, "window-1", "bloomring_rebalances_total", kind="lost") > 0,
                30,
                "the member that stood still hears that its partitions are lost",
            )
            wait_for_share(run, {"window-1": 5, "window-2": 5}, 60)
            run.all_running()
