"""Served items, through two serve processes that hold the same partitions."""

import chain
import heavy
import kafka_server
import law
import processes
import replicas
from replicas import BOTH, call, event, first_reasons, wait_for_reasons


class Served(law.LawCase):
    def test_served(self):
        """served: seen at once by the replica that took the call, soon by the other, and by both after a restart"""
        with processes.temp_folder("served") as folder, kafka_server.KafkaServer("4.1.0", folder / "kafka") as server:
            run = chain.Chain(folder, server.bootstrap, replicas.INSTANCES, replicas.settings())
            run.make_topics()
            with run:
                oracle = run.play_heavily(heavy.ONE)
                self.assertEqual(
                    call(run, "serve-1", "served", "--user", "u1", "v1", "v2"), {"user": "u1", "recorded": 2}
                )
                self.assertEqual(
                    first_reasons(run, "serve-1", "u1", ["v1", "v2", "v3"]),
                    {"v1": "served", "v2": "served", "v3": None},
                )
                wait_for_reasons(run, "serve-2", "u1", {"v1": "served", "v2": "served", "v3": None})
                self.through_a_topic(run)
                self.the_101st(run)
                # The log has been merged beyond the serves when serve-1 comes back: it reads them again all the same.
                run.wait_until_merged()
                run.crash("serve-1")
                for instance in BOTH:
                    wait_for_reasons(run, instance, "u1", {"v1": "served", "v2": "served", "v3": None})
                    wait_for_reasons(run, instance, "u2", {"w1": None, "w2": "served", "w101": "served"})
                    report = heavy.check(run.grpc_of(instance), oracle, heavy.MERGED_OR_NOT)
                    self.assertEqual(report.wrong(), [], instance)
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
        self.assertEqual(
            first_reasons(run, "serve-1", "u2", ["w1", "w2", "w101"]),
            {"w1": None, "w2": "served", "w101": "served"},
        )
        wait_for_reasons(run, "serve-2", "u2", {"w1": None, "w2": "served", "w101": "served"})
