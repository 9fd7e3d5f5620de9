#!/usr/bin/env python3
"""How fast a stage reads back a log of packed event blocks from a real Kafka broker, without its local state.

    python3 bench/rebuild_bench.py               4 million plays, three rebuilds of each stage: a few minutes

Needs a release build (build/release/bin, or the folder of $BLOOMRING_BIN) and `scripts/setup --kafka`. One JSON line for
each rebuild, then a table of medians. A rebuild is counted from the start of the process to the moment its last event is
applied; the time and CPU of the start itself are measured by a start on an empty log and taken off.
"""

import argparse
import json
import sys
import time

import chain_bench
import processes

APPLIED = {"window": "bloomring_window_events_total", "serve": "bloomring_serve_events_total"}


def rebuild(options, server, folder, stage, run, topics, events):
    own = folder / f"{topics}-{stage}-{run}"
    own.mkdir()
    # The merge stage only makes the store; it gets nothing to merge, since slots are an hour long.
    node = chain_bench.Node(own, server.bootstrap, options, stage, [stage, "merge"], topics, group=own.name)
    start = time.monotonic()
    with node:
        node.wait_until(lambda: node.total(APPLIED[stage]) >= events, 600, f"{events} events are read back")
        seconds = time.monotonic() - start
        return {
            "cpu_seconds": chain_bench.cpu_seconds(node.process.pid),
            "seconds": seconds,
            "resident_mib": processes.resident_mib(node.process.pid, peak=True),
        }


def runs_of(options, server, folder):
    full = chain_bench.Node(folder, server.bootstrap, options, "fill", ["ingest"], "full")
    empty = chain_bench.Node(folder, server.bootstrap, options, "none", ["ingest"], "empty")
    full.make_topics()
    empty.make_topics()
    chain_bench.generate(full, options)
    with full:
        full.wait_until(
            lambda: full.total("bloomring_ingest_records_total") >= options.plays, 900, "every play is read"
        )
        full.wait_until_committed("ingest", full.plays, 300)
        events = int(full.total("bloomring_ingest_records_total", result="accepted"))
        blocks = int(full.total("bloomring_blocks_total"))
    for stage in APPLIED:
        for run in range(options.runs):
            idle = rebuild(options, server, folder, stage, run, "empty", 0)
            found = rebuild(options, server, folder, stage, run, "full", events)
            cpu, seconds = (found[what] - idle[what] for what in ("cpu_seconds", "seconds"))
            yield {
                "part": stage,
                "run": run,
                "events": events,
                "blocks": blocks,
                "cpu_seconds": cpu,
                "seconds": seconds,
                "million_events_per_cpu_second": events / cpu / 1e6,
                "million_events_per_second": events / seconds / 1e6,
                "resident_peak_mib": found["resident_mib"],
            }


def main():
    parser = argparse.ArgumentParser(description="reading back packed event blocks from a real Kafka broker")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--plays", type=int, default=4_000_000)
    parser.add_argument("--users", type=int, default=40_000)
    options = parser.parse_args()
    options.slots, options.slot_seconds, options.id_bytes = 24, 3600, 0
    found = []
    try:
        with (
            processes.temp_folder("rebuild") as folder,
            chain_bench.PatientServer(
                chain_bench.kafka_server.VERSIONS[0], folder / "kafka", heap="512m", for_load=True
            ) as server,
        ):
            for run in runs_of(options, server, folder):
                print(json.dumps(run), flush=True)
                found.append(run)
    except processes.Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    print(chain_bench.medians(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
