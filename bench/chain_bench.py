#!/usr/bin/env python3
"""The chain on a real Kafka broker under generated load: the cost of a play, next to the cost of reading it.

    python3 bench/chain_bench.py                 every part, three runs each: about 12 minutes
    python3 bench/chain_bench.py --part ingest   the raw topic read, and read by the ingest stage
    python3 bench/chain_bench.py --part chain    ingest, window and merge in one process
    python3 bench/chain_bench.py --part split    ingest, window and merge, each in its own process

Needs a release build (build/release/bin, or the folder of $BLOOMRING_BIN) and `scripts/setup --kafka`. One JSON line for
each run goes to standard output, and at the end a table of medians in Markdown. CPU is what counts: it is that of the
processes themselves, so it holds while other work runs on the machine, wall times do not.
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "real"))

import kafka_server  # noqa: E402
import plays  # noqa: E402
import processes  # noqa: E402

os.environ.setdefault("BLOOMRING_BIN", str(ROOT / "build" / "release" / "bin" / "bloomring"))  # The shipped build.

PARTITIONS = 10
RING_SLOTS = 6
SCRAPE_S = 0.5  # A scrape costs the process about a millisecond.
IDLE_S = 5
STAGES = ("ingest", "window", "merge")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
KAFKA_STREAMS_PLAYS_PER_CPU_S = 91_600


def cpu_seconds(pid):
    """User and system time of a process so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


def topic_bytes(kafka_folder, topic):
    """The bytes of the topic's log on the broker's disk, compressed."""
    logs = kafka_folder.glob(f"broker-1/data/{topic}-[0-9]*/*.log")
    return sum(log.stat().st_size for log in logs)


class PatientServer(kafka_server.KafkaServer):
    """A broker that may take long to start while other work runs."""

    def wait_until_answers(self, bound_s=600):
        super().wait_until_answers(bound_s)


class Node:
    """One bloomring process with some of the stages. Topics and groups carry the name of the set that it works on.
    `properties` are more of kafka.properties, as NAME=VALUE."""

    def __init__(self, folder, bootstrap, options, name, stages, topics, group=None, properties=()):
        self.plays = f"{topics}-plays"
        self.events = f"{topics}-events"
        self.batches = f"{topics}-batches"
        config = {
            "kafka": {
                "bootstrap": bootstrap,
                "group_prefix": group or topics,
                "properties": dict(each.split("=", 1) for each in properties),
            },
            "topics": {
                "plays": self.plays,
                "user_events": self.events,
                "user_batches": self.batches,
                "dead": f"{topics}-dead",
                "partitions": PARTITIONS,
                "plays_partitions": PARTITIONS,
                "replication": 1,
            },
            "ring": {"slots": RING_SLOTS, "slot_seconds": options.slot_seconds},
            "store": {"path": str(folder / "store")},
            "state": {"path": str(folder / name)},
            "instance": name,
            "admin": {"listen": "127.0.0.1:0"},
        }
        self.config = folder / f"{name}.yaml"
        self.config.write_text(json.dumps(config, indent=1))
        self.process = processes.Process(
            name, [plays.binary(), "run", "--config", self.config, "--stages", ",".join(stages)], folder
        )
        self.bootstrap = bootstrap
        self._scraped = {}
        self._scrape_due = 0.0

    def make_topics(self):
        processes.run([plays.binary(), "topics", "--config", self.config, "--execute", "--create-plays"])

    def __enter__(self):
        self.process.start()
        self.admin = self.process.ready_line(300)["admin"]
        return self

    def __exit__(self, *_):
        self.process.end()

    def scrape(self):
        self._scraped = processes.metrics(self.admin)
        return self._scraped

    def total(self, name, **labels):
        """The sum of a metric's series, as scraped last."""
        return sum(processes.values(self._scraped, name, **labels))

    def committed(self, stage, topic):
        return {
            int(dict(labels)["partition"]): int(offset)
            for (name, labels), offset in self._scraped.items()
            if name == "bloomring_committed_offset"
            and dict(labels)["stage"] == stage
            and dict(labels)["topic"] == topic
        }

    def wait_until(self, condition, bound_s, what):
        """Scrapes, not too often, until condition() holds."""

        def check():
            if time.monotonic() < self._scrape_due:
                return False
            self._scrape_due = time.monotonic() + SCRAPE_S
            self.scrape()
            return condition()

        self.process.wait_until(check, bound_s, what)

    def wait_until_committed(self, stage, topic, bound_s):
        ends = {p: end for p, end in processes.end_offsets(self.bootstrap, topic, PARTITIONS).items() if end}
        self.wait_until(
            lambda: all(self.committed(stage, topic).get(p, 0) >= end for p, end in ends.items()),
            bound_s,
            f"{stage} has committed {topic}",
        )


