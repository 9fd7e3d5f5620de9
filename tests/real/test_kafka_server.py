"""The broker that the other tests stand on keeps what it acknowledged."""

import kafka_server
import law
import processes


class OneBroker(law.LawCase):
    def test_kill(self):
        """kafka: acknowledged records are there after kill -9 and a restart"""
        for version in kafka_server.VERSIONS:
            with (
                self.subTest(version),
                processes.temp_folder("kafka") as folder,
                kafka_server.KafkaServer(version, folder, properties={"auto.create.topics.enable": "true"}) as server,
            ):
                lines = [f"record {i}" for i in range(1000)]
                processes.kcat_produce(server.bootstrap, "kept", lines)
                server.kill9()
                self.assertEqual(server.answers(), set())
                server.restart()
                got = [record["payload"] for record in processes.kcat_consume(server.bootstrap, "kept")]
                self.assertEqual(sorted(got), sorted(lines))


class ThreeBrokers(law.LawCase):
    def test_one_is_killed(self):
        """kafka: three brokers, one killed: the others take writes with all replicas that are left"""
        with (
            processes.temp_folder("kafka3") as folder,
            kafka_server.KafkaServer(
                kafka_server.VERSIONS[0], folder, brokers=3, properties={"auto.create.topics.enable": "true"}
            ) as server,
        ):
            processes.kcat_produce(server.bootstrap, "kept", ["before"])
            server.kill9(broker=2)
            processes.kcat_produce(server.bootstrap, "kept", ["between"])
            server.restart(broker=2)
            processes.kcat_produce(server.bootstrap, "kept", ["after"])
            got = {record["payload"] for record in processes.kcat_consume(server.bootstrap, "kept")}
            self.assertEqual(got, {"before", "between", "after"})
