"""A real Apache Kafka broker (or several) for tests and benchmarks: KRaft, combined mode, loopback, free ports.

    python3 tests/real/kafka_server.py --version 4.1.0

prints one line {"bootstrap": "127.0.0.1:12345", ...} when it answers and stays until SIGTERM or SIGINT. The jars are
those that `scripts/setup --kafka` has fetched. What the brokers store lies in a folder of their own and survives
kill9() and restart(); nothing survives the end of the program unless --dir names the folder.
"""

import argparse
import base64
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import uuid

import processes

VERSIONS = ("4.1.0", "3.9.1")
START_BOUND_S = 240  # 5 s on an idle machine, 50 were seen on two cores with a load of 25.


def jars(version):
    cache = os.environ.get("BLOOMRING_CACHE") or pathlib.Path.home() / ".cache" / "bloomring"
    folder = pathlib.Path(cache) / f"kafka-{version}"
    if not folder.is_dir():
        raise processes.Failed(f"no Kafka {version} in {folder}: run scripts/setup --kafka")
    return folder


def _properties(node, ports, folder, brokers):
    """Small, quick to elect and to join, one replica a broker up to three; everything else as Kafka ships it."""
    broker_port, controller_port = ports[node - 1]
    replicas = min(brokers, 3)
    return {
        "process.roles": "broker,controller",
        "node.id": node,
        "controller.quorum.voters": ",".join(f"{i}@127.0.0.1:{port}" for i, (_, port) in enumerate(ports, 1)),
        "listeners": f"BROKER://127.0.0.1:{broker_port},CONTROLLER://127.0.0.1:{controller_port}",
        "advertised.listeners": f"BROKER://127.0.0.1:{broker_port}",
        "listener.security.protocol.map": "BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "BROKER",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": folder / "data",
        "auto.create.topics.enable": "false",
        "default.replication.factor": replicas,
        "min.insync.replicas": max(1, replicas - 1),
        "offsets.topic.replication.factor": replicas,
        "offsets.topic.num.partitions": 4,
        "transaction.state.log.replication.factor": replicas,
        "transaction.state.log.min.isr": max(1, replicas - 1),
        "transaction.state.log.num.partitions": 4,
        # A group settles as soon as its members are there, and a test may notice a dead one within a second.
        "group.initial.rebalance.delay.ms": 100,
        "group.min.session.timeout.ms": 1000,
        # A killed broker is fenced after 3 s instead of 9 s.
        "broker.heartbeat.interval.ms": 500,
        "broker.session.timeout.ms": 3000,
        # The cleaner reserves this much heap at once; 128 MiB is its default.
        "log.cleaner.dedupe.buffer.size": 4 << 20,
        "num.network.threads": 2,
        "num.io.threads": 4,
    }


def _guarded(node, guarded_ports, users):
    """A second listener on which each user has a name, a password and only the rights that ACLs give. Whoever comes by
    the plain one may do everything."""
    jaas = " ".join(f'user_{name}="{password}"' for name, password in users.items())
    return {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
        "listener.name.guarded.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.guarded.plain.sasl.jaas.config": (
            f"org.apache.kafka.common.security.plain.PlainLoginModule required {jaas};"
        ),
    }, f"GUARDED://127.0.0.1:{guarded_ports[node - 1]}"


