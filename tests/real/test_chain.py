"""The main law on real parts: what the log accepted is never unseen, whoever is killed."""

import random
import time

import chain
import heavy
import kafka_server
import law
import plays
import processes

PARTS = 6
SAMPLE_USERS = 12  # Besides the heavy ones.
BAD_RECORD = '{"user":"u1","item":'


def mixed(now_ms):
    """The plays of tests/data, the last one now, with those of the heavy users among them."""
    light, rng = plays.read(last_play_ms=now_ms), random.Random(1)
    places = [(rng.uniform(0, len(light)), play) for play in heavy.heavy_plays(now_ms)]
    return [play for _, play in sorted([*enumerate(light), *places], key=lambda place: place[0])]


class _Chain:
    """The tests of one Kafka version; the classes below give it."""

    version = None

    def test_law(self):
        """chain: every play is seen through kill -9 of each kind of process, of light users and of heavy ones, and strangers
        are seen no more often than answers say"""
        with (
            processes.temp_folder("chain") as folder,
            kafka_server.KafkaServer(self.version, folder / "kafka") as server,
        ):
            self.all_plays = mixed(int(time.time() * 1000))
            run = chain.Chain(folder, server.bootstrap)
            run.make_topics()
            with run:
                self.crash_each(run)
                run.wait_until_merged()
                self.wait_until_only_filters_answer(run)
                self.check_every_user(run)
                dead = [record["payload"] for record in processes.kcat_consume(server.bootstrap, "plays-dead")]
                self.assertEqual(set(dead), {BAD_RECORD})
                self.assertEqual(set(run.stop().values()), {0})

    def crash_each(self, run):
        """Each part of the plays goes in, and in the middle of its processing one process is killed. What a complete
        answer has once shown as seen must be seen for ever after."""
        crashes = [
            ("user-events", "ingest", False),
            ("user-batches", "window-1", False),
            ("user-batches", "window-2", True),
            ("user-batches", "merge", False),
            ("user-events", "serve", False),
            None,
        ]
        produced = []
        for part, crash in zip(self.parts(PARTS), crashes, strict=True):
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

    def parts(self, count):
        size = -(-len(self.all_plays) // count)
        return [self.all_plays[at : at + size] for at in range(0, len(self.all_plays), size)]

    def check_every_user(self, run):
        """All plays are seen, from filters alone, and no more strangers than answers say."""
        oracle = plays.by_user(self.all_plays)
        # Heavy users first: no filter of theirs has been read since it was merged.
        for report in (
            heavy.check(run.grpc, {user: oracle[user] for user in heavy.USERS}),
            plays.check_all(run.grpc, oracle),
        ):
            print(f"\n{self.about}: {report}", flush=True)
            self.assertEqual(report.wrong(), [])
            self.assertGreaterEqual(report.reasons["filter"], 0.99 * report.played)
        self.assertEqual(report.users, 664 + len(heavy.USERS))

    def sample(self, produced, of):
        """The first users of a part and the heavy ones, with all they have played until now."""
        oracle = plays.by_user(produced)
        users = sorted({play.user for play in of} - set(heavy.USERS))[:SAMPLE_USERS] + list(heavy.USERS)
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
        processes.wait_for(lambda: self.unseen(run, sample) == [], 180, "the plays just produced are seen")

    def assert_sample_seen(self, run, produced):
        """Of users whose plays were seen long ago: complete answers say so at once."""
        for user, items in self.sample(produced, self.all_plays[: len(self.all_plays) // PARTS]).items():
            answer = plays.complete_answer(run.grpc, user, items)
            self.assertEqual([verdict["item"] for verdict in answer["items"] if not verdict["seen"]], [])

    def wait_until_only_filters_answer(self, run):
        """The last plays leave the recent ones a lap after the watermark has passed them. A question would put filters
        into the cache."""

        def recent():
            return sum(processes.values(processes.metrics(run.admin_of("serve")), "bloomring_recent_entries"))

        bound_s = 60 + 2 * chain.SLOTS * chain.SLOT_SECONDS
        processes.wait_for(lambda: recent() == 0, bound_s, lambda: f"{recent()} recent plays go")


class Kafka41(_Chain, law.LawCase):
    version = about = "4.1.0"


class Kafka39(_Chain, law.LawCase):
    version = about = "3.9.1"
