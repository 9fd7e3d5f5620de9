"""The old store of a site, as the tests of jobs over it have it: a real redis-server with sorted sets."""

import processes

MILLION = 1_000_000


class OldStore(processes.Process):
    """A redis-server with a folder of its own, which keeps what it acknowledged over a kill."""

    def __init__(self, folder, name, options=()):
        self.port = processes.free_port()
        folder = folder / f"old-store-{name}"
        folder.mkdir()
        command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes"]
        super().__init__("redis", [*command, "--appendfsync", "always", "--dir", folder, *options], folder)

    def __enter__(self):
        entered = super().__enter__()
        self.wait_until_up()
        return entered

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def wait_until_up(self):
        self.wait_until(lambda: self.ask("PING", check=False) == "PONG", 60, "answers")

    def come_back(self):
        self.start()
        self.wait_until_up()

    def ask(self, *words, check=True):
        return processes.run(["redis-cli", "-p", str(self.port), *map(str, words)], check=check)[1].strip()

    def add(self, key, members):
        """members: (member, score)."""
        for at in range(0, len(members), 500):
            self.ask("ZADD", key, *(word for member, score in members[at : at + 500] for word in (score, member)))

    def add_million(self, key, now_ms):
        """m1 to m1000000, a millisecond apart."""
        script = "for i = 1, 1000 do redis.call('ZADD', KEYS[1], ARGV[1] + i, 'm' .. (ARGV[2] + i)) end"
        lines = "".join(
            f'EVAL "{script}" 1 {key} {now_ms - 2 * MILLION + n * 1000} {n * 1000}\n' for n in range(MILLION // 1000)
        )
        path = self.folder / "commands"
        path.write_text(lines)
        processes.run(["sh", "-c", f"redis-cli -p {self.port} < {path}"], bound_s=300)
        assert self.ask("ZCARD", key) == str(MILLION), self.describe("should have a million members")

    def set(self, key):
        """{member: score as an integer} of the set."""
        words = self.ask("ZRANGE", key, 0, -1, "WITHSCORES").split()
        return {member: int(score) for member, score in zip(words[::2], words[1::2], strict=True)}
