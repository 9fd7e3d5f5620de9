"""The Debian package and the container image: what they install, as whom it runs, and what they name.

Needs the program of the preset `release`. scripts/package_test installs the package in a clean root.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "real"))

import law  # noqa: E402

PROGRAM = ROOT / "build" / "release" / "bin" / "bloomring"
PACKAGING = ROOT / "packaging"
BOUND_S = 300
HARDENED = (  # Of the unit; systemd-analyze security weighs these most.
    "CapabilityBoundingSet=", "NoNewPrivileges=yes", "ProtectSystem=strict", "ProtectHome=yes", "PrivateTmp=yes",
    "PrivateDevices=yes", "ProtectKernelModules=yes", "ProtectKernelTunables=yes", "RestrictNamespaces=yes",
    "MemoryDenyWriteExecute=yes", "SystemCallFilter=@system-service",
)  # fmt: skip


def output_of(*command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=BOUND_S, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def unit():
    """The unit's lines, by key; a key may have several."""
    rows = {}
    for line in text_of("packaging/bloomring.service").splitlines():
        if "=" in line and not line.startswith("#"):
            key, _, value = line.partition("=")
            rows.setdefault(key, []).append(value)
    return rows


class Package(law.LawCase):
    @classmethod
    def setUpClass(cls):
        cls.path = output_of("scripts/package", "--build", "build/release").split()[-1]
        cls.listing = output_of("dpkg-deb", "--contents", cls.path)
        cls.files = {line.split()[-1]: line.split()[0] for line in cls.listing.splitlines()}

    def test_files(self):
        """package: it has program, unit, configuration, manual page, completions, SBOM and licences, of root, that nobody else writes"""
        for name in (
            "usr/bin/bloomring",
            "etc/bloomring/bloomring.yaml",
            "usr/lib/systemd/system/bloomring.service",
            "usr/share/man/man1/bloomring.1.gz",
            "usr/share/bash-completion/completions/bloomring",
            "usr/share/fish/vendor_completions.d/bloomring.fish",
            "usr/share/zsh/vendor-completions/_bloomring",
            "usr/share/doc/bloomring/copyright",
            "usr/share/doc/bloomring/bloomring.spdx.json",
            "usr/share/doc/bloomring/third-party-licences.gz",
        ):
            self.assertIn(f"./{name}", self.files)
        self.assertEqual([name for name, mode in self.files.items() if mode[5] == "w" or mode[8] == "w"], [])
        self.assertEqual(len(re.findall(r"^\S+ root/root ", self.listing, re.MULTILINE)), len(self.files))
        self.assertEqual([name for name in self.files if "/include/" in name or name.endswith((".a", ".cmake"))], [])

    def test_control(self):
        """package: it depends on the libraries that it loads, on tzdata and adduser, and its configuration is a conffile"""
        control = output_of("dpkg-deb", "--field", self.path)
        depends = re.search(r"^Depends: (.*)$", control, re.MULTILINE)[1]
        for part in ("adduser", "tzdata", "librdkafka1", "librocksdb", "libgrpc++", "libjemalloc2", "libc6"):
            self.assertIn(part, depends)
        self.assertEqual(output_of("dpkg-deb", "--info", self.path, "conffiles"), "/etc/bloomring/bloomring.yaml\n")

    def test_licences(self):
        """package: each part of the SBOM has its licence in the package"""
        with tempfile.TemporaryDirectory(prefix="bloomring-package-") as folder:
            output_of("dpkg-deb", "--extract", self.path, folder)
            docs = pathlib.Path(folder) / "usr/share/doc/bloomring"
            licences = output_of("zcat", str(docs / "third-party-licences.gz"))
            parts = re.findall(r'"name": "([^"]+)",\n +"versionInfo": "([^"]+)",\n +"supplier"', (docs / "bloomring.spdx.json").read_text())
        self.assertGreater(len(parts), 20)
        self.assertEqual([part for part in parts if " ".join(part) not in licences], [])


class Unit(law.LawCase):
    def test_hardened(self):
        """package: the unit runs as its own user, hardened, and a wrong configuration is not started again"""
        text = text_of("packaging/bloomring.service")
        for line in HARDENED:
            self.assertRegex(text, rf"(?m)^{re.escape(line)}$")
        rows = unit()
        self.assertEqual(rows["User"], ["bloomring"])
        self.assertEqual(rows["StateDirectoryMode"], ["0750"])
        self.assertEqual(rows["RestartPreventExitStatus"], ["2"])

    def test_stop(self):
        """package: systemd waits for longer than the process takes to stop"""
        row = re.search(r"^\| `process\.stop_seconds` \| [^|]* \| `(\d+)` \|", text_of("docs/reference/config.md"), re.MULTILINE)
        self.assertGreater(int(unit()["TimeoutStopSec"][0]), int(row[1]))

    def test_supervised(self):
        """package: systemd waits for the process to be ready, without a bound of its own, and for longer than a task may stand still"""
        rows = unit()
        self.assertEqual((rows["Type"], rows["TimeoutStartSec"]), (["notify"], ["infinity"]))
        row = re.search(r"^\| `process\.stall_seconds` \| [^|]* \| `(\d+)` \|", text_of("docs/reference/config.md"), re.MULTILINE)
        self.assertGreater(int(rows["WatchdogSec"][0]), int(row[1]))
        self.assertIn("AF_UNIX", rows["RestrictAddressFamilies"][0].split(), "the socket of NOTIFY_SOCKET")

    def test_configuration(self):
        """package: the shipped configuration has no error, and the unit's line is a command of the program"""
        config = str(PACKAGING / "bloomring.yaml")
        output_of(str(PROGRAM), "check", "--offline", "--config", config)
        self.assertEqual(unit()["ExecStart"], ["/usr/bin/bloomring run --config /etc/bloomring/bloomring.yaml"])
        state = unit()["StateDirectory"][0]
        for key in ("store", "state"):
            self.assertIn(f"path: /var/lib/{state}/{key}", text_of("packaging/bloomring.yaml"))

    def test_scripts(self):
        """package: the scripts of the package are ones that Debian's sh reads"""
        for name in ("postinst", "prerm", "postrm"):
            output_of("sh", "-n", str(PACKAGING / name))


class Container(law.LawCase):
    text = text_of("Containerfile")

    def test_paths(self):
        """container: each file of the tree that the Containerfile names is there, and each program that it runs"""
        named = re.findall(r"\b((?:scripts|packaging|cmake)/[\w.]+)", self.text)
        self.assertIn("scripts/package", named)
        self.assertEqual([name for name in named if not (ROOT / name).exists()], [])

    def test_packages(self):
        """container: it installs what scripts/setup installs, and the package; no other package of Debian"""
        installed = re.findall(r"apt-get install ([^&\n]*)", self.text)
        words = [word for line in installed for word in line.split() if not word.startswith("-")]
        self.assertEqual(words, ["/package/*.deb"])
        self.assertIn("scripts/setup --build-only", self.text)

    def test_user(self):
        """container: it runs as a fixed user above 10000, and writes to its volume alone"""
        user = re.search(r"^USER (\d+):(\d+)$", self.text, re.MULTILINE)
        self.assertGreater(int(user[1]), 10_000)
        self.assertIn(f"bloomring:x:{user[1]}:{user[2]}:", self.text)
        self.assertEqual(re.findall(r"^VOLUME (.*)$", self.text, re.MULTILINE), ["/var/lib/bloomring"])
        self.assertNotRegex(self.text, r":latest|^FROM [^:\n]*$")


if __name__ == "__main__":
    unittest.main()
