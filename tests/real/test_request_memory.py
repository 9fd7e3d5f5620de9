"""The memory of a running process under the requests that take most of it."""

import json

import law
import plays
import processes

PYTHON = "/usr/bin/python3"  # Debian's, which has python3-grpcio
LIMIT_MIB = 1024
AT_ONCE = 8
CALLS = AT_ONCE * 3
REFUSED = {"INVALID_ARGUMENT"}
# How calls of each kind may end. Of those that could be answered some find the memory taken.
KINDS = {
    "empty requests": REFUSED,
    "empty ids": REFUSED,
    "groups": REFUSED,
    "gzip": {"UNIMPLEMENTED"},
    "deflate": {"UNIMPLEMENTED"},
    "many verdicts": {"OK", "RESOURCE_EXHAUSTED"},
}


class RequestMemory(law.LawCase):
    def test_limit(self):
        """memory: the worst requests of legal size, compressed or not, eight at once, leave the process below its limit"""
        with processes.temp_folder("requests") as folder:
            command = [plays.binary(), "dev", "--data", folder / "data", "--set", f"memory.limit={LIMIT_MIB}MiB"]
            with processes.Process("dev", command, folder) as dev:
                address = dev.ready_line(60)["grpc"]
                seen = {}
                for kind, allowed in KINDS.items():
                    for _ in range(CALLS // AT_ONCE):
                        ask = [PYTHON, processes.ROOT / "tests" / "real" / "ask_at_once.py", address, kind, str(AT_ONCE)]
                        _, out, _ = processes.run(ask, bound_s=300)
                        self.assertLessEqual(set(json.loads(out)), allowed, kind)
                    seen[kind] = round(processes.resident_mib(dev.pid, peak=True))
                print(seen)
                plays.complete_answer(address, "u1", ["v1"])
                if processes.PATIENCE == 1:  # A sanitizer keeps what was given back.
                    self.assertLess(seen[kind], LIMIT_MIB // 4, seen)
