"""Partitions whose only broker is away, on a real cluster: each by itself, also at a start."""

import contextlib

import installation
import kafka_server
import law
import plays
import processes

USERS = 60


class Leaderless(law.LawCase):
    def test_one_broker_of_three(self):
        """leaderless: while a broker with the only copy of some partitions is away, a replica starts and answers for
        all others; when it is back, for all"""
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(processes.temp_folder("leaderless"))
            server = stack.enter_context(
                kafka_server.KafkaServer(
                    kafka_server.VERSIONS[0], folder / "kafka", brokers=3, properties={"min.insync.replicas": 1}
                )
            )
            site = installation.Installation(folder, server.bootstrap, "alone", slot_seconds=3600)
            with site.process("ingest,merge") as ingest:
                ready = ingest.ready_line(60)
                site.play(["a"], users=USERS)
                site.wait_until_ingested(ingest, ready, USERS)
                self.assertEqual(ingest.term(), 0)
            server.kill9(3)
            with site.process("serve") as serve:
                grpc = serve.ready_line(120)["grpc"]
                answered = serve.wait_until(
                    lambda: [user for user in range(USERS) if self.complete(grpc, user)], 60, "some user to be answered"
                )
                self.assertLess(len(answered), USERS, answered)
                server.restart(3)
                serve.wait_until(
                    lambda: all(self.complete(grpc, user) for user in range(USERS)), 90, "every user to be answered"
                )
                self.assertEqual(serve.term(), 0)

    def complete(self, grpc, user):
        code, out, _ = processes.run(
            [plays.binary(), "query", "--server", grpc, "--user", f"u{user}", "a"], check=False
        )
        return code == 0 and '"complete":true' in out and '"reason":"recent"' in out
