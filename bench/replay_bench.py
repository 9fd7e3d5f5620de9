#!/usr/bin/env python3
"""A replay of a month of plays into a living installation, on a real Kafka broker: CPU and bytes of the log for each
replayed play, and how fresh live answers stay.

    python3 bench/replay_bench.py                    2 million plays of 20,000 users
    python3 bench/replay_bench.py --plays 20000000 --users 200000

Writes the plays of a month into a topic of their own. Then it runs the chain (one process with ingest, window and merge,
another with the service) with --live plays a second, and replays the topic twice: into filters that have none of it, and,
under another name, into filters that have all of it. bench/migrate_bench.py says how CPU is counted; bytes are those of the
topics' segments, less what the live plays write in as many seconds. One JSON line for each replay.
"""

import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench"))

import migrate_bench  # noqa: E402
from migrate_bench import chain_bench, plays, processes  # noqa: E402

HISTORY = "history-plays"
HOURS = 720


def fill_topic(site, options):
    command = [plays.binary(), "topics", "--config", site.pipeline.config, "--set", f"topics.plays={HISTORY}"]
    processes.run([*command, "--execute", "--create-plays"])
    command = [plays.binary(), "generate", "--execute", "--bootstrap", site.pipeline.bootstrap, "--topic", HISTORY]
    processes.run([*command, "--users", options.users, "--plays", options.plays, "--hours", HOURS], bound_s=7200)


def run(site, options):
    site.pipeline.make_topics()
    fill_topic(site, options)
    with site.pipeline, site.service, site.live_plays():
        for name in ("new", "again"):
            words = ["replay", "--name", name, "--topic", HISTORY]
            report, figures = migrate_bench.measured(site, words, "written", options)
            yield {"replay": name, "records": report["total"], "live_plays_per_s": options.live, **figures}


def main():
    parser = argparse.ArgumentParser(description="a replay under load")
    parser.add_argument("--users", type=int, default=20_000)
    parser.add_argument("--plays", type=int, default=2_000_000)
    options = migrate_bench.with_shared(parser).parse_args()
    try:
        with (
            processes.temp_folder("replay") as folder,
            chain_bench.PatientServer(options.kafka, folder / "kafka", heap="512m", for_load=True) as server,
        ):
            for line in run(migrate_bench.Site(folder, server.bootstrap, None, options), options):
                print(json.dumps(line), flush=True)
    except processes.Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
