"""The main law with the filter store on a Redis cluster: processes that share no folder, on a real broker."""

import json
import time

import chain
import kafka_server
import law
import plays
import processes
import redis_cluster
import test_chain

INSTANCES = {"merge-1": "merge", "merge-2": "merge", "window": "window", "serve": "serve", "ingest": "ingest"}
PARTS = 5


def settings(folder, cluster):
    """Of each process: the cluster, and a folder that no other one has."""
    return {
        instance: {
            "store.kind": "redis",
            "store.redis.addresses": cluster.addresses,
            "store.redis.min_replicas": 1,
            "store.path": folder / instance / "unused-store",
            "process.start_seconds": 0,
        }
        for instance in INSTANCES
    }


class RedisStore(test_chain._Chain, law.LawCase):
    about = "redis"

    def test_law(self):
        """redis store: over separate folders every play is seen, of light and heavy users, through kill -9 of a merge
        process, of a primary and a resharding"""
        with (
            processes.temp_folder("redis") as folder,
            redis_cluster.RedisCluster(folder / "cluster") as self.cluster,
            kafka_server.KafkaServer(kafka_server.VERSIONS[0], folder / "kafka") as server,
        ):
            self.all_plays = test_chain.mixed(int(time.time() * 1000))
            run = chain.Chain(folder, server.bootstrap, INSTANCES, settings(folder, self.cluster))
            run.make_topics()
            with run:
                self.play_through_faults(run)
                self.wait_until_merged(run)
                self.wait_until_only_filters_answer(run)
                self.check_every_user(run)
                self.check_tools(run, folder)
                self.assertEqual(set(run.stop().values()), {0})
            for path in folder.glob("**/unused-store"):
                self.fail(f"{path} was made")

    def play_through_faults(self, run):
        """Each part of the plays goes in, and in the middle of its processing something is killed or moved."""
        faults = [
            lambda: run.crash("merge-1"),
            lambda: self.fail_over(run),
            lambda: self.cluster.move_slots(500),
            lambda: run.crash("serve"),
            lambda: None,
        ]
        produced = []
        for part, fault in zip(self.parts(PARTS), faults, strict=True):
            before = run.log_end("user-batches")
            run.produce([play.json() for play in part])
            produced += part
            run.wait_for_growth("user-batches", before, 120)
            fault()
            self.wait_until_sample_seen(run, produced, part)
            self.assert_sample_seen(run, produced)

    def fail_over(self, run):
        """A primary is killed. Processes that find that it had lost writes end, and start again as a supervisor would."""
        _, killed = self.cluster.kill9_a_primary()
        self.cluster.start(killed)

        def answers():
            self.restart_ended(run)
            return plays.query(run.grpc, "heavy-5000", ["x"])["complete"]

        processes.wait_for(answers, 120, "complete answers after the failover")

    def unseen(self, run, sample):
        self.restart_ended(run)
        return super().unseen(run, sample)

    def restart_ended(self, run):
        for instance in INSTANCES:
            run.start_if_ended(instance)

    def wait_until_merged(self, run):
        """A failover may be noticed as late as at the end of an hour; its processes end once each."""
        for _ in INSTANCES:
            self.restart_ended(run)
            try:
                return run.wait_until_merged(200)
            except processes.Failed as failed:
                if "ended by itself" not in str(failed):
                    raise
        return run.wait_until_merged(200)

    def check_tools(self, run, folder):
        """inspect, check and store check know the store."""
        config = chain.write_config(folder, run.bootstrap, "tools", {"state.path": str(folder / "tools")})
        words = ["--config", config, "--set", "store.kind=redis"]
        words += ["--set", f"store.redis.addresses={self.cluster.addresses}"]
        user = json.loads(
            processes.run([plays.binary(), "inspect", "user", "--user", "heavy-20000", *words, "--output", "json"])[1]
        )
        self.assertGreater(sum(one["items"] for one in user["filters"]), 19_900)
        self.assertEqual({one["checksum"] for one in user["filters"]}, {"ok"})
        store = json.loads(processes.run([plays.binary(), "store", "check", *words, "--output", "json"])[1])
        self.assertTrue(store["sound"], store)
        self.assertGreaterEqual(store["filters"], 666)
        code, out, _ = processes.run([plays.binary(), "check", *words], check=False)
        self.assertNotIn("store.redis", out, f"exit code {code}")
