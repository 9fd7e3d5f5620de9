"""SIGTERM of a serve process is a drain: clients are told, are answered for a while longer, and lose no call."""

import json
import time

import installation
import one_broker
import processes

PYTHON = "/usr/bin/python3"  # Debian's, which has python3-grpcio
DRAIN_S = 6
NOTICED_S = 2  # Of what is polled, on a busy machine.


class Drain(one_broker.OneBrokerCase):
    def clients(self, ready):
        stubs = self.folder / "stubs"
        processes.run([processes.ROOT / "examples" / "python" / "generate", stubs])
        script = processes.ROOT / "tests" / "real" / "drain_clients.py"
        command = [PYTHON, script, ready["grpc"], ready["admin"]]
        return processes.Process("clients", command, self.folder, {"PYTHONPATH": str(stubs)})

    def test_drain(self):
        """drain: at SIGTERM readiness and health go first, calls are answered on, and none is lost or CANCELLED"""
        site = installation.Installation(
            self.folder, self.server.bootstrap, "drain", serve={"drain_seconds": DRAIN_S}
        )
        with site.process("merge,serve") as serve:
            ready = serve.ready_line(60)
            with self.clients(ready) as clients:
                clients.wait_until(lambda: '"asking"' in clients.output(), 60, "every client to be answered")
                told_at = time.monotonic()
                self.assertEqual(serve.term(60), 0)
                self.assertEqual(clients.wait(60), 0)
                seen = json.loads(clients.output().splitlines()[-1])
        first, last, count = seen["first"], seen["last"], seen["count"]
        calls = {code: number for code, number in count.items() if code.isupper() and "SERVING" not in code}
        self.assertEqual(set(calls), {"OK", "UNAVAILABLE"}, seen)
        for told in ("NOT_SERVING", "readyz 503"):
            self.assertIn(told, first, seen)
            self.assertLess(told_at, first[told], seen)
            self.assertLess(first[told] + NOTICED_S, first["UNAVAILABLE"], seen)
        self.assertGreater(last["OK"], told_at + DRAIN_S - NOTICED_S, seen)
        self.assertGreater(first["UNAVAILABLE"], told_at + DRAIN_S - NOTICED_S, seen)
        self.assertGreater(first["admin gone"] + NOTICED_S, last["OK"], "the admin port stays until the last answer")
        self.assertNotIn("health CANCELLED", count, seen)