class KafkaServer:
    """A running cluster of one or three brokers. A context manager; stop() or leaving it ends every broker.

    folder: where data, configuration and logs lie; it belongs to this server. properties: overrides of
    server.properties. Brokers are numbered from 1. for_load: with the JVM's optimising compiler, which takes two seconds of
    CPU before a broker answers and pays only where it then works hard for minutes. users: {name: password}; with them the
    brokers have an authorizer, and at guarded_bootstrap these users have the rights that ACLs give (SASL PLAIN).
    """

    def __init__(self, version, folder, brokers=1, properties=None, heap="384m", for_load=False, users=None):
        self.version = version
        self.folder = pathlib.Path(folder)
        self.brokers = brokers
        self._classpath = f"{jars(version)}/*"
        self._overrides = properties or {}
        self._heap = heap
        self._compiler = [] if for_load else ["-XX:TieredStopAtLevel=1"]
        self._processes = []
        self._ports = []
        self._users = users or {}
        self._guarded_ports = []

    @property
    def guarded_bootstrap(self):
        return ",".join(f"127.0.0.1:{port}" for port in self._guarded_ports)

    @property
    def bootstrap(self):
        return ",".join(f"127.0.0.1:{port}" for port, _ in self._ports)

    @property
    def pids(self):
        return [process.pid for process in self._processes if process.running()]

    def log(self, broker=1):
        """The path of a broker's log."""
        return self._processes[broker - 1].err

    def start(self):
        self._ports = [(processes.free_port(), processes.free_port()) for _ in range(self.brokers)]
        self._guarded_ports = [processes.free_port() for _ in range(self.brokers)] if self._users else []
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "A", 1)
        try:
            formats = [self._prepare(node, cluster) for node in range(1, self.brokers + 1)]
            for node, child in enumerate(formats, 1):
                output, _ = child.communicate(timeout=START_BOUND_S)
                if child.returncode != 0:
                    raise processes.Failed(f"formatting the storage of broker {node} failed:\n{output}")
            for process in self._processes:
                process.start()
            self.wait_until_answers()
        except BaseException:
            self.stop()
            raise
        return self

    def _java(self, *arguments, heap):
        return [
            "java",
            f"-Xmx{heap}",
            f"-Xms{heap}",
            "-XX:+UseSerialGC",
            "-Xshare:auto",
            "-Djava.net.preferIPv4Stack=true",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=info",
            "-Dorg.slf4j.simpleLogger.showDateTime=true",
            "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
            "-cp",
            self._classpath,
            *arguments,
        ]

    def _prepare(self, node, cluster):
        folder = self.folder / f"broker-{node}"
        (folder / "data").mkdir(parents=True)
        properties = {**_properties(node, self._ports, folder, self.brokers), **self._overrides}
        if self._users:
            guard, listener = _guarded(node, self._guarded_ports, self._users)
            properties.update(guard)
            properties["listeners"] += f",{listener}"
            properties["advertised.listeners"] += f",{listener}"
            properties["listener.security.protocol.map"] += ",GUARDED:SASL_PLAINTEXT"
        config = folder / "server.properties"
        config.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
        self._processes.append(
            processes.Process(
                f"kafka-{node}", self._java(*self._compiler, "kafka.Kafka", config, heap=self._heap), folder
            )
        )
        return subprocess.Popen(
            self._java(
                "-XX:TieredStopAtLevel=1",
                "kafka.tools.StorageTool",
                "format",
                "-t",
                cluster,
                "-c",
                str(config),
                heap="64m",
            ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def answers(self):
        """The brokers that the cluster itself lists as alive."""
        code, out, _ = processes.run(["kcat", "-L", "-J", "-m", "2", "-b", self.bootstrap], bound_s=20, check=False)
        if code != 0:
            return set()
        return {broker["id"] for broker in json.loads(out)["brokers"]}

    def wait_until_answers(self, bound_s=START_BOUND_S):
        running = {node for node, process in enumerate(self._processes, 1) if process.running()}

        def check():
            for node in running:
                process = self._processes[node - 1]
                if not process.running():
                    raise processes.Failed(process.describe("ended while it started"))
            return running <= self.answers()

        processes.wait_for(check, bound_s, lambda: self._processes[0].describe("answers"))

    def process(self, broker=1):
        """The broker's process, for those who do more to it than this class."""
        return self._processes[broker - 1]

    def kill9(self, broker=1):
        self._processes[broker - 1].kill9()

    def restart(self, broker=1, bound_s=START_BOUND_S):
        """Starts a broker that was stopped or killed, on its old port and data, and waits until it answers."""
        self._processes[broker - 1].start()
        self.wait_until_answers(bound_s)

    def stop(self, broker=None):
        """Ends one broker, or all, without ceremony: written records stay, and nothing is left running."""
        for process in self._processes if broker is None else [self._processes[broker - 1]]:
            process.end()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()


def main():
    parser = argparse.ArgumentParser(description="a real Kafka broker until SIGTERM; one JSON line when it answers")
    parser.add_argument("--version", default=VERSIONS[0], help=f"one of {', '.join(VERSIONS)} (default %(default)s)")
    parser.add_argument("--brokers", type=int, default=1)
    parser.add_argument("--heap", default="384m", help="Java heap of each broker (default %(default)s)")
    parser.add_argument(
        "--dir", type=pathlib.Path, help="where its data lies and stays; a folder that is not there yet"
    )
    parser.add_argument("--property", action="append", default=[], metavar="KEY=VALUE", help="of server.properties")
    options = parser.parse_args()

    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())

    folder = options.dir or pathlib.Path(tempfile.mkdtemp(prefix="bloomring-kafka-"))
    try:
        with KafkaServer(
            options.version,
            folder,
            options.brokers,
            dict(item.split("=", 1) for item in options.property),
            options.heap,
        ) as server:
            print(
                json.dumps(
                    {
                        "bootstrap": server.bootstrap,
                        "version": server.version,
                        "pids": server.pids,
                        "folder": str(folder),
                    }
                ),
                flush=True,
            )
            ended.wait()
    except processes.Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    finally:
        if options.dir is None:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
