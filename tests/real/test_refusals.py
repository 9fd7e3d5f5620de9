"""Nothing is dropped silently: what ingest refuses is found again, with its reason and its bytes."""

import json
import re
import time

import chain
import kafka_admin
import kafka_server
import law
import plays
import processes


def refused(now_ms):
    """A record for each reason of the closed list of refusals."""

    def play(**fields):
        return json.dumps({"user": "u1", "item": "v1", "time": now_ms, **fields})

    return {
        "malformed_json": '{"user":"u1","item":',
        "missing_field": json.dumps({"user": "u1", "time": now_ms}),
        "wrong_type": play(item=["v1"]),
        "empty_id": play(user=""),
        "id_too_long": play(item="v" * 129),
        "time_too_early": play(time=1),
        "time_ahead": play(time=now_ms + 25 * 3_600_000),
        "unknown_event": play(event="dance"),
        "unknown_scene": play(scene="fed"),
        "repeated_field": play()[:-1] + ', "us\\u0065r": "u2"}',
        "forget_not_allowed": play(event="forget_all"),
        "too_large": play(comment="x" * 70_000),
        "not_utf8": play(item="v?").replace("?", "\udcff"),
    }


class Refusals(law.LawCase):
    def test_dead_letters(self):
        """ingest: each refused record is in plays-dead with its reason, its place and its bytes"""
        with (
            processes.temp_folder("refusals") as folder,
            kafka_server.KafkaServer(kafka_server.VERSIONS[0], folder / "kafka") as server,
        ):
            scenes = {"ingest": {"events.scenes": '["", feed]', "events.forget": "false"}}
            run = chain.Chain(folder, server.bootstrap, {"ingest": "ingest"}, scenes)
            run.make_topics()
            with run:
                records = refused(int(time.time() * 1000))
                run.produce(
                    [*records.values(), json.dumps({"user": "u1", "item": "v1", "time": int(time.time() * 1000)})]
                )
                run.wait_until_committed("ingest", "plays", 60)
                letters = processes.kcat_consume(server.bootstrap, "plays-dead")
                by_place = {
                    (record["partition"], record["offset"]): record["payload"]
                    for record in processes.kcat_consume(server.bootstrap, "plays")
                }
                found, places = {}, set()
                for letter in letters:
                    headers = dict(
                        re.findall(r"bloomring\.error\.(reason|topic|partition|offset)=([^,]*)", letter["headers"])
                    )
                    self.assertEqual(headers["topic"], "plays")
                    self.assertEqual(by_place[headers["partition"], headers["offset"]], letter["payload"])
                    found[headers["reason"]] = letter["payload"]
                    places.add((headers["partition"], headers["offset"]))
                self.assertEqual(found, records)
                self.assertEqual(len(places), len(records))  # A record that is read again has another letter.
                self.accepts(run)

    def test_big_records(self):
        """ingest: a record as large as its topic takes is refused with its length, and stops no other"""
        with (
            processes.temp_folder("big-records") as folder,
            kafka_server.KafkaServer(kafka_server.VERSIONS[0], folder / "kafka") as server,
        ):
            kafka_admin.create_topic(server.bootstrap, "plays", chain.PARTITIONS, max_message_bytes=10_500_000)
            run = chain.Chain(folder, server.bootstrap, {"ingest": "ingest"})
            run.make_topics()
            now_ms = int(time.time() * 1000)
            with run:
                for length, codec in ((1_000_001, "none"), (10_000_000, "none"), (3_000_000, "zstd")):
                    limits = [f"message.max.bytes={length + 1000}", f"compression.codec={codec}"]
                    processes.kcat_produce(server.bootstrap, "plays", ["x" * length], limits)
                run.produce([json.dumps({"user": "u1", "item": "v1", "time": now_ms})])
                run.wait_until_committed("ingest", "plays", 60)
                lengths = {}
                for letter in processes.kcat_consume(server.bootstrap, "plays-dead"):
                    headers = dict(re.findall(r"bloomring\.error\.(\w+)=([^,]*)", letter["headers"]))
                    self.assertEqual(headers["reason"], "too_large")
                    self.assertEqual(set(letter["payload"]), {"x"})
                    lengths[int(headers["value_bytes"])] = len(letter["payload"])
                self.assertEqual(set(lengths), {1_000_001, 10_000_000, 3_000_000})
                self.assertTrue(all(800_000 < kept <= 1_000_000 for kept in lengths.values()), lengths)
                self.accepts(run)

    def accepts(self, run):
        """The one good record was taken; once more where it was read again."""
        (accepted,) = processes.values(
            processes.metrics(run.admin_of("ingest")), "bloomring_ingest_records_total", result="accepted"
        )
        self.assertGreaterEqual(accepted, 1)

    def test_small_topic(self):
        """run, check: a topic of ours that takes less than its records need is refused, with what it needs"""
        with (
            processes.temp_folder("small-topic") as folder,
            kafka_server.KafkaServer(kafka_server.VERSIONS[0], folder / "kafka") as server,
        ):
            kafka_admin.create_topic(server.bootstrap, "plays-dead", 1, max_message_bytes=500_000)
            path = chain.write_config(folder, server.bootstrap, "ingest")
            processes.run([plays.binary(), "topics", "--execute", "--create-plays", "--config", path], check=False)
            for command in (["check"], ["run", "--stages", "ingest"]):
                with self.subTest(command[0]):
                    code, _, err = processes.run([plays.binary(), *command, "--config", path], 60, check=False)
                    self.assertEqual(code, 2, err)
                    for word in ("plays-dead", "max.message.bytes", "500000", "1000000"):
                        self.assertIn(word, err)
