#!/usr/bin/env python3
"""The query service over the whole chain on a real Kafka broker: latencies, CPU per call, and how fresh answers are.

    python3 bench/serve_bench.py                 every part: about five minutes
    python3 bench/serve_bench.py --part filter   `bloomring load` at a stated rate: Filter calls and nothing else
    python3 bench/serve_bench.py --part rpc      the same with served items reported after each call and live plays
    python3 bench/serve_bench.py --part cost     what one more Filter call costs the service, from two rates
    python3 bench/serve_bench.py --part split    where the time of a Filter call goes, measured apart
    python3 bench/serve_bench.py --part fresh    a play produced until it is seen

Loads the chain with the plays of --users over four months (--plays in all, 2,700 a user and month), waits until they are
merged, lets all of it run for --seconds, then measures with the pipeline (one process) and the service (another) running,
and --live plays a second coming in. Broker, pipeline, service and load tool share the machine; that is what the figures
say. Where others use it, too, --ahead schedules these before all other work, which leaves the caches to share. Needs a
release build (build/release/bin, or the folder of $BLOOMRING_BIN) and `scripts/setup --kafka`. One JSON line for each run
goes to standard output.
"""

import argparse
import contextlib
import datetime
import json
import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "real"))
sys.path.insert(0, str(ROOT / "bench"))

import chain_bench  # noqa: E402
import kafka_server  # noqa: E402
import plays  # noqa: E402
import processes  # noqa: E402

DAYS = 110  # the current month and most of the three before
PIPELINE = ["ingest", "window", "merge"]
# RedisBloom 2.8, server CPU of BF.MEXISTS over 4 monthly keys of exactly known capacity, by candidates.
BF_MEXISTS_US = {2_000: 900, 5_000: 2_100, 10_000: 4_100}


class Site:
    """The chain with its plays: one process with the pipeline, one with the service."""

    def __init__(self, folder, server, options):
        self.folder = folder
        self.options = options
        self.broker = server
        self.pipeline = chain_bench.Node(folder, server.bootstrap, options, "pipeline", PIPELINE, "site")
        self.service = chain_bench.Node(folder, server.bootstrap, options, "service", ["serve"], "site")
        start = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=DAYS)
        # The same model for the plays and for the questions about them.
        self.model = [
            "--users",
            options.users,
            "--plays",
            options.plays,
            "--items",
            1_000_000,
            "--hours",
            DAYS * 24,
            "--start",
            int(start.timestamp() * 1000),
        ]

    def generate(self, *model, rate=0):
        return [
            plays.binary(),
            "generate",
            "--execute",
            "--bootstrap",
            self.pipeline.bootstrap,
            "--topic",
            self.pipeline.plays,
            "--rate",
            rate,
            *model,
        ]

    def ahead(self, command):
        """The command, scheduled before other work where that is asked for."""
        return ["chrt", "--rr", "1", *command] if self.options.ahead else command

    def all_ahead(self):
        for pid in (
            (*self.broker.pids, self.pipeline.process.pid, self.service.process.pid) if self.options.ahead else ()
        ):
            processes.run(["chrt", "--all-tasks", "--rr", "--pid", "1", pid])

    @contextlib.contextmanager
    def running(self):
        self.pipeline.make_topics()
        with self.pipeline:
            processes.run(self.generate(*self.model), bound_s=3600)
            self.pipeline.wait_until_committed("ingest", self.pipeline.plays, 3600)
            self.pipeline.wait_until_committed("window", self.pipeline.events, 3600)
            with self.service:
                self.grpc = self.service.process.ready_line()["grpc"]
                self.all_ahead()
                yield self

    @contextlib.contextmanager
    def live_plays(self):
        """Plays of now, of the same users, for as long as the block lasts."""
        model = ["--users", self.options.users, "--plays", 3600 * self.options.live, "--hours", 1, "--seed", 2]
        command = self.generate(*model, rate=self.options.live)
        with processes.Process("live", command, self.folder) if self.options.live else contextlib.nullcontext():
            yield

    def load(self, rate, served):
        """The report of the load tool, and the CPU seconds that the service took meanwhile."""
        options = self.options
        command = [
            plays.binary(),
            "load",
            "--server",
            self.grpc,
            "--rate",
            rate,
            "--seconds",
            options.seconds,
            "--warm-up-seconds",
            2,
            "--candidates-min",
            options.candidates,
            "--candidates-max",
            options.candidates,
            "--served",
            served,
            *self.model,
        ]
        before = chain_bench.cpu_seconds(self.service.process.pid)
        _, out, _ = processes.run(self.ahead(command), bound_s=600 + options.seconds)
        return json.loads(out), chain_bench.cpu_seconds(self.service.process.pid) - before


def run_filter(site, run):
    return {"part": "filter", "run": run, **loaded(site, 0)}


def run_rpc(site, run):
    with site.live_plays():
        return {"part": "rpc", "run": run, **loaded(site, site.options.served)}


