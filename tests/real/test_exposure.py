"""The view from another machine: every port of a host that runs bloomring, tried from outside.

The host and the other machine are two network namespaces with a cable between them, which need root. This module moves
into the first one, so brokers and processes that it starts are there.
"""

import contextlib
import ctypes
import os
import pathlib
import socket
import subprocess
import sys

import chain
import kafka_admin
import kafka_server
import law
import processes
import test_site

CLONE_NEWNET = 0x40000000
HOST, STRANGER = "10.213.77.1", "10.213.77.2"
HOST6, STRANGER6 = "fd00:213:77::1", "fd00:213:77::2"
SCAN = """
import select, socket, sys
answering = []
for first in range(1, 65536, 500):
    tried = {}
    for port in range(first, min(first + 500, 65536)):
        one = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET)
        one.setblocking(False)
        one.connect_ex((sys.argv[1], port))
        tried[one.fileno()] = (port, one)
    poll = select.poll()
    for number in tried:
        poll.register(number, select.POLLOUT)
    left = len(tried)
    while left:
        events = poll.poll(5000)
        if not events:
            break
        for number, _ in events:
            poll.unregister(number)
            left -= 1
            port, one = tried[number]
            if one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0:
                answering.append(port)
    for _, one in tried.values():
        one.close()
print(*answering)
"""


def inside(name, *command):
    """A command within the namespace. `ip -n` does the same, but not where the root is no mount point, as in a chroot."""
    return ["nsenter", f"--net=/run/netns/{name}", *command]


def ip(*words, host=None):
    command = ["ip", *words]
    if host:
        command = inside(host, *command)
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True)


@contextlib.contextmanager
def two_hosts():
    """Two namespaces with a cable; this thread, and what it starts, is on the first. Gives the name of the second."""
    names = [f"bloomring-{os.getpid()}-{side}" for side in ("host", "stranger")]
    libc = ctypes.CDLL(None, use_errno=True)
    before = os.open("/proc/self/ns/net", os.O_RDONLY)
    try:
        for name in names:
            ip("netns", "add", name)
            ip("link", "set", "lo", "up", host=name)
        ip("link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns", names[1], host=names[0])
        for name, address, address6 in zip(names, (HOST, STRANGER), (HOST6, STRANGER6), strict=True):
            ip("address", "add", f"{address}/24", "dev", "cable", host=name)
            ip("address", "add", f"{address6}/64", "dev", "cable", "nodad", host=name)
            ip("link", "set", "cable", "up", host=name)
        first = os.open(f"/run/netns/{names[0]}", os.O_RDONLY)
        if libc.setns(first, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
        os.close(first)
        yield names[1]
    finally:
        libc.setns(before, CLONE_NEWNET)
        os.close(before)
        for name in names:
            if pathlib.Path(f"/run/netns/{name}").exists():
                ip("netns", "delete", name)


def answering(stranger, address=HOST):
    """The ports of the host that take a connection from the stranger."""
    _, out, _ = processes.run(inside(stranger, sys.executable, "-c", SCAN, address), bound_s=120)
    return [int(port) for port in out.split()]


def why_not():
    """Why this machine cannot have two hosts; empty where it can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    try:
        with two_hosts():
            return ""
    except (OSError, subprocess.CalledProcessError) as failure:
        return f"this machine allows no network namespaces: {getattr(failure, 'stderr', b'') or failure}"


@contextlib.contextmanager
def listening(address):
    """A port of the host that is open to all; its number."""
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as one:
        one.bind((address, 0))
        one.listen()
        yield one.getsockname()[1]


class DevExposure(law.LawCase):
    """`bloomring dev` as it is: without a word about ports."""

    def test_dev(self):
        """exposure: of `bloomring dev` no port answers from another machine, by IPv4 or IPv6, and one that is open there
        would be found"""
        self.assertEqual(why_not(), "")
        with two_hosts() as stranger, processes.temp_folder("dev-exposure") as folder:
            with listening(HOST) as asked, listening(HOST6) as asked6:
                self.assertEqual((answering(stranger, HOST), answering(stranger, HOST6)), ([asked], [asked6]))
            command = [test_site.plays.binary(), "dev", "--data", folder / "data"]
            with processes.Process("dev", command, folder) as dev:
                ready = dev.ready_line()
                self.assertGreaterEqual(set(ready), {"grpc", "admin", "kafka"})
                self.assertEqual((answering(stranger, HOST), answering(stranger, HOST6)), ([], []))


class Exposure(law.LawCase):
    def setUp(self):
        self.assertEqual(why_not(), "")
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.stranger = stack.enter_context(two_hosts())
        self.folder = stack.enter_context(processes.temp_folder("exposure"))
        self.server = stack.enter_context(kafka_server.KafkaServer(kafka_server.VERSIONS[0], self.folder / "kafka"))
        kafka_admin.create_topic(self.server.bootstrap, "video-plays", 1)
        (self.folder / "site.yaml").write_text(test_site.site_yaml())

    def process(self, **more):
        """The documented configuration on this broker, with ports as they are."""
        env = {
            "BLOOMRING_KAFKA_BOOTSTRAP": self.server.bootstrap,
            "BLOOMRING_TOPICS_REPLICATION": "1",
            "BLOOMRING_TOPICS_PARTITIONS": str(chain.PARTITIONS),
            "BLOOMRING_STORE_PATH": str(self.folder / "store"),
            "BLOOMRING_STATE_PATH": str(self.folder / "state"),
            "BLOOMRING_SERVE_DRAIN_SECONDS": "0",
            **more,
        }
        words = ["env", *(f"{name}={value}" for name, value in env.items())]
        command = [*words, test_site.plays.binary(), "topics", "--execute", "--config", self.folder / "site.yaml"]
        processes.run(command)
        command = [test_site.plays.binary(), "run", "--config", self.folder / "site.yaml"]
        return processes.Process("run", command, self.folder, env)

    def test_documented(self):
        """exposure: with the documented configuration no port answers from another machine, by IPv4 or IPv6"""
        with self.process() as run:
            ready = run.ready_line()
            self.assertEqual((ready["grpc"], ready["admin"]), ("127.0.0.1:7700", "127.0.0.1:9600"))
            self.assertEqual((answering(self.stranger), answering(self.stranger, HOST6)), ([], []))

    def test_asked_for(self):
        """exposure: of the ports exactly those answer from another machine that were asked for"""
        with self.process(BLOOMRING_SERVE_LISTEN="0.0.0.0:7700", BLOOMRING_SERVE_INSECURE="true") as run:
            run.ready_line()
            self.assertEqual(answering(self.stranger), [7700])
        with self.process(BLOOMRING_ADMIN_HEALTH_LISTEN=f"{HOST}:9601") as run:
            self.assertEqual(run.ready_line()["health"], f"{HOST}:9601")
            self.assertEqual(answering(self.stranger), [9601])
