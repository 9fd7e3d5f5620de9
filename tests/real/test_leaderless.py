"""Partitions whose only broker is away, on a real cluster: each by itself, reading, writing and at a start."""

import contextlib
import json

import heavy
import installation
import kafka_admin
import kafka_server
import law
import plays
import processes

USERS = 60


class Leaderless(law.LawCase):
    def test_one_broker_of_three(self):
        """leaderless: while a broker with the only copy of some partitions is away, a replica starts and answers for
        all others, and their users' new plays are seen; when it is back, all plays of all users are"""
        with contextlib.ExitStack() as stack:
            site = stack.enter_context(self.cluster_of_three())
            with site.process("ingest,merge") as ingest:
                ready = ingest.ready_line(60)
                oracle = site.play_heavily(heavy.ONE)
                site.play(["a"], users=USERS)
                site.wait_until_ingested(ingest, ready, sum(heavy.ONE.values()) + USERS)
                self.server.kill9(3)
                with site.process("serve") as serve:
                    grpc = serve.ready_line(120)["grpc"]
                    answered = serve.wait_until(
                        lambda: [user for user in range(USERS) if self.seen(grpc, user, ["a"])],
                        60,
                        "some users to be answered",
                    )
                    self.assertLess(len(answered), USERS, answered)
                    played = self.play_until_passed_over(site, ingest, ready["admin"])
                    serve.wait_until(
                        lambda: all(self.seen(grpc, user, played) for user in answered), 60, "those to see all plays"
                    )
                    self.heavy_user_is_answered(grpc, oracle)
                    self.server.restart(3)
                    serve.wait_until(
                        lambda: all(self.seen(grpc, user, ["a", *played]) for user in range(USERS)),
                        120,
                        "every user to see all plays",
                    )
                    self.assertEqual(heavy.check(grpc, oracle, ["recent"]).wrong(), [])
                    site.wait_until_ingested(ingest, ready, sum(heavy.ONE.values()) + USERS * (1 + len(played)))
                    self.assertEqual(self.ingest_reason(ready["admin"]), "")
                    self.assertEqual(serve.term(), 0)
                self.assertEqual(ingest.term(), 0)

    @contextlib.contextmanager
    def cluster_of_three(self):
        """A site whose plays three brokers have, and whose other partitions one has."""
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(processes.temp_folder("leaderless"))
            self.server = stack.enter_context(
                kafka_server.KafkaServer(
                    kafka_server.VERSIONS[0], folder / "kafka", brokers=3, properties={"min.insync.replicas": 1}
                )
            )
            kafka_admin.create_topic(self.server.bootstrap, "plays-alone", 4, replication=3)
            yield installation.Installation(
                folder, self.server.bootstrap, "alone", slot_seconds=3600, ingest={"block_events": 1}
            )

    def play_until_passed_over(self, site, ingest, admin):
        """The items that every user has played until ingest says that it passes some of their plays over, and ten
        more."""
        items = []

        def play():
            new = [f"b{len(items) + i}" for i in range(10)]
            site.play(new, users=USERS)
            items.extend(new)
            return "plays of its users wait" in self.ingest_reason(admin)

        ingest.wait_until(play, 120, "a partition of user-events to be passed over")
        play()
        return items

    def heavy_user_is_answered(self, grpc, oracle):
        """Rightly, or not completely: who has the user's partition is up to the brokers."""
        for user, items in oracle.items():
            asked = sorted(items)
            code, out, _ = processes.run(
                [plays.binary(), "query", "--server", grpc, "--user", user],
                stdin="".join(f"{item}\n" for item in asked),
                check=False,
            )
            if code == 0 and (answer := plays.checked(json.loads(out), user, asked))["complete"]:
                self.assertEqual(plays.unseen(user, answer, len(asked)), [])

    def ingest_reason(self, admin):
        return json.loads(processes.http_get(admin, "/readyz")[1])["parts"].get("ingest-events", {}).get("reason", "")

    def seen(self, grpc, user, items):
        code, out, _ = processes.run(
            [plays.binary(), "query", "--server", grpc, "--user", f"u{user}", *items], check=False
        )
        if code != 0:
            return False
        answer = json.loads(out)
        return answer["complete"] and all(verdict["seen"] for verdict in answer["items"])
