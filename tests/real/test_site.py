"""The commands of docs/quickstart.md, word by word, on a real broker: a site's own plays in, a question answered."""

import json
import os
import re

import chain
import kafka_admin
import kafka_server
import law
import plays
import processes

BOUND_S = 120
MISSING = 3  # Topics are.
BROKER = "kafka-1:9092"  # The quickstart's; here that of the test takes its place.
SEND = r'''echo "{\"user\": 17, \"video_id\": \"v4711\", \"time\": $(date +%s)}" | kcat -P -b kafka-1:9092 -t video-plays'''
LISTENS = "127.0.0.1:7700"  # The quickstart's address; here a free port takes its place.


def site_yaml():
    """The configuration in docs/quickstart.md, which the environment below fits to this machine."""
    text = (processes.ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
    return re.search(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL).group(1)


class Quickstart(law.LawCase):
    def environment(self, folder, bootstrap):
        return {
            "PATH": f"{plays.binary().parent}:{os.environ['PATH']}",
            "BLOOMRING_KAFKA_BOOTSTRAP": bootstrap,
            "BLOOMRING_TOPICS_REPLICATION": "1",
            "BLOOMRING_TOPICS_PARTITIONS": str(chain.PARTITIONS),
            "BLOOMRING_RING_SLOT_SECONDS": str(chain.SLOT_SECONDS),
            "BLOOMRING_STORE_PATH": str(folder / "store"),
            "BLOOMRING_STATE_PATH": str(folder / "state"),
            "BLOOMRING_SERVE_LISTEN": "127.0.0.1:0",
            "BLOOMRING_SERVE_DRAIN_SECONDS": "0",
            "BLOOMRING_ADMIN_LISTEN": "127.0.0.1:0",
        }

    def typed(self, command, code=0):
        """Standard output of a command that must end with this code."""
        words = [
            "env",
            "-C",
            str(self.folder),
            *(f"{name}={value}" for name, value in self.env.items()),
            *command.split(),
        ]
        ended, out, err = processes.run(words, BOUND_S, check=False)
        self.assertEqual(ended, code, err)
        return out

    def test_site(self):
        """quickstart: topics, check, run, query and inspect work as they stand there, with a site's own field names"""
        with (
            processes.temp_folder("quickstart") as self.folder,
            kafka_server.KafkaServer(kafka_server.VERSIONS[0], self.folder / "kafka") as server,
        ):
            self.env = self.environment(self.folder, server.bootstrap)
            (self.folder / "site.yaml").write_text(site_yaml())
            kafka_admin.create_topic(server.bootstrap, "video-plays", 1)
            self.typed("bloomring check --offline --config site.yaml")
            self.assertIn("user-events", self.typed("bloomring topics --config site.yaml", MISSING))
            self.typed("bloomring topics --config site.yaml --execute")
            self.typed("bloomring check --config site.yaml")
            run = "bloomring run --config site.yaml".split()
            with processes.Process("run", ["env", "-C", str(self.folder), *run], self.folder, self.env) as process:
                grpc = process.ready_line(BOUND_S)["grpc"]
                processes.run(["bash", "-c", SEND.replace(BROKER, server.bootstrap)], BOUND_S)
                self.wait_for_reason(process, grpc, "recent")
                self.wait_for_reason(process, grpc, "filter")
                self.check_inspect()
                self.assertEqual(process.term(), 0)

    def test_generate(self):
        """generate: plays in the site's field names; into a topic only where its name and --execute are typed"""
        with (
            processes.temp_folder("generate") as self.folder,
            kafka_server.KafkaServer(kafka_server.VERSIONS[0], self.folder / "kafka") as server,
        ):
            self.env = self.environment(self.folder, server.bootstrap)
            (self.folder / "site.yaml").write_text(site_yaml())
            kafka_admin.create_topic(server.bootstrap, "video-plays", 1)
            generate = "bloomring generate --config site.yaml --plays 7 --users 3"
            fields = {"user", "video_id", "time", "event", "progress_ms", "duration_ms"}
            lines = self.typed(generate).splitlines()
            self.assertEqual([set(json.loads(line)) for line in lines], [fields] * 7)
            plan = json.loads(self.typed(f"{generate} --topic video-plays"))
            self.assertEqual((plan["executed"], plan["partitions"], set(plan["first"])), (False, 1, fields))
            self.assertEqual(processes.end_offsets(server.bootstrap, "video-plays", 1), {0: 0})
            written = json.loads(self.typed(f"{generate} --topic video-plays --execute"))
            self.assertEqual(written["plays"], 7)
            self.assertEqual(processes.end_offsets(server.bootstrap, "video-plays", 1), {0: 7})

    def wait_for_reason(self, process, grpc, reason):
        query = "bloomring query --server 127.0.0.1:7700 --user 17 v4711 v4712".replace(LISTENS, grpc)

        def answered():
            items = json.loads(self.typed(query))["items"]
            self.assertEqual((items[1]["item"], items[1]["seen"]), ("v4712", False))
            return items[0]["seen"] and items[0]["reason"] == reason

        process.wait_until(answered, BOUND_S, f"v4711 seen ({reason})")

    def check_inspect(self):
        user = json.loads(self.typed("bloomring inspect user --config site.yaml --user 17"))
        self.assertEqual([(one["items"], one["checksum"]) for one in user["filters"]], [(1, "ok")])
        ring = json.loads(self.typed("bloomring inspect ring --config site.yaml"))
        of_user = ring["partitions"][user["partition"]]
        self.assertGreater(of_user["merged_offset"], 0)
        self.assertGreater(of_user["applied_offset"], 0)
        self.assertEqual(of_user["slot_states"].count("filling"), 1)
        self.assertEqual(of_user["staged"][-1]["state"], "filling")
        store = json.loads(self.typed("bloomring inspect store --config site.yaml"))
        self.assertEqual((store["unreadable"], sum(period["filters"] for period in store["periods"])), (0, 1))
