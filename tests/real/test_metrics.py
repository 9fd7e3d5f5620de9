"""/metrics of running processes, each stage by itself and all together, on a real broker."""

import contextlib
import json
import pathlib
import re
import time

import certificates
import chain
import exposition
import installation
import one_broker
import plays
import processes

STAGES = ("ingest", "window", "merge", "serve")
BEHIND = "bloomring_behind_seconds"
LIMIT_BYTES = 512 << 20


def tls(folder):
    return {"tls_certificate": str(folder / "own.pem"), "tls_key": str(folder / "own.key")}


class Metrics(one_broker.OneBrokerCase):
    def start(self, site, stack, *stages):
        """{stages: (process, what it says when it is ready)}."""
        running = {stage: stack.enter_context(site.process(stage)) for stage in stages}
        return {stage: (process, process.ready_line(90)) for stage, process in running.items()}

    def page(self, ready):
        status, text = processes.http_get(ready["admin"], "/metrics")
        self.assertEqual(status, 200)
        return text

    def test_of_stages(self):
        """metrics: each stage's page keeps the rules, and while the broker hangs every stage's seconds behind rise and stay"""
        site = installation.Installation(
            self.folder, self.server.bootstrap, "stages", slot_seconds=60, memory={"limit": LIMIT_BYTES}
        )
        with contextlib.ExitStack() as stack:
            started = self.start(site, stack, "merge", "window", "ingest", "serve")
            site.play(["v1", "v2"])
            grpc = started["serve"][1]["grpc"]
            site.wait_until_answered(started["serve"][0], grpc, ["v1"], ["recent"])
            processes.run([plays.binary(), "query", "--server", grpc, "--user", "u1", "v" * 129], check=False)
            processes.run([plays.binary(), "served", "--server", grpc, "--user", "u1", "v9"])
            for stage, (_, ready) in started.items():
                page = self.page(ready)
                self.assertEqual(exposition.problems(page), [], stage)
                code, out, err = processes.run(["promtool", "check", "metrics"], stdin=page, check=False)
                self.assertEqual((code, out, err), (0, "", ""), stage)
            self.of_the_process(site, started)
            self.of_calls(started["serve"][1])
            self.of_status(site, started)
            self.while_the_broker_hangs(started)

    def of_the_process(self, site, started):
        for stage, (_, ready) in started.items():
            found = processes.metrics(ready["admin"])
            ((_, labels),) = [key for key in found if key[0] == "bloomring_build_info"]
            labels = dict(labels)
            self.assertRegex(labels["commit"], "^([0-9a-f]{12}|unknown)$")
            for library in ("librdkafka", "rocksdb", "grpc"):
                self.assertRegex(labels[library], r"^\d+\.\d+")
            self.assertEqual(processes.values(found, "bloomring_memory_limit_bytes"), [LIMIT_BYTES])
            self.assertEqual(sum(processes.values(found, "bloomring_memory_part_bytes")), LIMIT_BYTES)
            for folder in {"ingest": [], "window": ["store", "state"]}.get(stage, ["store"]):
                (free,) = processes.values(found, "bloomring_folder_free_bytes", folder=folder)
                self.assertGreater(free, 0)
                (used,) = processes.values(found, "bloomring_folder_bytes", folder=folder)
                self.assertGreater(used, 0, (stage, folder))
                store = "window" if folder == "state" else "filters"
                self.assertEqual(processes.values(found, "bloomring_rocksdb_write_stopped", store=store), [0])
                self.assertEqual(processes.values(found, "bloomring_rocksdb_background_errors_total", store=store), [0])
            # librdkafka says it every five seconds.
            processes.wait_for(
                lambda ready=ready: sum(
                    processes.values(processes.metrics(ready["admin"]), "bloomring_broker_connections", state="up")
                ),
                30,
                f"{stage} says that it is connected",
            )

    def of_status(self, site, started):
        """The running ring and the stored one are shown alike; the running one knows more states."""

        def status(stage):
            page = json.loads(processes.http_get(started[stage][1]["admin"], "/status")[1])
            (one,) = page["stages"]
            return one

        def rings():
            partitions = status("window")["partitions"]
            told = [one for one in partitions if any(held["events"] for held in one.get("ring", {}).get("staged", []))]
            return told if len(partitions) == chain.PARTITIONS and told else None

        slots = json.loads(site.command("inspect", "ring", "--set", f"state.path={site.folder / 'state'}")[1])["slots"]
        for one in processes.wait_for(rings, 60, "the running ring to hold plays"):
            self.assertEqual(one["ring"]["slot_states"].count("filling"), 1)
            self.assertEqual(len(one["ring"]["slot_states"]), slots)
            self.assertEqual(one["ring"]["staged"][-1]["state"], "filling")
            self.assertEqual(one["ring"]["staged"][-1]["to"], one["ring"]["applied_offset"])
        self.assertGreater(status("merge")["store"]["bytes_on_disk"], 0)
        self.assertNotIn("store", status("serve"))

    def of_calls(self, ready):
        found = processes.metrics(ready["admin"])

        def calls(method, code):
            return sum(processes.values(found, "bloomring_query_seconds_count", method=method, code=code))

        self.assertGreater(calls("Filter", "OK"), 0)
        self.assertEqual(calls("Filter", "INVALID_ARGUMENT"), 1)
        self.assertEqual(calls("RecordServed", "OK"), 1)
        self.assertEqual(calls("Forget", "OK"), 0)
        for edge in (0.035, 0.05, 0.075):
            self.assertTrue(
                processes.values(found, "bloomring_query_seconds_bucket", method="Filter", code="OK", le=edge), edge
            )

        def seen():
            return sum(processes.values(processes.metrics(ready["admin"]), "bloomring_event_to_seen_seconds_count"))

        # 60 plays and the item that was recorded as served, each counted by itself; what came before it was ready, not.
        processes.wait_for(lambda: seen() >= 60, 60, lambda: f"every play to be counted as seen, {seen()} are")

    def brokers_of(self, admin):
        """The brokers' part of readiness; None without one."""
        return json.loads(processes.http_get(admin, "/readyz")[1])["parts"].get("brokers")

    def while_the_broker_hangs(self, started):
        def behind(stage):
            """How far each partition is behind, and for how long no broker has answered."""
            found = processes.metrics(started[stage][1]["admin"])
            return processes.values(found, BEHIND, stage=stage), *processes.values(
                found, "bloomring_broker_silence_seconds"
            )

        def at_the_end(stage):
            partitions, silence = behind(stage)
            return len(partitions) == chain.PARTITIONS and max(partitions) < 3 and silence < 3

        def counts(stage):
            partitions, silence = behind(stage)
            self.assertEqual(len(partitions), chain.PARTITIONS, f"{stage}'s series are there")
            return min(partitions) > 6 and silence > 6

        for stage, (process, _) in started.items():
            process.wait_until(lambda stage=stage: at_the_end(stage), 60, f"{stage} is at the end of its log")
        broker = self.server.process()
        looked_at, before = {}, {}
        for stage in started:
            looked_at[stage] = time.monotonic()
            partitions, silence = behind(stage)
            before[stage] = max(*partitions, silence)
        broker.stall()
        try:
            for stage, (process, _) in started.items():
                process.wait_until(lambda stage=stage: counts(stage), 60, f"{stage} counts what it is behind")
                partitions, silence = behind(stage)
                passed = time.monotonic() - looked_at[stage]
                self.assertLess(max(*partitions, silence), before[stage] + passed + 3, stage)
            for stage, (process, ready) in started.items():
                process.wait_until(lambda at=ready["admin"]: self.brokers_of(at), 60, f"{stage}'s readiness to tell of it")
                self.assertRegex(self.brokers_of(ready["admin"])["reason"], r"no broker .* has answered for \d\d+ s")
                self.assertTrue(self.brokers_of(ready["admin"])["ready"])
        finally:
            broker.resume()
        for stage, (process, _) in started.items():
            process.wait_until(lambda stage=stage: at_the_end(stage), 60, f"{stage} is at the end of its log again")
            admin = started[stage][1]["admin"]
            process.wait_until(lambda at=admin: self.brokers_of(at) is None, 30, f"{stage} to say no more of brokers")

    def test_of_all_partitions(self):
        """metrics: without series of partitions there is one for all of them, and a certificate's expiry is shown"""
        folder = self.folder / "certificates"
        folder.mkdir()
        certificates.make(folder)
        site = installation.Installation(
            self.folder,
            self.server.bootstrap,
            "all",
            metrics={"per_partition": False},
        )
        with contextlib.ExitStack() as stack:
            process = site.process(",".join(STAGES))
            for key, value in tls(folder).items():
                process.command += ["--set", f"serve.{key}={value}"]
            stack.enter_context(process)
            ready = process.ready_line(90)
            site.play(["v1"])
            process.wait_until(
                lambda: processes.window_has_read(ready["admin"], 30), 60, "the window stage to read what was played"
            )

            def every_stage_tells():
                found = processes.metrics(ready["admin"])
                return all(processes.values(found, BEHIND, stage=stage) for stage in STAGES)

            process.wait_until(every_stage_tells, 60, "every stage to tell how far it is behind")
            text = self.page(ready)
            self.assertEqual(exposition.problems(text), [])
            found = processes.parse_metrics(text)
            partitions = {dict(labels)["partition"] for _, labels in found if "partition" in dict(labels)}
            self.assertEqual(partitions, {"all"})
            for stage in STAGES:
                self.assertEqual(len(processes.values(found, BEHIND, stage=stage)), 1, stage)
            ends = processes.end_offsets(self.server.bootstrap, site.events, chain.PARTITIONS)
            process.wait_until(
                lambda: processes.values(
                    processes.metrics(ready["admin"]), "bloomring_applied_offset", stage="window"
                )
                >= [sum(ends.values())],
                30,
                "the applied offsets are summed",
            )
            (expiry,) = processes.values(
                found, "bloomring_certificate_expiry_timestamp_seconds", key="serve.tls_certificate"
            )
            self.assertAlmostEqual(expiry, time.time() + 2 * 86400, delta=3600)

    def test_rules_are_checked(self):
        """metrics: the checker of pages finds what breaks each rule"""
        good = "# HELP a_total A.\n# TYPE a_total counter\na_total 1\n"
        self.assertEqual(exposition.problems(good), [])
        for bad in (
            "# TYPE a_total counter\na_total 1\n",
            good + "a_total 1\n",
            "# HELP a A.\n# TYPE a counter\na 1\n",
            "# HELP a_total A.\n# TYPE a_total gauge\na_total 1\n",
            "# HELP a_ms A.\n# TYPE a_ms gauge\na_ms 1\n",
            '# HELP a A.\n# TYPE a gauge\na{b="c d"} 1\n',
            "# HELP a A.\n# TYPE a gauge\na nan\n",
            good + "# HELP b B.\n# TYPE b gauge\nb 1\na_total{c=\"d\"} 1\n",
            '# HELP h H.\n# TYPE h histogram\nh_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n',
        ):
            self.assertNotEqual(exposition.problems(bad), [], bad)

    def test_documented(self):
        """metrics: operating.md names only metrics that the program declares"""
        _, out, _ = processes.run([plays.binary(), "reference", "metrics"])
        declared = set(re.findall(r"^\| `(\w+)` \|", out, re.M))
        page = (pathlib.Path(processes.ROOT) / "docs" / "operating.md").read_text()
        named = {re.sub(r"_(bucket|sum|count)$", "", name) for name in re.findall(r"`(bloomring_\w+)", page)}
        self.assertLessEqual(named, declared)
