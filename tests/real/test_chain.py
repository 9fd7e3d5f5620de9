"""The main law on real parts: what the log accepted is never unseen, whoever is killed."""

import time

import chain
import kafka_server
import law
import plays
import processes

PARTS = 6
SAMPLE_USERS = 12
FALSE_POSITIVE_RATE_MAX = 0.01
BAD_RECORD = '{"user":"u1","item":'


class _Chain:
    """The tests of one Kafka version; the classes below give it."""

    version = None

    def test_law(self):
        """chain: every play is seen through kill -9 of each kind of process, and strangers stay under 1 %"""
        with (
            processes.temp_folder("chain") as folder,
            kafka_server.KafkaServer(self.version, folder / "kafka") as server,
        ):
            self.all_plays = plays.read(last_play_ms=int(time.time() * 1000))
            run = chain.Chain(folder, server.bootstrap)
            run.make_topics()
            with run:
                self.crash_each(run)
                run.wait_until_merged()
                self.wait_until_only_filters_answer(run)
                report = plays.check_all(run.grpc, plays.by_user(self.all_plays))
                print(f"\nKafka {self.version}: {report}", flush=True)
                self.assertEqual(report.users, 664)
                self.assertEqual(report.unseen, [])
                self.assertLessEqual(report.false_positive_rate, FALSE_POSITIVE_RATE_MAX)
                self.assertGreaterEqual(report.reasons["filter"], 0.99 * report.played)
                dead = [record["payload"] for record in processes.kcat_consume(server.bootstrap, "plays-dead")]
                self.assertEqual(set(dead), {BAD_RECORD})
                self.assertEqual(set(run.stop().values()), {0})

    def crash_each(self, run):
        """Each part of the plays goes in, and in the middle of its processing one process is killed. What a complete
        answer has once shown as seen must be seen for ever after."""
        size = -(-len(self.all_plays) // PARTS)
        parts = [self.all_plays[at : at + size] for at in range(0, len(self.all_plays), size)]
        crashes = [
            ("user-events", "ingest", False),
            ("user-batches", "window-1", False),
            ("user-batches", "window-2", True),
            ("user-batches", "merge", False),
            ("user-events", "serve", False),
            None,
        ]
        produced = []
        for part, crash in zip(parts, crashes, strict=True):
            before = {topic: run.log_end(topic) for topic in ("user-events", "user-batches")}
            run.produce([play.json() for play in part] + ([BAD_RECORD] if crash is None else []))
            if crash:
                topic, instance, lose_disk = crash
                run.wait_for_growth(topic, before[topic])
                run.crash(instance, lose_disk)
            produced += part
            self.wait_until_sample_seen(run, produced, part)
            self.assert_sample_seen(run, produced)
            run.all_running()

    def sample(self, produced, of):
        """The first users of a part, with all they have played until now."""
        oracle = plays.by_user(produced)
        users = sorted({play.user for play in of})[:SAMPLE_USERS]
        return {user: sorted(oracle[user]) for user in users}

    def unseen(self, run, sample):
        """Plays of the sample that are not seen, or None as long as an answer is not complete."""
        missing = []
        for user, items in sample.items():
            answer = plays.query(run.grpc, user, items)
            if not answer["complete"]:
                return None
            missing += [(user, verdict["item"]) for verdict in answer["items"] if not verdict["seen"]]
        return missing

    def wait_until_sample_seen(self, run, produced, part):
        sample = self.sample(produced, part)
        processes.wait_for(lambda: self.unseen(run, sample) == [], 90, "the plays just produced are seen")

    def assert_sample_seen(self, run, produced):
        """Of users whose plays were seen long ago: complete answers say so at once."""
        for user, items in self.sample(produced, self.all_plays[: len(self.all_plays) // PARTS]).items():
            answer = plays.complete_answer(run.grpc, user, items)
            self.assertEqual([verdict["item"] for verdict in answer["items"] if not verdict["seen"]], [])

    def wait_until_only_filters_answer(self, run):
        """The last plays leave the recent ones a lap after the watermark has passed them."""
        last = self.all_plays[-1]

        def reason():
            return plays.query(run.grpc, last.user, [last.item])["items"][0].get("reason") == "filter"

        processes.wait_for(reason, 60 + 2 * chain.SLOTS * chain.SLOT_SECONDS, "the last play is answered by a filter")


class Kafka41(_Chain, law.LawCase):
    version = about = "4.1.0"


class Kafka39(_Chain, law.LawCase):
    version = about = "3.9.1"
