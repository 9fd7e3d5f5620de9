"""Brokers with an authorizer: each stage runs as a user of its own, with the rights that `bloomring acls` prints."""

import argparse
import contextlib
import shlex

import heavy
import installation
import kafka_admin
import kafka_server
import law
import plays
import processes

STAGES = ("merge", "window", "serve", "ingest")
PASSWORD = "open-sesame"


def rights_of(commands):
    """The rights that a shell would give by these lines: [(principal, kind, name, operations)]."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.add_argument("--bootstrap-server", required=True)
    parser.add_argument("--add", action="store_true", required=True)
    parser.add_argument("--allow-principal", required=True)
    parser.add_argument("--operation", action="append", required=True)
    parser.add_argument("--topic")
    parser.add_argument("--group")
    rights = []
    for line in commands.splitlines():
        program, *words = shlex.split(line)
        assert program == "kafka-acls.sh", line
        found = parser.parse_args(words)
        kind = "topic" if found.topic else "group"
        rights.append((found.allow_principal, kind, found.topic or found.group, found.operation))
    return rights


class Acls(law.LawCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.folder = self.stack.enter_context(processes.temp_folder("acls"))
        users = {f"bloomring-{stage}": PASSWORD for stage in STAGES}
        self.server = self.stack.enter_context(
            kafka_server.KafkaServer(kafka_server.VERSIONS[0], self.folder / "kafka", users=users)
        )
        self.site = installation.Installation(self.folder, self.server.bootstrap, "guarded")
        self.password = self.folder / "password"
        self.password.write_text(PASSWORD + "\n")
        self.password.chmod(0o600)

    def process(self, stage):
        """One stage as its own user, whose password is in a file."""
        return self.site.process(
            stage,
            env={
                "BLOOMRING_KAFKA_BOOTSTRAP": self.server.guarded_bootstrap,
                "BLOOMRING_KAFKA_PROPERTIES_SECURITY_PROTOCOL": "SASL_PLAINTEXT",
                "BLOOMRING_KAFKA_PROPERTIES_SASL_MECHANISMS": "PLAIN",
                "BLOOMRING_KAFKA_PROPERTIES_SASL_USERNAME": f"bloomring-{stage}",
                "BLOOMRING_KAFKA_PROPERTIES_SASL_PASSWORD_FILE": str(self.password),
                "BLOOMRING_PROCESS_START_SECONDS": "20",
            },
        )

    def test_least_rights(self):
        """acls: with the printed rights and no others the whole chain works; without them a start says what it may not see"""
        with self.process("merge") as refused:
            code = refused.wait(bound_s=90)
            said = refused.err.read_text()
            self.assertEqual(code, 1, said)
            self.assertIn("or this user may not see it", said)
            self.assertNotIn(PASSWORD, said)
        kafka_admin.allow(self.server.bootstrap, rights_of(self.site.command("acls", "--output", "commands")[1]))
        ready = {}
        for stage in STAGES:
            process = self.stack.enter_context(self.process(stage))
            ready[stage] = (process, process.ready_line())
        serve, addresses = ready["serve"]
        oracle = self.site.play_heavily(heavy.ONE)
        self.site.play(["v1", "v2"])
        self.site.wait_until_answered(serve, addresses["grpc"], ["v1", "v2"], {"recent", "filter"})
        self.site.wait_until_lap_over(serve, addresses["admin"])
        self.site.wait_until_answered(serve, addresses["grpc"], ["v1", "v2"], {"filter"})
        self.assertEqual(heavy.check(addresses["grpc"], oracle).wrong(), [])
        processes.run(
            [plays.binary(), "served", "--server", addresses["grpc"], "--user", "u7", "shown"], bound_s=60
        )
        self.site.wait_until_answered(serve, addresses["grpc"], ["shown"], {"served"})
        for stage, (process, _) in ready.items():
            self.assertTrue(process.running(), process.describe(f"{stage} still runs"))
            said = process.err.read_text()
            self.assertNotIn("uthorization", said)
            self.assertNotIn(PASSWORD, said)
