"""A Redis cluster of a test's own: primaries with a replica each, on free loopback ports."""

import contextlib
import pathlib
import sys

import processes

NODE_TIMEOUT_MS = 2000
BOUND_S = 60


class RedisCluster:
    """redis-server processes; a context manager that ends them all. `relayed`: the number of a server that everybody but
    its cluster bus reaches through a relay. `folders`: of servers by number, where they are not the usual ones."""

    def __init__(self, folder, primaries=3, replicas=1, settings=(), relayed=None, folders=None):
        self.folder = folder
        self.primaries = primaries
        self.replicas = replicas
        self.settings = list(settings)
        self.relayed = relayed
        self.relay = None  # The process.
        self.ports = []
        self._announced = {}  # By port, the one that others use.
        self._folders = folders or {}
        self._servers = {}
        self._stalled = set()
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            for number in range(self.primaries * (1 + self.replicas)):
                self._start(stack, number)
            for port in self.ports:
                processes.wait_for(lambda: self._pings(port), BOUND_S, f"redis-server {port} to listen")
            addresses = [f"127.0.0.1:{port}" for port in self.ports]
            create = ["redis-cli", "--cluster", "create", *addresses, "--cluster-replicas", str(self.replicas)]
            processes.run([*create, "--cluster-yes"], bound_s=BOUND_S)
            processes.wait_for(self._in_step, BOUND_S, "the replicas to be in step")
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def _start(self, stack, number):
        folder = self.folder / f"redis-{number}"
        folder.mkdir(parents=True)
        data = self._folders.get(number, folder)
        # The bus of a server is at its port + 10000 unless it is told otherwise.
        port, bus = processes.free_port(), processes.free_port()
        command = ["redis-server", "--port", str(port), "--cluster-port", str(bus), "--bind", "127.0.0.1"]
        command += ["--cluster-enabled", "yes", "--cluster-node-timeout", str(NODE_TIMEOUT_MS)]
        # The description of the cluster stays out of a small disk: a server that cannot write it ends.
        command += ["--cluster-config-file", str(folder / "nodes.conf")]
        command += ["--appendonly", "yes", "--save", "", "--dir", str(data), *self.settings]
        self._announced[port] = port
        if number == self.relayed:
            self._announced[port] = processes.free_port()
            command += ["--cluster-announce-port", str(self._announced[port]), "--cluster-announce-bus-port", str(bus)]
            relay = [sys.executable, pathlib.Path(__file__).with_name("relay.py"), self._announced[port], port]
            self.relay = stack.enter_context(processes.Process("relay", [str(word) for word in relay], folder))
        self.ports.append(port)
        self._servers[port] = stack.enter_context(processes.Process(f"redis-{number}", command, folder))

    @property
    def addresses(self):
        return ",".join(f"127.0.0.1:{self._announced[port]}" for port in self.ports)

    def ask(self, port, *words, check=True):
        """The output of redis-cli."""
        return processes.run(["redis-cli", "-p", str(port), *words], check=check)[1].strip()

    def _pings(self, port):
        return self.ask(port, "PING", check=False) == "PONG"

    def _in_step(self):
        roles = [self.ask(port, "INFO", "replication", check=False) for port in self.ports]
        up = sum("master_link_status:up" in role for role in roles)
        return up == self.primaries * self.replicas

    def primaries_now(self):
        """Ports of the running primaries."""
        found = []
        for port, server in self._servers.items():
            if port in self._stalled or not server.running():
                continue
            if "role:master" in self.ask(port, "INFO", "replication", check=False):
                found.append(port)
        return found

    def kill9_a_primary(self):
        """kill -9; the port of the one that took its slots over, and of the killed one."""
        before = self.primaries_now()
        victim = before[0]
        self._servers[victim].kill9()
        new = processes.wait_for(
            lambda: [port for port in self.primaries_now() if port not in before], BOUND_S, "a replica to take over"
        )
        return new[0], victim

    def kill9(self, port):
        self._servers[port].kill9()

    def stall(self, port):
        self._stalled.add(port)
        self._servers[port].stall()

    def resume(self, port):
        self._servers[port].resume()
        self._stalled.discard(port)

    def set_everywhere(self, name, value):
        """CONFIG SET of every server that answers."""
        for port, server in self._servers.items():
            if port not in self._stalled and server.running():
                self.ask(port, "CONFIG", "SET", name, value, check=False)

    def number_of(self, port):
        return self.ports.index(port)

    def healthy(self):
        """Every server answers, every slot has a server, and every replica is in step."""
        if self._stalled or not all(self._pings(port) for port in self.ports):
            return False
        return self._in_step() and all(
            "cluster_state:ok" in self.ask(port, "CLUSTER", "INFO", check=False) for port in self.ports
        )

    def begin_start(self, port):
        """After a kill9: with the data on its disk."""
        self._servers[port].start()

    def start(self, port):
        """As begin_start, until it answers."""
        self.begin_start(port)
        processes.wait_for(lambda: self._pings(port), BOUND_S, f"redis-server {port} to be back")

    def move_slots(self, slots):
        """Resharding under load: so many slots from one primary to another."""
        first, second = self.primaries_now()[:2]
        ids = [self.ask(port, "CLUSTER", "MYID") for port in (first, second)]
        words = ["redis-cli", "--cluster", "reshard", f"127.0.0.1:{first}", "--cluster-from", ids[0]]
        words += ["--cluster-to", ids[1], "--cluster-slots", str(slots), "--cluster-yes"]
        processes.run(words, bound_s=300)
