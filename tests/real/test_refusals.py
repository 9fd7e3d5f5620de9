"""Nothing is dropped silently: what ingest refuses is found again, with its reason and its bytes."""

import json
import re
import time

import chain
import kafka_server
import law
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
        "time_ahead": play(time=now_ms + 3_600_000),
        "unknown_event": play(event="dance"),
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
            run = chain.Chain(folder, server.bootstrap, {"ingest": "ingest"})
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
                found = {}
                for letter in letters:
                    headers = dict(
                        re.findall(r"bloomring\.error\.(reason|topic|partition|offset)=([^,]*)", letter["headers"])
                    )
                    self.assertEqual(headers["topic"], "plays")
                    self.assertEqual(by_place[headers["partition"], headers["offset"]], letter["payload"])
                    found[headers["reason"]] = letter["payload"]
                self.assertEqual(found, records)
                self.assertEqual(len(letters), len(records))
                self.assertEqual(run.log_end("user-events"), 1)