def generate(node, options, rate=0.0):
    command = [
        plays.binary(),
        "generate",
        "--execute",
        "--bootstrap",
        node.bootstrap,
        "--topic",
        node.plays,
        "--plays",
        options.plays,
        "--users",
        options.users,
        "--hours",
        options.slots,
        "--id-bytes",
        options.id_bytes,
        "--rate",
        rate,
    ]
    _, out, _ = processes.run(command, bound_s=1800)
    return json.loads(out)


def raw_read(node):
    command = [plays.binary().parent / "topic_read_bench", node.bootstrap, node.plays, PARTITIONS]
    _, out, _ = processes.run(command, bound_s=600)
    return json.loads(out)


def ingest_once(node, options):
    """A fresh group of one process reads the whole topic. The process is counted from its start."""
    with node:
        start = time.monotonic()
        node.wait_until(
            lambda: node.total("bloomring_ingest_records_total") >= options.plays, 900, "every play is read"
        )
        seconds = time.monotonic() - start
        node.wait_until_committed("ingest", node.plays, 300)
        return {
            "cpu_seconds": cpu_seconds(node.process.pid),
            "seconds": seconds,
            "resident_mib": processes.resident_mib(node.process.pid, peak=True),
            "refused": node.total("bloomring_ingest_records_total", result="refused"),
            "repeats": node.total("bloomring_ingest_records_total", result="repeat"),
            "block_bytes": node.total("bloomring_block_bytes_total"),
            "blocks": node.total("bloomring_blocks_total"),
        }


def run_ingest(options, server, folder):
    """The same preloaded topic, read raw and by the ingest stage, in turns."""
    first = Node(folder, server.bootstrap, options, "topics", ["ingest"], "ingest")
    first.make_topics()
    sent = generate(first, options)
    for run in range(options.runs):
        raw = raw_read(first)
        node = Node(
            folder,
            server.bootstrap,
            options,
            f"ingest-{run}",
            ["ingest"],
            "ingest",
            group=f"ingest-{run}",
            properties=options.property,
        )
        ingest = ingest_once(node, options)
        raw_us = raw["cpu_seconds"] * 1e6 / raw["records"]
        ingest_us = ingest["cpu_seconds"] * 1e6 / options.plays
        yield {
            "part": "ingest",
            "run": run,
            "plays": options.plays,
            "bytes_per_play": sent["bytes"] / sent["plays"],
            "raw_cpu_us_per_record": raw_us,
            "raw_records_per_s_wall": raw["records"] / raw["seconds"],
            "ingest_cpu_us_per_play": ingest_us,
            "ingest_plays_per_s_wall": options.plays / ingest["seconds"],
            "ingest_rate_of_raw_by_cpu": raw_us / ingest_us,
            "ingest_repeats": ingest["repeats"],
            "ingest_refused": ingest["refused"],
            "block_bytes_per_play": ingest["block_bytes"] / options.plays,
            "blocks": ingest["blocks"],
            "ingest_resident_peak_mib": ingest["resident_mib"],
        }


def chain_totals(nodes, options, kafka_folder, store_folder, cpu_used, idle):
    def total(name, **labels):
        return sum(node.total(name, **labels) for node in nodes)

    cpu = sum(cpu_used)
    merged = total("bloomring_merged_plays_total")
    per_play = 1.0 / options.plays
    return {
        "plays": options.plays,
        "plays_merged": merged,
        "refused": total("bloomring_ingest_records_total", result="refused"),
        "repeats": total("bloomring_ingest_records_total", result="repeat"),
        "drains": total("bloomring_drains_total"),
        "batches": total("bloomring_batches_total"),
        "cpu_seconds": cpu,
        "cpu_us_per_play": cpu * 1e6 * per_play,
        "plays_per_cpu_second": options.plays / cpu,
        "times_kafka_streams": options.plays / cpu / KAFKA_STREAMS_PLAYS_PER_CPU_S,
        "idle_cpu_per_second": idle,
        "store_logical_bytes_per_play": total("bloomring_store_bytes_total") * per_play,
        "store_physical_bytes_per_play": total("bloomring_store_physical_bytes_total") * per_play,
        "store_disk_bytes_per_play": sum(f.stat().st_size for f in store_folder.rglob("*") if f.is_file()) * per_play,
        "events_topic_bytes_per_play": topic_bytes(kafka_folder, nodes[0].events) * per_play,
        "batches_topic_bytes_per_play": topic_bytes(kafka_folder, nodes[0].batches) * per_play,
        "block_bytes_per_play": total("bloomring_block_bytes_total") * per_play,
        "resident_peak_mib": sum(processes.resident_mib(node.process.pid, peak=True) for node in nodes),
    }


