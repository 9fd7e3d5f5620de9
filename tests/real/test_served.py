"""What was served and what was forgotten, through two serve processes that hold the same partitions."""

import json
import time

import chain
import kafka_server
import law
import plays
import processes

INSTANCES = {"merge": "merge", "window": "window", "serve-1": "serve", "serve-2": "serve", "ingest": "ingest"}
BOTH = ("serve-1", "serve-2")
FRESH_BOUND_S = 20


def replicas(**settings):
    """Settings of the two serve processes: each holds every partition."""
    both = {"serve.replica_count": 2, "serve.replication_factor": 2, **settings}
    return {name: {"serve.replica_index": index, **both} for index, name in enumerate(BOTH)}


def call(run, instance, command, *arguments):
    """A command against one of the serve processes, as it prints its result."""
    _, out, _ = processes.run([plays.binary(), command, "--server", run.grpc_of(instance), *arguments])
    return json.loads(out)


def reasons(run, instance, user, items):
    """{item: why it is seen, None where it is not} of a complete answer; None when the answer is not complete."""
    answer = plays.query(run.grpc_of(instance), user, items)
    if not answer["complete"]:
        return None
    return {verdict["item"]: verdict.get("reason") for verdict in answer["items"]}


def wait_for_reasons(run, instance, user, expected):
    last = []

    def same():
        last[:] = [reasons(run, instance, user, list(expected))]
        return last[0] == expected
    processes.wait_for(same, FRESH_BOUND_S, lambda: f"{instance} answers {expected}, last {last}")


def event(kind, user, item, time_ms=None):
    return json.dumps({"event": kind, "user": user, "item": item, "time": time_ms or int(time.time() * 1000)})


class Served(law.LawCase):
    def test_served(self):
        """served: seen at once by the replica that took the call, soon by the other, and by both after a restart"""
        with processes.temp_folder("served") as folder, kafka_server.KafkaServer("4.1.0", folder / "kafka") as server:
            run = chain.Chain(folder, server.bootstrap, INSTANCES, replicas())
            run.make_topics()
            with run:
                self.assertEqual(call(run, "serve-1", "served", "--user", "u1", "v1", "v2"), {"user": "u1", "recorded": 2})
                self.assertEqual(reasons(run, "serve-1", "u1", ["v1", "v2", "v3"]), {"v1": "served", "v2": "served", "v3": None})
                wait_for_reasons(run, "serve-2", "u1", {"v1": "served", "v2": "served", "v3": None})
                self.through_a_topic(run)
                self.the_101st(run)
                # The log has been merged beyond the serves when serve-1 comes back: it reads them again all the same.
                run.wait_until_merged()
                run.crash("serve-1")
                for instance in BOTH:
                    wait_for_reasons(run, instance, "u1", {"v1": "served", "v2": "served", "v3": None})
                    wait_for_reasons(run, instance, "u2", {"w1": None, "w2": "served", "w101": "served"})
                self.assertEqual(set(run.stop().values()), {0})

    def through_a_topic(self, run):
        run.produce([event("serve", "u3", "v1")])
        for instance in BOTH:
            wait_for_reasons(run, instance, "u3", {"v1": "served", "v2": None})

    def the_101st(self, run):
        """One more than are kept makes the first one unseen again."""
        call(run, "serve-1", "served", "--user", "u2", "w1")
        call(run, "serve-2", "served", "--user", "u2", *[f"w{i}" for i in range(2, 101)])
        wait_for_reasons(run, "serve-1", "u2", {"w1": "served", "w2": "served", "w100": "served"})
        call(run, "serve-1", "served", "--user", "u2", "w101")
        self.assertEqual(reasons(run, "serve-1", "u2", ["w1", "w2", "w101"]), {"w1": None, "w2": "served", "w101": "served"})
        wait_for_reasons(run, "serve-2", "u2", {"w1": None, "w2": "served", "w101": "served"})
