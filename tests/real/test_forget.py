"""Forgets by call and by event on a real broker: through crashes, replays and merges."""

import json
import time

import chain
import heavy
import kafka_server
import law
import plays
import processes
import replicas
from replicas import BOTH, call, event, first_reasons, reasons, wait_for_reasons

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
# Heavy user: how many of the items are forgotten, by a call and by an event.
HEAVY = {"heavy-20000": 100, "heavy-5000": 5_000}
SLOT_SECONDS = 2
FILTERS_BOUND_S = 60  # Until a lap is over and only filters answer.


def seen(run, instance, user):
    """{item: whether it is seen} of a complete answer; None when the answer is not complete."""
    found = reasons(run, instance, user, list(ITEMS))
    return found and {item: reason is not None for item, reason in found.items()}


def seen_at_once(run, instance, user):
    """The same of the first complete answer."""
    return {item: why is not None for item, why in first_reasons(run, instance, user, list(ITEMS)).items()}


def wait_for_seen(run, expected, instances=BOTH):
    """Until the replicas answer completely what is expected of each user."""
    last = {}

    def same():
        last.update({(instance, user): seen(run, instance, user) for instance in instances for user in expected})
        return all(last[(instance, user)] == items for instance in instances for user, items in expected.items())

    processes.wait_for(same, replicas.FRESH_BOUND_S, lambda: f"answers {expected}, last {last}")


def wait_for_heavy(run, again=frozenset(), instances=BOTH):
    """Until the replicas call no item unseen that a heavy user has not forgotten, and no more of the forgotten ones seen
    than other items of a filter explain. again: items that were played again."""
    wrong = []

    def right():
        wrong[:] = []
        for user, forgotten in HEAVY.items():
            items = [heavy.item(user, n) for n in range(heavy.USERS[user])]
            played = [item for n, item in enumerate(items) if n >= forgotten or item in again]
            asked = played + [item for n, item in enumerate(items) if n < forgotten and item not in again]
            for instance in instances:
                report = plays.Report()
                report.judge(user, plays.complete_answer(run.grpc_of(instance), user, asked), len(played))
                wrong.extend(f"{instance}: {user}: {what}" for what in report.wrong())
        return not wrong

    def told():
        return f"{wrong}; {run.log_end('plays-dead')} dead letters"

    processes.wait_for(right, replicas.FRESH_BOUND_S, lambda: f"heavy users are answered rightly: {told()}")
    for _ in range(2):
        if not right():
            raise processes.Failed(f"heavy users were answered rightly before: {told()}")


def play(run, users, items, time_ms=None):
    run.produce([event("play", user, item, time_ms) for user in users for item in items])


class Forget(law.LawCase):
    def test_forget(self):
        """forget: one item or everything, at once, past every replay, until it is played again, for light users and
        for heavy ones"""
        with processes.temp_folder("forget") as folder, kafka_server.KafkaServer("4.1.0", folder / "kafka") as server:
            settings = replicas.settings(ring__slot_seconds=SLOT_SECONDS)
            run = chain.Chain(folder, server.bootstrap, replicas.INSTANCES, settings)
            run.make_topics()
            with run:
                played_ms = int(time.time() * 1000)
                self.heavy_lines = [play.json() for play in heavy.heavy_plays(played_ms)]
                run.produce(self.heavy_lines)
                play(run, FORGETFUL, ITEMS, played_ms)
                wait_for_seen(run, dict.fromkeys(FORGETFUL, FORGETFUL["nobody"]))
                # The forgotten plays are the first that the window stage reads when it has lost its disk.
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
        self.assertEqual(seen_at_once(run, "serve-1", "call-one"), ONE)
        self.assertEqual(
            call(run, "serve-2", "forget", "--user", "call-all", "--everything"),
            {"user": "call-all", "forgotten": "everything"},
        )
        self.assertEqual(seen_at_once(run, "serve-2", "call-all"), NONE)
        some = [heavy.item("heavy-20000", n) for n in range(HEAVY["heavy-20000"])]
        call(run, "serve-1", "forget", "--user", "heavy-20000", *some)
        # By an event that is logged in a later slot than it happened in, since it has a way to go.
        forgotten_ms = int(time.time() * 1000)
        slot_end_s = (forgotten_ms // 1000 // SLOT_SECONDS + 1) * SLOT_SECONDS
        processes.wait_for(lambda: time.time() > slot_end_s, 2 * SLOT_SECONDS, "the next slot begins")
        run.produce(
            [
                event("forget", "event-one", "v1", forgotten_ms),
                event("forget_all", "event-all", None, forgotten_ms),
                event("forget_all", "heavy-5000", None, forgotten_ms),
            ]
        )
        wait_for_seen(run, FORGETFUL)
        wait_for_heavy(run)

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
        wait_for_heavy(run)

    def replayed(self, run, played_ms):
        """Plays of before that come again, as other events and as the same, after what is forgotten was merged."""
        run.wait_until_merged()
        for time_ms in (played_ms, played_ms - 1):
            play(run, FORGETFUL, ITEMS, time_ms)
        run.produce(self.heavy_lines)
        run.wait_until_merged()
        wait_for_seen(run, FORGETFUL)
        wait_for_heavy(run)
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
        wait_for_heavy(run)

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
        heavy_again = {heavy.item(user, 0) for user in HEAVY}
        run.produce([event("play", user, heavy.item(user, 0)) for user in HEAVY])
        wait_for_seen(run, again)
        wait_for_heavy(run, heavy_again)
        run.wait_until_merged()
        for instance in BOTH:
            for user in ("call-one", "event-all"):
                expected = {item: "filter" if is_seen else None for item, is_seen in again[user].items()}
                wait_for_reasons(run, instance, user, expected, FILTERS_BOUND_S)
        wait_for_seen(run, again)
        wait_for_heavy(run, heavy_again)
