"""What a user has forgotten, by call and by event, on a real broker: through crashes, replays and merges."""

import json
import time

import chain
import kafka_server
import law
import plays
import processes
import replicas
from replicas import BOTH, call, event, reasons, wait_for_reasons

ITEMS = ("v1", "v2", "v3")
ONE = {"v1": False, "v2": True, "v3": True}
NONE = dict.fromkeys(ITEMS, False)
# User: what is seen once that user has forgotten. One of each by a call and by an event in the topic of plays.
FORGETFUL = {
    "call-one": ONE,
    "call-all": NONE,
    "event-one": ONE,
    "event-all": NONE,
    "nobody": dict.fromkeys(ITEMS, True),
}
SLOT_SECONDS = 2
FILTERS_BOUND_S = 60  # Until a lap is over and only filters answer.


def seen(run, instance, user):
    """{item: whether it is seen} of a complete answer; None when the answer is not complete."""
    found = reasons(run, instance, user, list(ITEMS))
    return found and {item: reason is not None for item, reason in found.items()}


def wait_for_seen(run, expected, instances=BOTH):
    """Until the replicas answer completely what is expected of each user."""
    last = {}

    def same():
        last.update({(instance, user): seen(run, instance, user) for instance in instances for user in expected})
        return all(last[(instance, user)] == items for instance in instances for user, items in expected.items())

    processes.wait_for(same, replicas.FRESH_BOUND_S, lambda: f"answers {expected}, last {last}")


def play(run, users, items, time_ms=None):
    run.produce([event("play", user, item, time_ms) for user in users for item in items])


class Forget(law.LawCase):
    def test_forget(self):
        """forget: one item or everything, at once, past every replay, until it is played again"""
        with processes.temp_folder("forget") as folder, kafka_server.KafkaServer("4.1.0", folder / "kafka") as server:
            settings = replicas.settings(ring__slot_seconds=SLOT_SECONDS)
            run = chain.Chain(folder, server.bootstrap, replicas.INSTANCES, settings)
            run.make_topics()
            with run:
                played_ms = int(time.time() * 1000)
                play(run, FORGETFUL, ITEMS, played_ms)
                wait_for_seen(run, dict.fromkeys(FORGETFUL, FORGETFUL["nobody"]))
                # What is forgotten is the first that the window stage reads when it has lost its disk.
                run.wait_until_merged()
                run._processes["window"].stall()
                self.forget(run)
                self.read_again(run)
                self.replayed(run, played_ms)
                self.only_filters(run)
                self.inspected(run)
                self.played_again(run)
                self.assertEqual(set(run.stop().values()), {0})

    def forget(self, run):
        """At once where the call was taken, soon elsewhere."""
        self.assertEqual(
            call(run, "serve-1", "forget", "--user", "call-one", "v1"), {"user": "call-one", "forgotten": ["v1"]}
        )
        self.assertEqual(seen(run, "serve-1", "call-one"), ONE)
        self.assertEqual(
            call(run, "serve-2", "forget", "--user", "call-all", "--everything"),
            {"user": "call-all", "forgotten": "everything"},
        )
        self.assertEqual(seen(run, "serve-2", "call-all"), NONE)
        run.produce([event("forget", "event-one", "v1"), event("forget_all", "event-all")])
        wait_for_seen(run, FORGETFUL)

    def read_again(self, run):
        """Nothing depends on what a process remembers: not before it is merged, nor while it is."""
        run.crash("serve-1")
        run.crash("serve-2")
        wait_for_seen(run, FORGETFUL)
        run.crash("window", lose_disk=True)
        batches = run.log_end("user-batches")
        play(run, ["somebody"], ITEMS)
        run.wait_for_growth("user-batches", batches)
        run.crash("merge")
        wait_for_seen(run, FORGETFUL)

    def replayed(self, run, played_ms):
        """Plays of before that come again, as other events and as the same, after what is forgotten was merged."""
        run.wait_until_merged()
        for time_ms in (played_ms, played_ms - 1):
            play(run, FORGETFUL, ITEMS, time_ms)
        run.wait_until_merged()
        wait_for_seen(run, FORGETFUL)
        metrics = processes.metrics(run.admin_of("merge"))
        self.assertGreater(sum(processes.values(metrics, "bloomring_forgotten_plays_total")), 0)

    def only_filters(self, run):
        """A lap later nothing is recent any more."""
        for instance in BOTH:
            wait_for_reasons(run, instance, "nobody", dict.fromkeys(ITEMS, "filter"), FILTERS_BOUND_S)
            wait_for_reasons(run, instance, "event-one", {"v1": None, "v2": "filter", "v3": "filter"}, FILTERS_BOUND_S)
        for instance in BOTH:
            run.crash(instance)
        wait_for_seen(run, FORGETFUL)

    def inspected(self, run):
        """A person finds what was forgotten."""

        def forgotten(user):
            command = [plays.binary(), "inspect", "user", "--config", run.folder / "merge.yaml", "--user", user]
            return json.loads(processes.run(command)[1])["forgotten"]

        self.assertEqual(len(forgotten("call-one")["items"]), 1)
        self.assertGreater(forgotten("event-all")["everything_until_ms"], 0)
        self.assertEqual(forgotten("nobody"), {"items": []})

    def played_again(self, run):
        """It is seen again, as a recent play and by the filter; nothing else comes back."""
        again = {user: {**items, "v1": True} for user, items in FORGETFUL.items()}
        play(run, FORGETFUL, ["v1"])
        wait_for_seen(run, again)
        run.wait_until_merged()
        for instance in BOTH:
            for user in ("call-one", "event-all"):
                expected = {item: "filter" if is_seen else None for item, is_seen in again[user].items()}
                wait_for_reasons(run, instance, user, expected, FILTERS_BOUND_S)
        wait_for_seen(run, again)
