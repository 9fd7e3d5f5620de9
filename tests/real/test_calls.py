"""The query service of a running process: what its metrics say of calls, and connections that come and go."""

import contextlib
import pathlib
import socket
import struct

import law
import plays
import processes

CONNECTIONS = 10_000
AT_ONCE = 500  # An open connection takes some 25 KB: that of so many is what is warmed up.
WARM_UP_ROUNDS = 4
GROWTH_MIB_MAX = 8
FLOODS_MAX = 3  # On a busy machine more are open at once than in the warm-up, once; what leaks grows each time.
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"  # with an empty SETTINGS frame
LIMIT_BYTES = 512 << 20
REFUSED = {"invalid", "unavailable", "overload", "deadline", "strict", "permission"}


def open_and_drop(address, count):
    """Connections that are dropped without a farewell: as they are, after a preface, in the middle of one."""
    host, port = address.split(":")
    with contextlib.ExitStack() as stack:
        for i in range(count):
            connection = stack.enter_context(socket.create_connection((host, int(port)), timeout=30))
            connection.sendall((b"", PREFACE, PREFACE[:10])[i % 3])
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class Calls(law.LawCase):
    def start(self):
        folder = processes.temp_folder("calls")
        path = folder.__enter__()
        self.addCleanup(folder.__exit__, None, None, None)
        dev = processes.Process(
            "dev", [plays.binary(), "dev", "--data", path / "data", "--set", f"memory.limit={LIMIT_BYTES}"], path
        )
        self.addCleanup(dev.end)
        dev.start()
        return dev, dev.ready_line(60)

    def test_metrics(self):
        """metrics: of calls in flight and refused, of answers incomplete and their error, of the filter cache and its bound"""
        dev, ready = self.start()
        asked = 5
        for _ in range(asked):
            self.assertTrue(plays.query(ready["grpc"], "u1", ["v1"])["complete"])
        code, _, _ = processes.run(
            [plays.binary(), "query", "--server", ready["grpc"], "--user", "u1", "v" * 129], check=False
        )
        self.assertEqual(code, 2)
        found = processes.metrics(ready["admin"])

        def by(name, label):
            return {dict(labels)[label]: number for (series, labels), number in found.items() if series == name}

        refused = by("bloomring_calls_refused_total", "cause")
        self.assertEqual(refused, {**dict.fromkeys(REFUSED, 0), "invalid": 1})
        self.assertEqual(by("bloomring_answers_incomplete_total", "source"), {"recent": 0, "served": 0, "filters": 0})
        self.assertEqual(by("bloomring_calls_forwarded_total", "result"), {"answered": 0, "unavailable": 0})
        self.assertEqual(processes.values(found, "bloomring_calls_in_flight"), [0])
        self.assertEqual(processes.values(found, "bloomring_answer_expected_error_count"), [asked])
        lookups = by("bloomring_filter_cache_lookups_total", "result")
        self.assertEqual(sum(lookups.values()), asked)
        self.assertGreaterEqual(lookups["hit"], 1)
        (used,), (bound,) = (
            processes.values(found, f"bloomring_filter_cache_{name}") for name in ("bytes", "bytes_max")
        )
        self.assertGreater(used, 0)
        self.assertGreater(bound, used)

    def test_memory(self):
        """metrics: the parts of memory add up to the limit, and the stores take no more than theirs"""
        _, ready = self.start()
        found = processes.metrics(ready["admin"])
        parts = {
            dict(labels)["part"]: number
            for (series, labels), number in found.items()
            if series == "bloomring_memory_part_bytes"
        }
        self.assertEqual(sum(parts.values()), LIMIT_BYTES, parts)
        (taken,) = processes.values(found, "bloomring_state_memory_bytes")
        self.assertGreater(taken, 0)
        self.assertLess(taken, parts["stores"])

    def test_connections(self):
        """connections: 10,000 of them opened and dropped leave memory flat and the service answering"""
        dev, ready = self.start()
        self.flood(dev, ready, WARM_UP_ROUNDS)
        growth_mib = []
        while min(growth_mib, default=GROWTH_MIB_MAX) >= GROWTH_MIB_MAX and len(growth_mib) < FLOODS_MAX:
            before_mib = processes.resident_mib(dev.pid)
            self.flood(dev, ready, CONNECTIONS // AT_ONCE)
            growth_mib.append(processes.resident_mib(dev.pid) - before_mib)
            if processes.PATIENCE > 1:
                return  # A sanitizer keeps what was given back, and says itself what leaked.
        self.assertLess(min(growth_mib), GROWTH_MIB_MAX, growth_mib)

    def flood(self, dev, ready, rounds):
        descriptors = pathlib.Path(f"/proc/{dev.pid}/fd")
        before = len(list(descriptors.iterdir()))
        for _ in range(rounds):
            open_and_drop(ready["grpc"], AT_ONCE)
            dev.wait_until(
                lambda: len(list(descriptors.iterdir())) < before + AT_ONCE / 5, 60, "the connections are gone"
            )
        plays.complete_answer(ready["grpc"], "u1", ["v1"])
