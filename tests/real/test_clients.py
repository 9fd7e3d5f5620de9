"""Clients in other hands: the installed C++ package, Python, Go and Java with generated code, and a client that has no
file of ours."""

import contextlib
import datetime
import json
import re
import shutil

import law
import plays
import processes

PYTHON = "/usr/bin/python3"  # Debian's, which has python3-grpcio
PATIENT_S = 60  # of a query, on a busy machine
BUILD = plays.binary().resolve().parents[1]


def as_built():
    """The flags that make a program fit libraries of this build: its compiler, and its sanitizers if it has any."""
    cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE))
    sanitize = cache["BLOOMRING_SANITIZE"]
    compiler = f"-DCMAKE_CXX_COMPILER={cache['CMAKE_CXX_COMPILER']}"
    return [compiler, *([f"-DCMAKE_CXX_FLAGS=-fsanitize={sanitize}"] if sanitize else [])]


class Clients(law.LawCase):
    def serve(self, stack):
        """A chain in one process in which user u1 has played v1; its gRPC address."""
        folder = stack.enter_context(processes.temp_folder("clients"))
        command = [plays.binary(), "dev", "--data", folder / "data", "--set", "serve.reflection=true"]
        dev = stack.enter_context(processes.Process("dev", command, folder))
        ready = dev.ready_line()
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        processes.kcat_produce(ready["kafka"], "plays", [json.dumps({"user": "u1", "item": "v1", "time": now})])
        dev.wait_until(lambda: plays.query(ready["grpc"], "u1", ["v1"])["items"][0]["seen"], 60, "v1 is seen")
        return folder, ready["grpc"]

    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.folder, self.address = self.serve(stack)

    def test_python(self):
        """python: the example asks, reports what was shown and fetches a snapshot over stubs made by one command"""
        root = processes.ROOT / "examples" / "python"
        processes.run([root / "generate", self.folder / "stubs"])
        ask = [
            "env",
            f"PYTHONPATH={self.folder / 'stubs'}",
            PYTHON,
            root / "ask.py",
            "--server",
            self.address,
            "--user",
            "u1",
            "--timeout-s",
            str(PATIENT_S),
        ]
        _, out, _ = processes.run([*ask, "--record-served", "v1", "v2", "ä" * 64])
        answer = json.loads(out)
        self.assertEqual((answer["seen"], answer["left"], answer["complete"]), (["v1"], ["v2", "ä" * 64], True))
        self.assertGreater(answer["snapshot_bytes"], 0)
        _, out, _ = processes.run([*ask, "v1", "v2", "v3"])
        self.assertEqual(json.loads(out)["seen"], ["v1", "v2"])  # v2 was served

    def test_go(self):
        """go: the example is generated and built from pinned modules, asks, and reports what was shown"""
        root = self.folder / "examples" / "go"
        shutil.copytree(processes.ROOT / "examples" / "go", root, ignore=shutil.ignore_patterns("v1"))
        (self.folder / "schemas").symlink_to(processes.ROOT / "schemas")
        processes.run([root / "generate"], bound_s=600)
        processes.run(["go", "build", "-o", self.folder / "ask", "."], cwd=root, bound_s=600)
        ask = [self.folder / "ask", "-server", self.address, "-user", "u1", "-timeout", f"{PATIENT_S}s"]
        _, out, _ = processes.run([*ask, "-record-served", "v1", "v2", "ä" * 64])
        answer = json.loads(out)
        self.assertEqual((answer["seen"], answer["left"], answer["complete"]), (["v1"], ["v2", "ä" * 64], True))
        self.assertGreater(answer["snapshot_bytes"], 0)
        _, out, _ = processes.run([*ask, "v1", "v2", "v3"])
        self.assertEqual(json.loads(out)["seen"], ["v1", "v2"])  # v2 was served

    def test_java(self):
        """java: the example is generated and compiled against pinned jars, asks, and reports what was shown"""
        processes.run([processes.ROOT / "examples" / "java" / "generate", self.folder / "java"], bound_s=600)
        ask = [self.folder / "java" / "ask", self.address, "u1", str(PATIENT_S * 1000)]
        _, out, _ = processes.run([*ask, "--record-served", "v1", "v2", "v4"])
        *answer, snapshot = out.splitlines()
        self.assertEqual(answer, ["v1 seen", "v2 left", "v4 left", "complete", "2 recorded as served"])
        self.assertRegex(snapshot, r"^a snapshot of [1-9]\d* bytes$")
        _, out, _ = processes.run([*ask, "v1", "v2", "v3"])
        self.assertEqual(out.splitlines()[:3], ["v1 seen", "v2 seen", "v3 left"])  # v2 was served

    def test_reflection(self):
        """reflection: a client without any file finds every service with its messages, and asks, health too"""
        _, out, _ = processes.run(
            [PYTHON, processes.ROOT / "tests" / "real" / "ask_by_reflection.py", self.address, "u1", "v1", "v2"]
        )
        found = json.loads(out)
        self.assertEqual(found["seen"], ["v1"])
        self.assertLessEqual({"bloomring.v1.BloomringService", "grpc.health.v1.Health"}, set(found["services"]))
        self.assertEqual(found["described"], found["services"])
        self.assertEqual(found["health"], "SERVING")

    def test_package(self):
        """bloomring::client: the example builds against the installed package and gets its answers"""
        prefix, build = self.folder / "installed", self.folder / "example"
        for component in ("filter", "client"):
            processes.run(["cmake", "--install", BUILD / component, "--component", component, "--prefix", prefix])
        processes.run(
            [
                "cmake",
                "-G",
                "Ninja",
                "-S",
                processes.ROOT / "examples" / "client",
                "-B",
                build,
                f"-DCMAKE_PREFIX_PATH={prefix}",
                *as_built(),
            ],
            bound_s=300,
        )
        processes.run(["cmake", "--build", build], bound_s=300)
        _, out, _ = processes.run([build / "client_example", self.address, "u1", "v1", "v2"])
        self.assertEqual(out, "v1 seen\nv2 unseen\n1 of 2 seen by the snapshot\n")

    def test_snapshot_command(self):
        """snapshot: the blob that the command writes answers here as the service does there"""
        blob = self.folder / "u1.snapshot"
        before = plays.query(self.address, "u1", ["v1", "v2"])["items"]
        script = '"$0" snapshot --server "$1" --user u1 >"$2"'
        processes.run(["bash", "-c", script, plays.binary(), self.address, blob])
        _, out, _ = processes.run([plays.binary(), "snapshot", "--from", blob, "--test", "v1", "v2"])
        answer = json.loads(out)
        self.assertTrue(answer["complete"])
        # A play that is recent before may be in a filter after it.
        self.assertIn(answer["items"], (before, plays.query(self.address, "u1", ["v1", "v2"])["items"]))