def loaded(site, served):
    """The reports of the load tool and the service about some seconds of load."""
    found, cpu_seconds = site.load(site.options.rate, served)
    hits, misses = (
        sum(processes.values(site.service.scrape(), "bloomring_filter_cache_lookups_total", result=result))
        for result in ("hit", "miss")
    )
    return {
        "candidates_per_call": site.options.candidates,
        "served_per_call": served,
        **found,
        "service_cpu_seconds": cpu_seconds,
        "cache_hit_rate": hits / max(1, hits + misses),
        "service_resident_peak_mib": processes.resident_mib(site.service.process.pid, peak=True),
    }


def run_cost(site, run):
    """The slope between two rates: what the service does without calls is in neither."""
    rates = (site.options.rate, 3 * site.options.rate)
    loads = [site.load(rate, 0) for rate in rates]
    # The warm-up of two seconds is in the CPU seconds, so it is in the calls, too.
    calls = [found["filter"]["ok"] * (1 + 2 / site.options.seconds) for found, _ in loads]
    us = (loads[1][1] - loads[0][1]) * 1e6 / (calls[1] - calls[0])
    theirs_us = BF_MEXISTS_US.get(site.options.candidates)
    return {
        "part": "cost",
        "run": run,
        "candidates_per_call": site.options.candidates,
        "rates": rates,
        "errors": [found["filter"]["errors"] for found, _ in loads],
        "service_cpu_us_per_call": us,
        "bf_mexists_cpu_us": theirs_us,
        "ratio": theirs_us and theirs_us / us,
    }


def run_split(site, run):
    """Medians of candidate_filter_bench; the rest, of gRPC and the kernel, is `cost` less their sum."""
    candidates = site.options.candidates
    command = [
        plays.binary().parent / "candidate_filter_bench",
        f"--benchmark_filter=/{candidates}$",
        "--benchmark_format=json",
        "--benchmark_repetitions=5",
        "--benchmark_min_time=0.2",
    ]
    _, out, _ = processes.run(site.ahead(command), bound_s=300)
    us = {
        row["run_name"].split("/")[0]: row["cpu_time"]
        for row in json.loads(out)["benchmarks"]
        if row.get("aggregate_name") == "median"
    }
    theirs_us = BF_MEXISTS_US.get(candidates)
    return {
        "part": "split",
        "run": run,
        "candidates_per_call": candidates,
        "parse_us": us["BM_Parse"],
        "decode_us": us["BM_Decode"] - us["BM_Hash"],
        "hash_us": us["BM_Hash"],
        "recent_and_served_us": us["BM_CoreWithoutFilters"],
        "filters_us": us["BM_Core"] - us["BM_CoreWithoutFilters"],
        "encode_us": us["BM_Encode"],
        "core_us": us["BM_Core"],
        "all_us": us["BM_Request"],
        "bf_mexists_cpu_us": theirs_us,
        "ratio": theirs_us and theirs_us / us["BM_Request"],
    }


def run_fresh(site, run):
    command = [
        plays.binary().parent / "play_to_seen_bench",
        site.pipeline.bootstrap,
        site.pipeline.plays,
        site.grpc,
        site.options.fresh_plays,
    ]
    with site.live_plays():
        _, out, _ = processes.run(site.ahead(command), bound_s=600)
    return {"part": "fresh", "run": run, **json.loads(out)}


PARTS = {"filter": run_filter, "rpc": run_rpc, "cost": run_cost, "split": run_split, "fresh": run_fresh}


def stolen_seconds():
    """The CPU time that the host has stolen since it started."""
    with open("/proc/stat", encoding="ascii") as stat:
        return int(stat.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


def measured(part, site, run):
    """One run, with the share of the CPUs that the host took meanwhile: latencies mean little where it is not small."""
    began, stolen = time.monotonic(), stolen_seconds()
    found = PARTS[part](site, run)
    share = (stolen_seconds() - stolen) / (time.monotonic() - began) / os.cpu_count()
    return {**found, "stolen_by_host": round(share, 4)}


def main():
    parser = argparse.ArgumentParser(description="latencies, CPU and freshness of the query service")
    parser.add_argument("--part", choices=(*PARTS, "all"), default="all")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--users", type=int, default=60)
    parser.add_argument("--plays", type=int, default=600_000)
    parser.add_argument(
        "--live", type=int, default=500, help="plays a second while it is measured (default %(default)s)"
    )
    parser.add_argument("--rate", type=float, default=200)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--candidates", type=int, choices=BF_MEXISTS_US, default=5_000)
    parser.add_argument(
        "--served", type=int, default=10, help="items reported as served after each call (default %(default)s)"
    )
    parser.add_argument("--fresh-plays", type=int, default=300)
    parser.add_argument("--ahead", action="store_true", help="schedule what is measured before all other work (root)")
    parser.add_argument("--slot-seconds", type=int, default=20, help="length of a slot (default %(default)s)")
    parser.add_argument("--kafka", default=kafka_server.VERSIONS[0])
    options = parser.parse_args()
    try:
        with (
            processes.temp_folder("bench") as folder,
            chain_bench.PatientServer(options.kafka, folder / "kafka", heap="512m", for_load=True) as server,
        ):
            start = time.monotonic()
            with Site(folder, server, options).running() as site:
                print(f"loaded in {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
                run_rpc(site, 0)  # Not counted: the broker compiles its code meanwhile.
                for part in PARTS if options.part == "all" else [options.part]:
                    for run in range(options.runs):
                        print(json.dumps(measured(part, site, run)), flush=True)
    except processes.Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
