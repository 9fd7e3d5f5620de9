"""The parts of a program by scripts/sbom: all that the program loads, nothing about the machine that built it.

Needs the program of the preset `tested`.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "real"))

import law  # noqa: E402

BUILD = ROOT / "build" / "tested"
PROGRAM = BUILD / "bin" / "bloomring"
BOUND_S = 120
PACKAGES_MIN = 30
ABSOLUTE = re.compile(r'(?:^|[\s"=,(])/(?:\w|\.)')
EXPRESSION = re.compile(r"(?:NOASSERTION|[A-Za-z0-9.-]+(?: AND [A-Za-z0-9.-]+)*)")


def output_of(*command):
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1649314823"}
    return subprocess.run(
        command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True, timeout=BOUND_S
    ).stdout


def strings_in(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from strings_in(part)


class Sbom(law.LawCase):
    @classmethod
    def setUpClass(cls):
        cls.text = output_of("scripts/sbom", "--build", BUILD)
        cls.document = json.loads(cls.text)
        cls.packages = {package["name"]: package for package in cls.document["packages"]}

    def test_loaded(self):
        """sbom: each library that the program loads is of exactly one package"""
        loaded = re.findall(r"^\s+(?:\S+ => )?/\S*?([^/\s]+) \(0x", output_of("ldd", PROGRAM), re.MULTILINE)
        self.assertIn("librocksdb.so.7.8", loaded)
        listed = [
            name
            for package in self.packages.values()
            for part in package.get("comment", "").split("; ")
            if part.startswith("loaded libraries: ")
            for name in part.removeprefix("loaded libraries: ").split(", ")
        ]
        self.assertEqual(sorted(listed), sorted(set(loaded)))

    def test_packages(self):
        """sbom: each package has the version that dpkg knows, a source and a licence expression"""
        self.assertGreater(len(self.packages), PACKAGES_MIN)
        for name in ("librdkafka1", "libgrpc++1.51", "nlohmann-json3-dev", "libxxhash-dev", "grpc-health-proto"):
            self.assertIn(name, self.packages)
        for name, package in self.packages.items():
            self.assertTrue(EXPRESSION.fullmatch(package["licenseDeclared"]), name)
            self.assertIn("versionInfo", package)
            if package.get("supplier") == "Organization: Debian":
                version = output_of("dpkg-query", "-W", "-f", "${Version}\n", name).split()[0]
                self.assertEqual(package["versionInfo"], version)
                self.assertRegex(package["sourceInfo"], r"^built from Debian's source package \S+ \S+$")
        told = [name for name, package in self.packages.items() if package["licenseDeclared"] != "NOASSERTION"]
        self.assertGreater(len(told), len(self.packages) / 2)
        self.assertEqual(self.packages["librdkafka1"]["licenseDeclared"].split(" AND ")[0], "BSD-2-Clause")

    def test_form(self):
        """sbom: identifiers are one of a kind, and relationships and licences name what is there"""
        self.assertEqual(self.document["spdxVersion"], "SPDX-2.3")
        names = [package["SPDXID"] for package in self.document["packages"]]
        self.assertEqual(len(names), len(set(names)))
        for name in names:
            self.assertRegex(name, r"^SPDXRef-[A-Za-z0-9.-]+$")
        related = {relation["relatedSpdxElement"] for relation in self.document["relationships"]}
        self.assertEqual(related, set(names))
        terms = {term for package in self.packages.values() for term in package["licenseDeclared"].split(" AND ")}
        references = {info["licenseId"] for info in self.document["hasExtractedLicensingInfos"]}
        self.assertEqual({term for term in terms if term.startswith("LicenseRef-")}, references)

    def test_no_machine(self):
        """sbom: it has no absolute path, and the same program gives the same document"""
        self.assertEqual([text for text in strings_in(self.document) if ABSOLUTE.search(text)], [])
        self.assertNotIn(str(ROOT), self.text)
        self.assertEqual(output_of("scripts/sbom", "--build", BUILD), self.text)


if __name__ == "__main__":
    unittest.main()
