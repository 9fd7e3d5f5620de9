"""Topics of plays as sites have them: written in transactions, as Kafka Streams and Flink do, so that markers and aborted
records take offsets that no record has; and with partitions that are added while everything runs."""

import json
import time

import chain
import heavy
import kafka_admin
import one_broker
import plays
import processes

LAG = "bloomring_processing_lag_records"


def play(item):
    return json.dumps({"user": "u1", "item": item, "time": int(time.time() * 1000)})


class TopicsOfSites(one_broker.OneBrokerCase):
    def lag_of_plays(self, run):
        return sum(processes.values(processes.metrics(run.admin_of("ingest")), LAG, stage="ingest", topic="plays"))

    def wait_until_nothing_is_unread(self, run):
        processes.wait_for(lambda: self.lag_of_plays(run) == 0, 30, lambda: f"no lag, {self.lag_of_plays(run)}")

    def test_added_partitions(self):
        """ingest: plays of a partition that is added to a topic of plays are read, from its first one on"""
        bootstrap = self.server.bootstrap
        run = chain.Chain(self.folder, bootstrap, {"grown": "ingest"}, {"grown": {"topics.plays": "grown"}})
        kafka_admin.create_topic(bootstrap, "grown", 1)
        run.make_topics()
        with run:
            kafka_admin.add_partitions(bootstrap, "grown", 2)
            kafka_admin.write_transaction(bootstrap, "grown", 1, [play("new")])
            # Asked for every 5 s, and a rebalance; librdkafka's own interval is 300 s.
            processes.wait_for(lambda: run.committed("ingest", "grown").get(1) == 2, 60, "the new partition is read")

    def test_added_topic(self):
        """ingest: a topic that is added to topics.plays is read after an ordinary restart"""
        bootstrap = self.server.bootstrap
        for topic in ("first", "second"):
            kafka_admin.create_topic(bootstrap, topic, 1)
        settings = ({"added": {"topics.plays": topics}} for topics in ("first", "first,second"))
        before, after = (chain.Chain(self.folder, bootstrap, {"added": "ingest"}, one) for one in settings)
        before.make_topics()
        with before:
            kafka_admin.write_transaction(bootstrap, "second", 0, [play("new")])
            self.assertEqual(before.stop(), {"added": 0})
        with after:  # Within the session of the one before, whose partitions the group still knows.
            processes.wait_for(lambda: after.committed("ingest", "second").get(0) == 2, 60, "the new topic is read")

    def test_transactions(self):
        """ingest: passes markers and aborted plays; a log without them, and nothing else, has lost nothing. Answers
        have the committed plays of a heavy user, and no aborted one"""
        bootstrap = self.server.bootstrap
        run = chain.Chain(self.folder, bootstrap, {"ingest": "ingest,merge", "serve": "serve"})
        run.make_topics()
        with run:
            kafka_admin.write_transaction(bootstrap, "plays", 0, [play("committed-1"), play("committed-2")])
            kafka_admin.write_transaction(bootstrap, "plays", 1, [play("before")])
            kafka_admin.write_transaction(bootstrap, "plays", 1, [play("aborted")], commit=False)
            oracle, aborted = self.heavy_transactions(2)
            of_heavy = sum(heavy.ONE.values()) + len(aborted) + 2
            ends = {0: 3, 1: 4, 2: of_heavy}  # The coordinator writes a marker after the producer was told of the end.
            processes.wait_for(lambda: processes.end_offsets(bootstrap, "plays", 3) == ends, 60, f"the log ends at {ends}")
            run.wait_until_committed("ingest", "plays", 60)
            self.wait_until_nothing_is_unread(run)
            self.heavy_user_is_answered(run, oracle, aborted)
            self.assertEqual(set(run.stop().values()), {0})
            # As retention would, of partitions that are quiet for long enough.
            kafka_admin.delete_records(bootstrap, "plays", {0: 3, 1: 4})
            run.start("ingest")
            run.start("serve")
            run.produce([play("after")])
            run.wait_until_committed("ingest", "plays", 60)
            self.wait_until_nothing_is_unread(run)
            self.heavy_user_is_answered(run, oracle, aborted)
            self.assertEqual(processes.kcat_consume(bootstrap, "plays-dead"), [])

    def heavy_transactions(self, partition):
        """(the plays of a heavy user in a transaction that is committed, the items of one that is aborted)"""
        now_ms = int(time.time() * 1000)
        found = heavy.heavy_plays(now_ms, heavy.ONE)
        (user,) = heavy.ONE
        aborted = [plays.Play(user, heavy.never(user, n), now_ms, 1000, 2000) for n in range(100)]
        for some, commit in ((found, True), (aborted, False)):
            kafka_admin.write_transaction(
                self.server.bootstrap, "plays", partition, [one.json() for one in some], commit=commit
            )
        return plays.by_user(found), [one.item for one in aborted]

    def heavy_user_is_answered(self, run, oracle, aborted):
        self.assertEqual(heavy.check(run.grpc, oracle, ["recent"]).wrong(), [])
        for user in oracle:
            answer = plays.complete_answer(run.grpc, user, aborted)
            self.assertEqual([verdict["item"] for verdict in answer["items"] if verdict["seen"]], [])
