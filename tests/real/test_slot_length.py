"""Another ring.slot_seconds than what is stored was written with, on a real broker: refused, and the way to change it."""

import json
import time

import chain
import heavy
import kafka_server
import law
import plays
import processes

OLD, NEW = 2, 5
INSTANCES = {"merge": "merge", "window": "window", "serve": "serve", "ingest": "ingest"}
BOUND_S = 60


def settings(slot_seconds):
    return {instance: {"ring.slot_seconds": slot_seconds} for instance in INSTANCES}


class SlotLength(law.LawCase):
    def test_change(self):
        """slot length: another one is refused by every stage that leans on it, and taken once all is merged"""
        with processes.temp_folder("slots") as folder, kafka_server.KafkaServer("4.1.0", folder / "kafka") as server:
            run = chain.Chain(folder, server.bootstrap, INSTANCES, settings(OLD))
            run.make_topics()
            with run:
                oracle = run.play_heavily(heavy.ONE)
                run.produce([play(f"u{n}", "before") for n in range(50)])
                run.wait_until_merged()
                self.assertEqual(set(run.stop().values()), {0})
            for stage in ("merge", "window", "serve"):
                self.refused(folder, stage)
            shown = self.store_command(folder, server)
            self.assertFalse(shown["executed"])
            self.assertGreater(shown["partitions_changed"], 0)
            self.assertTrue(self.store_command(folder, server, "--execute")["executed"])
            self.assertEqual(self.store_command(folder, server, "--execute")["partitions_changed"], 0)
            run = chain.Chain(folder, server.bootstrap, INSTANCES, settings(NEW))
            with run:
                run.produce([play(f"u{n}", "after") for n in range(50)])
                run.wait_until_merged()
                for n in range(50):
                    answer = plays.complete_answer(run.grpc, f"u{n}", ["before", "after"])
                    self.assertEqual([verdict["seen"] for verdict in answer["items"]], [True, True])
                self.assertEqual(heavy.check(run.grpc, oracle, heavy.MERGED_OR_NOT).wrong(), [])
                self.assertEqual(set(run.stop().values()), {0})

    def refused(self, folder, stage):
        command = [plays.binary(), "run", "--config", folder / f"{stage}.yaml", "--stages", stage]
        process = processes.Process(f"refused-{stage}", [*command, "--set", f"ring.slot_seconds={NEW}"], folder)
        with process:
            processes.wait_for(lambda: not process.running(), BOUND_S, lambda: process.describe("has not ended"))
            said = process.tail(40)
        for words in (f"ring.slot_seconds is {NEW}", f"was written with {OLD}", "bloomring store slot-length"):
            self.assertIn(words, said)
        self.assertNotIn("kafka: partitions", said, "it was given partitions, and its group waits for it")

    def store_command(self, folder, server, *flags):
        command = [plays.binary(), "store", "slot-length", "--config", folder / "merge.yaml"]
        _, out, _ = processes.run([*command, "--set", f"ring.slot_seconds={NEW}", *flags])
        return json.loads(out)


def play(user, item):
    return json.dumps({"user": user, "item": item, "time": int(time.time() * 1000)})
