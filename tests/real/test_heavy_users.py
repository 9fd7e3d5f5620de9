"""Users of any size: one who has played 150,000 items in one slot, next to others, on a real broker."""

import chain
import heavy
import kafka_server
import law
import plays
import processes
import replicas

ITEMS = 150_000
OTHERS = 200
SLOT_SECONDS = 20  # all plays of the heavy user are in the log within one or two
SAMPLE = [f"item-{n}" for n in range(0, ITEMS, ITEMS // 5_000)]
FILTERS_BOUND_S = 2 * chain.SLOTS * SLOT_SECONDS
INSTANCES = {"merge": "merge", "window": "window", "serve": "serve", "ingest": "ingest"}


def reasons(run, user, items):
    """{reason: how many} of a complete answer; None when the answer is not complete."""
    answer = plays.query(run.grpc, user, items)
    if not answer["complete"]:
        return None
    found = {}
    for verdict in answer["items"]:
        found[verdict.get("reason")] = found.get(verdict.get("reason"), 0) + 1
    return found


class HeavyUsers(law.LawCase):
    def test_heavy_user(self):
        """heavy users: 150,000 plays of one user in one slot become filters, like those of everybody else"""
        with processes.temp_folder("heavy") as folder, kafka_server.KafkaServer("4.1.0", folder / "kafka") as server:
            settings = {instance: {"ring.slot_seconds": SLOT_SECONDS} for instance in INSTANCES}
            run = chain.Chain(folder, server.bootstrap, INSTANCES, settings)
            run.make_topics()
            with run:
                run.produce([replicas.event("play", "heavy", f"item-{n}") for n in range(ITEMS)])
                run.produce([replicas.event("play", f"user-{n}", "item-1") for n in range(OTHERS)])
                run.wait_until_merged()
                self.only_filters(run)
                self.assertEqual(set(run.stop().values()), {0})

    def only_filters(self, run):
        """Until what was played recently is let go: all of it is in the filters, and little else."""
        last = {}

        def in_filters():
            run.all_running()
            last["heavy"] = reasons(run, "heavy", SAMPLE)
            return last["heavy"] == {"filter": len(SAMPLE)}

        processes.wait_for(in_filters, FILTERS_BOUND_S, lambda: f"filters answer for the heavy user, last {last}")
        for n in range(OTHERS):  # Their plays may be in a later slot, and stay in memory for so much longer.
            user = f"user-{n}"
            processes.wait_for(
                lambda: reasons(run, user, ["item-1"]) == {"filter": 1},
                FILTERS_BOUND_S,
                lambda: f"filters answer for {user}, last {reasons(run, user, ['item-1'])}",
            )
        report = heavy.check(run.grpc, {"heavy": {f"item-{n}" for n in range(ITEMS)}})
        print(f"\n{report}", flush=True)
        self.assertEqual(report.wrong(), [])