def idle_for(seconds):
    end = time.monotonic() + seconds
    processes.wait_for(lambda: time.monotonic() >= end, seconds + 1, "time passes")


def run_chain(options, server, folder, split):
    part = "split" if split else "chain"
    rate = options.plays / (options.slots * options.slot_seconds)
    placements = {stage: [stage] for stage in reversed(STAGES)} if split else {"chain": list(STAGES)}
    for run in range(options.runs):
        own = folder / f"{part}-{run}"
        own.mkdir()
        nodes = [
            Node(own, server.bootstrap, options, name, stages, f"{part}-{run}", properties=options.property)
            for name, stages in placements.items()
        ]
        ingest = nodes[-1]
        window = nodes[list(placements).index("window")] if split else nodes[0]
        ingest.make_topics()
        with contextlib.ExitStack() as stack:
            for node in nodes:
                stack.enter_context(node)
            pids = [node.process.pid for node in nodes]
            started = [cpu_seconds(pid) for pid in pids]
            idle_for(IDLE_S)
            before = [cpu_seconds(pid) for pid in pids]
            idle = sum(b - s for s, b in zip(started, before)) / IDLE_S
            broker_before = cpu_seconds(server.pids[0])
            start = time.monotonic()
            sent = generate(ingest, options, rate)
            ingest.wait_until_committed("ingest", ingest.plays, 1200)
            # The last slots seal by the clock and are drained a slot later; a lap is ample.
            window.wait_until_committed("window", window.events, 600 + 2 * RING_SLOTS * options.slot_seconds)
            seconds = time.monotonic() - start
            used = [cpu_seconds(pid) - cpu for pid, cpu in zip(pids, before)]
            for node in nodes:
                node.scrape()
            found = {
                "part": part,
                "run": run,
                "seconds": seconds,
                "sent_per_s": sent["plays_per_second"],
                "slot_seconds": options.slot_seconds,
            }
            found |= chain_totals(nodes, options, server.folder, own / "store", used, idle)
            if split:
                found |= {f"{name}_cpu_us_per_play": cpu * 1e6 / options.plays for name, cpu in zip(placements, used)}
                found |= {
                    f"{node.process.name}_resident_peak_mib": processes.resident_mib(node.process.pid, peak=True)
                    for node in nodes
                }
            found["broker_cpu_us_per_play"] = (cpu_seconds(server.pids[0]) - broker_before) * 1e6 / options.plays
            yield found


def medians(runs):
    """A table of the figures of each part: median (smallest to largest)."""
    lines = []
    for part in dict.fromkeys(run["part"] for run in runs):
        lines += ["", f"| {part} | median | smallest to largest |", "|---|---|---|"]
        of_part = [run for run in runs if run["part"] == part]
        for name in of_part[0]:
            if name in ("part", "run"):
                continue
            numbers = [run[name] for run in of_part]
            lines.append(f"| {name} | {statistics.median(numbers):.6g} | {min(numbers):.6g} to {max(numbers):.6g} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description="what a play costs on a real Kafka broker")
    parser.add_argument("--part", choices=("ingest", "chain", "split", "all"), default="all")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--plays", type=int, default=4_000_000)
    parser.add_argument("--users", type=int, default=40_000)
    parser.add_argument(
        "--slots", type=int, default=24, help="slots that the plays span, and hours of their event times"
    )
    parser.add_argument("--slot-seconds", type=int, default=2, help="length of a slot (default %(default)s)")
    parser.add_argument("--id-bytes", type=int, default=0, help="fill ids up to this length")
    parser.add_argument(
        "--property", action="append", default=[], metavar="NAME=VALUE", help="one more of kafka.properties"
    )
    parser.add_argument("--kafka", default=kafka_server.VERSIONS[0])
    options = parser.parse_args()
    parts = {
        "ingest": run_ingest,
        "chain": lambda *where: run_chain(*where, split=False),
        "split": lambda *where: run_chain(*where, split=True),
    }
    runs = []
    try:
        with (
            processes.temp_folder("bench") as folder,
            PatientServer(options.kafka, folder / "kafka", heap="512m", for_load=True) as server,
        ):
            for part in parts if options.part == "all" else [options.part]:
                for found in parts[part](options, server, folder):
                    print(json.dumps(found), flush=True)
                    runs.append(found)
    except processes.Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    print(medians(runs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
