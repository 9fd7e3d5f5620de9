"""Maven fetches the files of our lists of SHA-256: scripts/setup refuses a jar that is changed, missing or too many.

Needs the jars of scripts/setup; works on a copy of their folders.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "real"))

import law  # noqa: E402

CACHE = pathlib.Path(os.environ.get("BLOOMRING_CACHE") or pathlib.Path.home() / ".cache" / "bloomring")
KAFKA = ("kafka-4.1.0", "kafka-3.9.1")
JAVA = "grpc-java-1.68.3"
BOUND_S = 120


class Pins(law.LawCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bloomring-pins-", dir=CACHE)
        self.addCleanup(folder.cleanup)
        self.copy = pathlib.Path(folder.name)
        for name in (*KAFKA, JAVA):  # Links: a test removes or replaces files, and never writes into one.
            shutil.copytree(CACHE / name, self.copy / name, copy_function=os.link)

    def run_with_copy(self, *command):
        """(exit code, standard error) of a command whose jars are the copy."""
        environment = {**os.environ, "BLOOMRING_CACHE": str(self.copy)}
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=BOUND_S, check=False
        )
        return done.returncode, done.stderr

    def expect_refusal(self, command, jar, why):
        code, text = self.run_with_copy(*command)
        self.assertNotEqual(code, 0, text)
        self.assertIn(f"{jar} is {why}", text)
        self.assertIn("remove the folder and run scripts/setup again", text)

    def test_setup(self):
        """pins: scripts/setup takes the jars of our lists, and refuses one that is changed, missing or too many"""
        setup = ("scripts/setup", "--kafka")
        self.assertEqual(self.run_with_copy(*setup)[0], 0)
        for name in KAFKA:
            folder = self.copy / name
            jar = sorted(folder.glob("kafka-clients-*.jar"))[0]
            good = jar.read_bytes()
            jar.unlink()
            self.expect_refusal(setup, jar.name, "missing")
            jar.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
            self.expect_refusal(setup, jar.name, "not the file of")
            jar.write_bytes(good)
            (folder / "evil.jar").write_bytes(b"")
            self.expect_refusal(setup, "evil.jar", "not in")
            (folder / "evil.jar").unlink()
            self.assertEqual(self.run_with_copy(*setup)[0], 0)

    def test_java(self):
        """pins: the Java example takes the jars of our list, and refuses a changed one before it runs any"""
        generate = ("examples/java/generate", "--fetch")
        self.assertEqual(self.run_with_copy(*generate)[0], 0)
        plugin = next((self.copy / JAVA).glob("protoc-gen-grpc-java-*"))
        plugin.unlink()
        plugin.write_bytes(b"#!/bin/sh\n")
        self.expect_refusal(generate, plugin.name, "not the file of")

    def test_renew(self):
        """pins: a list that is written again from the same jars is the same list"""
        fresh = self.copy / "fresh.sha256"
        for name in KAFKA:
            code, text = self.run_with_copy("scripts/kafka/verify", "--renew", str(self.copy / name), str(fresh))
            self.assertEqual(code, 0, text)
            self.assertEqual(fresh.read_text(), (ROOT / "scripts" / "kafka" / f"{name}.sha256").read_text())
            code, text = self.run_with_copy("scripts/kafka/verify", str(self.copy / name), str(self.copy / "none.sha256"))
            self.assertEqual(code, 1)
            self.assertIn("there is no list of checksums; write it: scripts/kafka/verify --renew", text)


if __name__ == "__main__":
    unittest.main()
