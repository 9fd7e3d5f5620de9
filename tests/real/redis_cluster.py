"""A Redis cluster of a test's own: primaries with a replica each, on free loopback ports."""

import contextlib

import processes

NODE_TIMEOUT_MS = 2000
BOUND_S = 60


class RedisCluster:
    """redis-server processes; a context manager that ends them all."""

    def __init__(self, folder, primaries=3, replicas=1, settings=()):
        self.folder = folder
        self.primaries = primaries
        self.replicas = replicas
        self.settings = list(settings)
        self.ports = []
        self._servers = {}
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
        # The bus of a server is at its port + 10000 unless it is told otherwise.
        port, bus = processes.free_port(), processes.free_port()
        command = ["redis-server", "--port", str(port), "--cluster-port", str(bus), "--bind", "127.0.0.1"]
        command += ["--cluster-enabled", "yes", "--cluster-node-timeout", str(NODE_TIMEOUT_MS)]
        command += ["--appendonly", "yes", "--save", "", "--dir", str(folder), *self.settings]
        self.ports.append(port)
        self._servers[port] = stack.enter_context(processes.Process(f"redis-{number}", command, folder))

    @property
    def addresses(self):
        return ",".join(f"127.0.0.1:{port}" for port in self.ports)

    def ask(self, port, *words, check=True):
        """The output of redis-cli."""
        return processes.run(["redis-cli", "-p", str(port), *words], check=check)[1].strip()

    def _pings(self, port):
        return self.ask(port, "PING", check=False) == "PONG"

    def _in_step(self):
        roles = [self.ask(port, "INFO", "replication") for port in self.ports]
        up = sum("master_link_status:up" in role for role in roles)
        return up == self.primaries * self.replicas

    def primaries_now(self):
        """Ports of the running primaries."""
        found = []
        for port, server in self._servers.items():
            if server.running() and "role:master" in self.ask(port, "INFO", "replication", check=False):
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

    def start(self, port):
        """After a kill9: with the data on its disk."""
        self._servers[port].start()
        processes.wait_for(lambda: self._pings(port), BOUND_S, f"redis-server {port} to be back")

    def move_slots(self, slots):
        """Resharding under load: so many slots from one primary to another."""
        first, second = self.primaries_now()[:2]
        ids = [self.ask(port, "CLUSTER", "MYID") for port in (first, second)]
        words = ["redis-cli", "--cluster", "reshard", f"127.0.0.1:{first}", "--cluster-from", ids[0]]
        words += ["--cluster-to", ids[1], "--cluster-slots", str(slots), "--cluster-yes"]
        processes.run(words, bound_s=300)
