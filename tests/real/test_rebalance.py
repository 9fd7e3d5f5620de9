"""Who works on which partition, when members restart, leave and stand still: on a real broker."""

import contextlib
import time
import unittest.mock

import chain
import kafka_server
import law
import processes

INSTANCES = {"merge": "merge", "window-1": "window", "window-2": "window"}
SESSION_S = 6
TAKE_OVER_S = 15  # From the moment at which the group knows to the last partition's task at work; the machine is shared.


@contextlib.contextmanager
def two_windows(session_s):
    with processes.temp_folder("rebalance") as folder, \
            kafka_server.KafkaServer(kafka_server.VERSIONS[0], folder / "kafka") as server, \
            unittest.mock.patch.object(chain, "SESSION_TIMEOUT_MS", session_s * 1000):
        run = chain.Chain(folder, server.bootstrap, INSTANCES)
        run.make_topics()
        with run:
            wait_for_share(run, {"window-1": 5, "window-2": 5}, 60)
            yield run


def numbers(run, instance, name, **labels):
    return sum(processes.values(processes.metrics(run._ready[instance]["admin"]), name, stage="window", **labels))


def held(run, instance):
    return numbers(run, instance, "bloomring_assigned_partitions")


def wait_for_share(run, shares, bound_s):
    """Until these instances hold so many partitions; how long that took."""
    begin = time.monotonic()
    processes.wait_for(lambda: all(held(run, instance) == share for instance, share in shares.items()), bound_s,
                       lambda: f"{shares}: {[(instance, held(run, instance)) for instance in shares]}")
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
        with two_windows(session_s=60) as run:
            leaving = run._processes.pop("window-2")
            leaving.ask_to_leave()
            self.assertEqual(leaving.wait(30), 0)
            print(f"\nmoved in {wait_for_share(run, {'window-1': 10}, TAKE_OVER_S):.1f} s", flush=True)

    def test_stall(self):
        """rebalance: a member that stands still beyond its session loses its partitions, hears of it, and shares again"""
        with two_windows(SESSION_S) as run:
            stalled = run._processes["window-1"]
            stalled.stall()
            took_s = wait_for_share(run, {"window-2": 10}, SESSION_S + TAKE_OVER_S)
            print(f"\ntaken over {took_s - SESSION_S:.1f} s after the session of {SESSION_S} s", flush=True)
            stalled.resume()
            processes.wait_for(lambda: numbers(run, "window-1", "bloomring_rebalances_total", kind="lost") > 0, 30,
                               "the member that stood still hears that its partitions are lost")
            wait_for_share(run, {"window-1": 5, "window-2": 5}, 60)
            run.all_running()
