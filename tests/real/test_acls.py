"""Brokers with an authorizer: each stage runs as a user of its own, with the rights that `bloomring acls` prints."""

import argparse
import contextlib
import json
import shlex
import time

import heavy
import installation
import kafka_admin
import kafka_server
import law
import plays
import processes

STAGES = ("merge", "window", "serve", "ingest")
USERS = (*STAGES, "jobs")
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


def single(rights):
    """A row for each operation."""
    return [(who, kind, name, operation) for who, kind, name, operations in rights for operation in operations]


class Acls(law.LawCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.folder = self.stack.enter_context(processes.temp_folder("acls"))
        users = {f"bloomring-{stage}": PASSWORD for stage in USERS}
        self.server = self.stack.enter_context(
            kafka_server.KafkaServer(kafka_server.VERSIONS[0], self.folder / "kafka", users=users)
        )
        self.site = installation.Installation(self.folder, self.server.bootstrap, "guarded")
        self.password = self.folder / "password"
        self.password.write_text(PASSWORD + "\n")
        self.password.chmod(0o600)

    def login(self, stage):
        """The environment in which a command comes as the user of a stage, whose password is in a file."""
        return {
            "BLOOMRING_KAFKA_BOOTSTRAP": self.server.guarded_bootstrap,
            "BLOOMRING_KAFKA_PROPERTIES_SECURITY_PROTOCOL": "SASL_PLAINTEXT",
            "BLOOMRING_KAFKA_PROPERTIES_SASL_MECHANISMS": "PLAIN",
            "BLOOMRING_KAFKA_PROPERTIES_SASL_USERNAME": f"bloomring-{stage}",
            "BLOOMRING_KAFKA_PROPERTIES_SASL_PASSWORD_FILE": str(self.password),
            "BLOOMRING_PROCESS_START_SECONDS": "20",
        }

    def process(self, stage):
        return self.site.process(stage, env=self.login(stage))

    def check(self, *words, login=None):
        """The findings of `bloomring check` about rights: (the names of users without an error, errors, warnings, notes)."""
        variables = [f"{key}={value}" for key, value in self.login(login).items()] if login else []
        command = ["env", *variables, plays.binary(), "check", "--config", self.site.path, *words]
        out = processes.run(command, check=False, bound_s=90)[1]
        said = json.loads(out)
        lines = {severity: [] for severity in ("error", "warning")}
        for finding in said["findings"]:
            lines[finding["severity"]].append(f"{finding['reason']}; {finding['way_out']}")
        about = [part.removeprefix("rights of ") for part in said["checked"] if part.startswith("rights of ")]
        errors = [line for line in lines["error"] if "lacks the right" in line]
        warnings = [line for line in lines["warning"] if "has the right" in line or line.startswith("rights: ")]
        return about, errors, warnings, said.get("notes", [])

    def printed(self):
        return self.site.command("acls", "--output", "commands")[1]

    def of_stages(self):
        """The users that check compares: jobs run as whoever starts them."""
        return [right for right in rights_of(self.printed()) if right[0] != "User:bloomring-jobs"]

    def allow_least(self):
        kafka_admin.allow(self.server.bootstrap, rights_of(self.printed()))

    def test_check(self):
        """acls: check names each right that a user lacks, with the command that grants it, and each beyond the least"""
        names = ["User:bloomring-" + stage for stage in STAGES]
        every = ("--user", "bloomring-{stage}")
        # An answer without any ACL says nothing.
        about, errors, warnings, notes = self.check(*every)
        self.assertEqual((about, errors, warnings, len(notes)), ([], [], [], 1))
        kafka_admin.allow(self.server.bootstrap, [("User:stranger", "topic", "foreign", ["Read"])])
        about, errors, warnings, notes = self.check(*every)
        self.assertEqual((about, warnings, notes), ([], [], []))
        granted = [line.split("grant it: ")[1] for line in errors]
        self.assertEqual(sorted(single(rights_of("\n".join(granted)))), sorted(single(self.of_stages())))
        # Its own commands are enough.
        kafka_admin.allow(self.server.bootstrap, rights_of("\n".join(granted)))
        self.assertEqual(self.check(*every), (sorted(names), [], [], []))
        more = [
            ("User:bloomring-merge", "cluster", "kafka-cluster", ["Alter"]),
            ("User:bloomring-merge", "topic", "foreign", ["Write"]),
            ("User:bloomring-serve", "topic", "*", ["All"]),
        ]
        kafka_admin.allow(self.server.bootstrap, more)
        about, errors, warnings, notes = self.check(*every)
        self.assertEqual((about, errors, notes), (sorted(names), [], []))
        self.assertEqual(
            sorted(line.split(", which")[0] for line in warnings),
            [
                "cluster: User:bloomring-merge has the right Alter",
                "every topic: User:bloomring-serve has the right All",
                "topic foreign: User:bloomring-merge has the right Write",
            ],
        )

    def test_own_user(self):
        """acls: check as a stage's own user says what it could not see, and finds by trial which settings and groups are refused"""
        as_merge = ("--set", "stages=[merge]")
        _, errors, _, notes = self.check(*as_merge, login="merge")
        self.assertEqual(len(notes), 1)
        self.assertIn("the brokers show User:bloomring-merge no ACL", notes[0])
        self.assertIn("group guarded-merge: User:bloomring-merge lacks the right Read; ", "\n".join(errors))
        self.assertEqual(sum("lacks the right DescribeConfigs" in line for line in errors), 3, errors)
        self.allow_least()
        _, errors, warnings, notes = self.check(*as_merge, login="merge")
        self.assertEqual((errors, warnings, len(notes)), ([], [], 1))
        kafka_admin.allow(
            self.server.bootstrap, [("User:bloomring-merge", "cluster", "kafka-cluster", ["Describe"])]
        )
        self.assertEqual(self.check(*as_merge, login="merge"), (["User:bloomring-merge"], [], [], []))
        # A super user has rights that no ACL names.
        about, errors, warnings, notes = self.check()
        self.assertEqual((about, errors, notes), ([], [], []))
        self.assertIn("the brokers let User:ANONYMOUS see the ACLs though no ACL allows that", warnings[0])

    def job(self, *words, code=0):
        """The report of a job that comes as the user of jobs."""
        variables = [f"{key}={value}" for key, value in self.login("jobs").items()]
        command = ["env", *variables, plays.binary(), *words, "--config", self.site.path]
        got, out, err = processes.run(command, check=False, bound_s=120)
        self.assertEqual(got, code, (words, out, err))
        self.assertNotIn(PASSWORD, err)
        return out

    def test_jobs(self):
        """acls: with the printed rights jobs are started, listed and done, and without them a job says what it may not do"""
        out = self.job("replay", "--name", "history", "--unwatched", "--execute", code=2)
        self.assertIn("may not be seen", out)
        self.allow_least()
        refused = {"user": "u7", "video": "v1", "time": int(time.time() * 1000)}
        with self.process("ingest") as process:
            ready = process.ready_line()
            played = [play for items in self.site.play_heavily(heavy.ONE).values() for play in items]
            processes.kcat_produce(self.server.bootstrap, "plays-guarded", [json.dumps(refused)])
            self.site.wait_until_ingested(process, ready, len(played) + 1)
            self.assertEqual(process.term(), 0)
        before = sum(self.site.ends().values())
        report = json.loads(self.job("replay", "--name", "history", "--unwatched", "--rate", "1000000", "--execute", code=3))
        self.assertEqual(report["counts"]["written"], len(played))
        self.assertGreater(sum(self.site.ends().values()), before)
        # As the blocks of another installation.
        blocks = ("replay", "--name", "blocks", "--form", "blocks", "--unwatched", "--rate", "1000000", "--execute")
        self.assertEqual(json.loads(self.job(*blocks))["state"], "done")
        listed = json.loads(self.job("dlq", "list"))
        self.assertEqual(listed["letters"], 2)
        site = json.loads(self.site.path.read_text())
        site["events"] = {"item": "video"}  # Ingest would take the letters: its own, and that of the replay.
        self.site.path.write_text(json.dumps(site))
        report = json.loads(self.job("dlq", "replay", "--name", "letters", "--unwatched", "--execute"))
        self.assertEqual(report["state"], "done")
        records = processes.kcat_consume(self.server.bootstrap, "plays-guarded")
        self.assertEqual(sum('"video"' in record["payload"] for record in records), 3)
        self.assertEqual({job["job"] for job in json.loads(self.job("jobs"))["jobs"]}, {"history", "blocks", "letters"})
        self.job("jobs", "rate", "history", "5")
        self.job("jobs", "remove", "history")

    def test_least_rights(self):
        """acls: with the printed rights and no others the whole chain works; without them a start says what it may not see"""
        with self.process("merge") as refused:
            code = refused.wait(bound_s=90)
            said = refused.err.read_text()
            self.assertEqual(code, 1, said)
            self.assertIn("or this user may not see it", said)
            self.assertNotIn(PASSWORD, said)
        self.allow_least()
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
