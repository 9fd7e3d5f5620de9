"""Two serve processes that hold the same partitions, and what each of them says of a few items."""

import json
import time

import plays
import processes

BOTH = ("serve-1", "serve-2")
INSTANCES = {"merge": "merge", "window": "window", **dict.fromkeys(BOTH, "serve"), "ingest": "ingest"}
FRESH_BOUND_S = 60  # Of a busy machine, which has to ask thousands of items meanwhile.


def settings(**changes):
    """Settings of every process, by instance: each of the two replicas holds every partition. changes: of every process,
    with a double underscore for the dot of a key (ring__slot_seconds=2)."""
    every = {key.replace("__", "."): value for key, value in changes.items()}
    both = {"serve.replica_count": 2, "serve.replication_factor": 2}
    found = {instance: dict(every) for instance in INSTANCES}
    for index, name in enumerate(BOTH):
        found[name] |= {**both, "serve.replica_index": index}
    return found


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


def first_reasons(run, instance, user, items):
    """The same of the first complete answer: of what holds at once."""
    answer = plays.complete_answer(run.grpc_of(instance), user, items)
    return {verdict["item"]: verdict.get("reason") for verdict in answer["items"]}


def wait_for_reasons(run, instance, user, expected, bound_s=FRESH_BOUND_S):
    """Until a replica answers completely, with these reasons."""
    last = []

    def same():
        last[:] = [reasons(run, instance, user, list(expected))]
        return last[0] == expected

    processes.wait_for(same, bound_s, lambda: f"{instance} answers {user} {expected}, last {last}")


def event(kind, user, item=None, time_ms=None):
    """An event as JSON; now when no time is given."""
    fields = {"event": kind, "user": user, "time": time_ms or int(time.time() * 1000)}
    return json.dumps(fields | ({"item": item} if item else {}))
