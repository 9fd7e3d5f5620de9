"""Two serve processes that hold half of the partitions each and ask each other over mutual TLS."""

import json
import time

import certificates
import chain
import heavy
import kafka_server
import law
import plays
import processes

INSTANCES = {"merge": "merge", "window": "window", "serve-0": "serve", "serve-1": "serve", "ingest": "ingest"}
BOTH = ("serve-0", "serve-1")
USERS = [f"u{i}" for i in range(20)]  # over all partitions
FRESH_BOUND_S = 60


class Forwarding(law.LawCase):
    def test_forwarding(self):
        """forwarding: any replica answers for all, over mutual TLS; without the other one it says which part it lacks"""
        with (
            processes.temp_folder("forwarding") as folder,
            kafka_server.KafkaServer("4.1.0", folder / "kafka") as server,
        ):
            certificates.make(folder)
            self.heavy_plays = heavy.heavy_plays(int(time.time() * 1000))
            self.tls = [
                "--tls-ca",
                folder / "ca.pem",
                "--tls-cert",
                folder / "own.pem",
                "--tls-key",
                folder / "own.key",
            ]
            run = chain.Chain(folder, server.bootstrap, INSTANCES, self.settings(folder))
            run.make_topics()
            with run:
                run.produce(
                    [json.dumps({"user": user, "item": "v1", "time": int(time.time() * 1000)}) for user in USERS]
                )
                for instance in BOTH:
                    processes.wait_for(
                        lambda: all(
                            self.reasons(run, instance, user) in (["recent", None], ["filter", None]) for user in USERS
                        ),
                        FRESH_BOUND_S,
                        f"{instance} answers for every user",
                    )
                self.assertGreater(self.forwarded(run, "answered"), 0)
                self.writes_are_forwarded(run)
                self.heavy_users_are_forwarded(run)
                self.strangers_are_not_answered(run)
                self.one_is_lost(run)

    def settings(self, folder):
        """Ports are chosen before, so that each can know the other's."""
        self.addresses = [f"127.0.0.1:{processes.free_port()}" for _ in BOTH]
        both = {
            "serve.replica_count": 2,
            "serve.replication_factor": 1,
            "serve.peers": ",".join(self.addresses),
            "serve.tls_certificate": folder / "own.pem",
            "serve.tls_key": folder / "own.key",
            "serve.tls_client_ca": folder / "ca.pem",
        }
        return {
            name: {**both, "serve.replica_index": i, "serve.listen": self.addresses[i]} for i, name in enumerate(BOTH)
        }

    def call(self, run, instance, command, *arguments, check=True):
        return processes.run([plays.binary(), command, "--server", run.grpc_of(instance), *arguments], check=check)

    def reasons(self, run, instance, user):
        """Why v1 and v2 are seen, by the first complete answer: one that waits too long for the other replica says so."""
        answer = plays.complete_answer(run.grpc_of(instance), user, ["v1", "v2"], self.tls)
        return [verdict.get("reason") for verdict in answer["items"]]

    def forwarded(self, run, result):
        return sum(
            sum(
                processes.values(
                    processes.metrics(run._ready[instance]["admin"]), "bloomring_calls_forwarded_total", result=result
                )
            )
            for instance in BOTH
        )

    def writes_are_forwarded(self, run):
        """Seen at once through either replica: the holder took it, whoever was asked."""
        for user in USERS:
            self.call(run, "serve-0", "served", *self.tls, "--user", user, "v2")
            for instance in BOTH:
                self.assertIn(self.reasons(run, instance, user), (["recent", "served"], ["filter", "served"]))

    def heavy_users_are_forwarded(self, run):
        """Every candidate of the largest request, by filters alone, through the holder and through the other one."""
        run.produce([play.json() for play in self.heavy_plays])
        run.wait_until_merged()

        def recent():
            return sum(
                sum(processes.values(processes.metrics(run.admin_of(instance)), "bloomring_recent_entries"))
                for instance in BOTH
            )

        processes.wait_for(lambda: recent() == 0, 60 + 2 * chain.SLOTS * chain.SLOT_SECONDS, "the lap is over")
        for instance in BOTH:
            report = heavy.check(run.grpc_of(instance), plays.by_user(self.heavy_plays), options=self.tls)
            self.assertEqual(report.wrong(), [], instance)

    def strangers_are_not_answered(self, run):
        for tls in ([], self.tls[:2]):
            code, out, _ = self.call(run, "serve-0", "query", *tls, "--user", "u1", "v1", check=False)
            self.assertEqual((code, list(json.loads(out))), (1, ["error"]))

    def one_is_lost(self, run):
        run._processes["serve-1"].kill9()
        answered = 0

        def ask(user):
            return self.call(run, "serve-0", "query", *self.tls, "--user", user, "v1", check=False)

        for user in USERS:
            code, _, err = ask(user)
            if code == 0:
                answered += 1
                processes.wait_for(lambda user=user: json.loads(ask(user)[1])["complete"], FRESH_BOUND_S, "is complete")
            else:
                self.assertIn("is not held here; " + self.addresses[1], err)
        self.assertGreater(answered, 0)
        self.assertLess(answered, len(USERS))
