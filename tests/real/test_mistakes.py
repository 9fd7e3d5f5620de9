"""A mistake of a person gets a clear answer at once: the fault, its place, and an exit code that scripts can use."""

import json
import re

import chain
import kafka_admin
import kafka_server
import law
import plays
import processes

WRONG = 2  # the command line or the configuration
FAILED = 1  # everything else
BOUND_S = 90


class Mistakes(law.LawCase):
    def bloomring(self, *arguments):
        """(exit code, standard error) of a command that must end by itself."""
        code, _, err = processes.run([plays.binary(), *arguments], BOUND_S, check=False)
        return code, err

    def write(self, folder, name, settings):
        path = folder / f"{name}.yaml"
        path.write_text(settings if isinstance(settings, str) else json.dumps(settings))
        return path

    def test_misspelt_key(self):
        """check: a misspelt key is named with its line and the nearest known key"""
        with processes.temp_folder("mistakes") as folder:
            path = self.write(folder, "misspelt", "kafka: {bootstrap: '127.0.0.1:1'}\nring:\n  slot_second: 4\n")
            code, err = self.bloomring("check", "--offline", "--config", path)
            self.assertEqual(code, WRONG, err)
            self.assertIn("misspelt.yaml:3", err)
            self.assertRegex(err, r"slot_second\b")
            self.assertRegex(err, r"slot_seconds\b")

    def test_unreachable_broker(self):
        """run, check, topics: a broker that is not there is named"""
        with processes.temp_folder("mistakes") as folder:
            nobody = f"127.0.0.1:{processes.free_port()}"
            changes = {"process.start_seconds": 1}
            path = self.write(folder, "unreachable", chain.config(folder, nobody, "window-1", changes))
            for command in (["check"], ["topics"], ["run", "--stages", "window"]):
                with self.subTest(command[0]):
                    code, err = self.bloomring(*command, "--config", path)
                    self.assertEqual(code, FAILED, err)
                    self.assertIn(nobody, err)

    def test_short_retention(self):
        """run, check: a log that is kept for too short is warned of, with what the ring needs"""
        with (
            processes.temp_folder("mistakes") as folder,
            kafka_server.KafkaServer(kafka_server.VERSIONS[0], folder / "kafka") as server,
        ):
            kafka_admin.create_topic(
                server.bootstrap,
                "user-events",
                chain.PARTITIONS,
                message_timestamp_type="LogAppendTime",
                retention_ms=3_600_000,
            )
            path = chain.write_config(folder, server.bootstrap, "window", {"ring.slot_seconds": 3600})
            processes.run([plays.binary(), "topics", "--execute", "--create-plays", "--config", path])
            warning = r"retention\.ms is 3600000 \(1 h\), shorter than the ring needs: 6 slots .* make 9 h"

            def checked():  # A broker may need a moment to know of topics that were just made.
                _, out, _ = processes.run([plays.binary(), "check", "--config", path], check=False)
                return re.search(warning, out)

            processes.wait_for(checked, 60, "check warns of the retention")
            command = [plays.binary(), "run", "--stages", "window,merge", "--config", path]
            with processes.Process("window", command, folder) as run:
                run.wait_until(lambda: re.search(warning, run.tail(100)), 60, "the same warning")
                self.assertEqual(run.term(), 0)

    def test_no_log_append_time(self):
        """run, check: topics of ours whose log time producers set are refused, each with the command that mends it"""
        with (
            processes.temp_folder("mistakes") as folder,
            kafka_server.KafkaServer(kafka_server.VERSIONS[0], folder / "kafka") as server,
        ):
            ours = {"user-events": chain.PARTITIONS, "user-batches": chain.PARTITIONS, "plays-dead": 1}
            for topic, partitions in ours.items():
                kafka_admin.create_topic(server.bootstrap, topic, partitions)
            path = self.write(folder, "site", chain.config(folder, server.bootstrap, "window"))
            processes.run([plays.binary(), "topics", "--execute", "--create-plays", "--config", path], check=False)
            for command in (["check"], ["run", "--stages", "window,merge"]):
                with self.subTest(command[0]):
                    code, err = self.bloomring(*command, "--config", path)
                    self.assertEqual(code, WRONG, err)
                    for topic in ours:
                        way_out = rf"--entity-name {topic} --add-config message\.timestamp\.type=LogAppendTime"
                        self.assertRegex(err, rf"{topic}: message\.timestamp\.type is CreateTime, .*{way_out}")

    def test_partition_counts(self):
        """run, check: topics or state of another partition count are refused, both counts named"""
        with (
            processes.temp_folder("mistakes") as folder,
            kafka_server.KafkaServer(kafka_server.VERSIONS[0], folder / "kafka") as server,
        ):
            right = chain.config(folder, server.bootstrap, "window-1")
            path = self.write(folder, "right", right)
            processes.run([plays.binary(), "topics", "--execute", "--create-plays", "--config", path])
            with processes.Process(
                "window-1", [plays.binary(), "run", "--stages", "window,merge", "--config", path], folder
            ) as window:
                window.ready_line()
                self.assertEqual(window.term(), 0)

            wrong = self.write(folder, "wrong", {**right, "topics": {**right["topics"], "partitions": 20}})
            for command in (["check"], ["run", "--stages", "window"]):
                with self.subTest(f"topics, {command[0]}"):
                    code, err = self.bloomring(*command, "--config", wrong)
                    self.assertIn(code, (WRONG, FAILED), err)
                    for word in ("user-events", "10", "20"):
                        self.assertIn(word, err)

            renamed = {
                **right,
                "topics": {
                    **right["topics"],
                    "partitions": 20,
                    "user_events": "events-20",
                    "user_batches": "batches-20",
                },
            }
            path = self.write(folder, "renamed", renamed)
            processes.run([plays.binary(), "topics", "--execute", "--create-plays", "--config", path])
            with self.subTest("state"):
                code, err = self.bloomring("run", "--stages", "window", "--config", path)
                self.assertIn(code, (WRONG, FAILED), err)
                for word in ("10", "20"):
                    self.assertIn(word, err)
