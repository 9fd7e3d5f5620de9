"""Holds one process with all stages to its memory.limit, at full load on a real Kafka broker.

    tests/soak/run --minutes 10 --limit 1GiB

Plays are produced as fast as the chain reads them (`bloomring generate`), and the service is asked all the time
(`bloomring load`). Users with 5,000, 20,000 and 150,000 plays in a month are among them, and are asked about 1 to 20,000
candidates. Resident memory is sampled every half second, and what is known of its parts once a second. Prints a line a
minute and, at the end, a table of memory by part, and one JSON object; ends with 1 when the limit was exceeded, when the
process ended by itself, when a played item was answered unseen, when more others were seen than answers expect, or when
not everything was merged. Needs the build `tested` (or the program of $BLOOMRING_BIN) and `scripts/setup --kafka`.
"""

import argparse
import contextlib
import json
import pathlib
import statistics
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))

import chain  # noqa: E402
import heavy  # noqa: E402
import installation  # noqa: E402
import kafka_server  # noqa: E402
import plays  # noqa: E402
import processes  # noqa: E402

SLOT_SECONDS = 10
USERS = 40_000
CHUNK_PLAYS = 2_000_000
MODEL = ("--plays", CHUNK_PLAYS, "--users", USERS, "--hours", 1)  # With a seed, the plays of a chunk.
BACKLOG_PLAYS = 3_000_000  # More are produced when so many or fewer are not read yet.
SAMPLE_S = 0.5
CALLS_A_SECOND = 20
MERGED_BOUND_S = 300
# Records that are produced and read may go soon: this is no test of the disk.
BROKER = {"log.retention.check.interval.ms": 5000, "log.segment.bytes": 64 << 20, "log.retention.bytes": 256 << 20}
HEAVY = {**heavy.USERS, "heavy-150000": 150_000}
ASK_HEAVY_S = 20
PARTS_S = 1
# Part of memory.limit, by its name in the plan: the metric of what is taken of it. Of the others none is known.
TAKEN = {
    "stores": "bloomring_state_memory_bytes",
    "recent plays": "bloomring_recent_bytes",
    "served items": "bloomring_served_bytes",
    "filter cache": "bloomring_filter_cache_bytes",
}
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def resident_bytes(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise processes.Failed(f"process {pid} has no resident memory")


def to_bytes(text):
    for unit, factor in UNITS.items():
        if text.endswith(unit):
            return int(float(text[: -len(unit)]) * factor)
    return int(text)


def tenths(samples):
    """The samples of each tenth of the time, as far as there are so many."""
    size = max(1, -(-len(samples) // 10))
    return [samples[at : at + size] for at in range(0, len(samples), size)]


def table(plan, report):
    """Memory by part, for a person: what is planned, what was taken, and the most of each tenth of the time."""

    def line(name, part, median, most, by_tenth):
        words = [f"{int(bytes_) >> 20}" if bytes_ is not None else "" for bytes_ in (part, median, most)]
        return f"{name:24} {words[0]:>7} {words[1]:>7} {words[2]:>7}   {' '.join(f'{int(b) >> 20:>5}' for b in by_tenth)}"

    rows = [f"{'MiB':24} {'part':>7} {'median':>7} {'most':>7}   most of each tenth of the time"]
    for name, part in plan["parts"].items():
        taken = report["parts"].get(name)
        tail = (taken["median_bytes"], taken["max_bytes"], taken["by_tenth"]) if taken else (None, None, ())
        rows.append(line(name, part, *tail))
    most, median = report["resident_max_bytes"], report["resident_median_bytes"]
    rows.append(line("resident", report["limit_bytes"], median, most, report["resident_by_tenth"]))
    return "\n".join(rows)


class Producer(threading.Thread):
    """Chunks of generated plays, each with a seed of its own, until it is told to stop."""

    def __init__(self, site, unread):
        super().__init__(daemon=True)
        self._site = site
        self._unread = unread
        self._stop_now = threading.Event()
        self.sent = 0
        self.failure = None

    def run(self):
        try:
            seed = 0
            while not self._stop_now.wait(SAMPLE_S):
                if self._unread(self.sent) > BACKLOG_PLAYS:
                    continue
                seed += 1
                command = [
                    plays.binary(),
                    "generate",
                    "--execute",
                    "--bootstrap",
                    self._site.bootstrap,
                    "--topic",
                    f"plays-{self._site.name}",
                    *MODEL,
                    "--seed",
                    seed,
                ]
                _, out, _ = processes.run(command, bound_s=600)
                self.sent += json.loads(out)["plays"]
        except processes.Failed as failure:
            self.failure = failure

    def stop(self):
        self._stop_now.set()
        self.join()


class Asker(threading.Thread):
    """Every question about the heavy users, again and again; a context manager. Slots turn meanwhile, so a false positive
    may come and go between two answers."""

    def __init__(self, grpc, oracle):
        super().__init__(daemon=True)
        self._grpc = grpc
        self._oracle = oracle
        self._stop_now = threading.Event()
        self.rounds = 0
        self.failure = None

    def run(self):
        try:
            while not self._stop_now.wait(ASK_HEAVY_S):
                found = heavy.check(self._grpc, self._oracle, reasons=("recent", "filter"), seed=self.rounds)
                found.changed = 0
                if found.wrong():
                    raise processes.Failed(f"heavy users: {found.wrong()}")
                self.rounds += 1
        except processes.Failed as failure:
            self.failure = failure

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self._stop_now.set()
        self.join()


class Soak:
    def __init__(self, options, folder, server):
        self.options = options
        self.limit = to_bytes(options.limit)
        self.site = installation.Installation(
            folder, server.bootstrap, "soak", slot_seconds=SLOT_SECONDS, memory={"limit": options.limit}
        )
        self.samples = []
        self.parts = {part: [] for part in TAKEN}  # Of each: bytes, once a second.
        self.heavy_asked = plays.Report()
        self._admin = None

    def say(self, what):
        print(what, file=sys.stderr, flush=True)

    def total(self, name, **labels):
        return sum(processes.values(processes.metrics(self._admin), name, **labels))

    def unread(self, sent):
        return sent - self.total("bloomring_ingest_records_total")

    def run(self):
        plan = json.loads(self.site.command("check", "--offline")[1])["memory"]
        with self.site.process("ingest,window,merge,serve") as chain_process:
            ready = chain_process.ready_line(120)
            self._admin = ready["admin"]
            oracle = self.site.play_heavily(HEAVY)
            self.site.wait_until_ingested(chain_process, ready, sum(HEAVY.values()))
            producer = Producer(self.site, self.unread)
            producer.start()
            try:
                chain_process.wait_until(lambda: producer.sent >= CHUNK_PLAYS, 600, "the first plays are sent")
                with self.ask(ready["grpc"]) as asker, Asker(ready["grpc"], oracle) as heavy_asker:
                    self.watch(chain_process, producer, heavy_asker)
                    self.check(asker.wait(120) == 0, asker.describe("the load tool failed"))
                answers = json.loads(asker.output())
            finally:
                producer.stop()
            seconds = time.monotonic() - self._began
            read = self.total("bloomring_ingest_records_total")
            self.wait_until_merged(chain_process)
            self.site.wait_until_lap_over(chain_process, self._admin, MERGED_BOUND_S)
            self.heavy_asked = heavy.check(ready["grpc"], oracle)
            self.check(not self.heavy_asked.wrong(), f"heavy users: {self.heavy_asked.wrong()}")
            self.check(chain_process.term(60) == 0, "the process did not end well")
        report = self.report(plan, producer.sent, read, seconds, answers)
        self.say(table(plan, report))
        return report

    def ask(self, grpc):
        # The first chunk has all users; what it played is asked for until the end.
        command = [
            plays.binary(),
            "load",
            "--server",
            grpc,
            "--rate",
            CALLS_A_SECOND,
            "--seconds",
            self.options.minutes * 60,
            *MODEL,
            "--seed",
            1,
            "--timeout-ms",
            5000,
            "--served",
            10,
        ]
        return processes.Process("load", command, self.site.folder)

    def sample_parts(self):
        found = processes.metrics(self._admin)
        for part, name in TAKEN.items():
            self.parts[part].append(sum(processes.values(found, name)))

    def watch(self, chain_process, producer, heavy_asker):
        """Samples until the time is over."""
        self._began = time.monotonic()
        end = self._began + self.options.minutes * 60
        next_line = next_parts = self._began

        def sample():
            nonlocal next_line, next_parts
            self.samples.append(resident_bytes(chain_process.pid))
            for thread in (producer, heavy_asker):
                if thread.failure:
                    raise thread.failure
            if time.monotonic() >= next_parts:
                next_parts += PARTS_S
                self.sample_parts()
            if time.monotonic() >= next_line:
                next_line += 60
                self.say(
                    f"{time.monotonic() - self._began:6.0f} s  {self.samples[-1] >> 20} MiB now, {max(self.samples) >> 20} MiB "
                    f"at most of {self.limit >> 20}; {self.total('bloomring_ingest_records_total') / 1e6:.1f} million plays read, "
                    f"{self.total('bloomring_merged_plays_total') / 1e6:.1f} merged; "
                    + ", ".join(f"{part} {int(taken[-1]) >> 20} MiB" for part, taken in self.parts.items())
                )
            return time.monotonic() >= end

        while not sample():
            self.check(chain_process.running(), chain_process.describe("ended by itself"))
            threading.Event().wait(SAMPLE_S)

    def wait_until_merged(self, chain_process):
        def committed():
            ends = {p: end for p, end in self.site.ends().items() if end}
            found = processes.metrics(self._admin)
            return (
                all(
                    max(processes.values(found, chain.COMMITTED, stage="window", partition=p), default=0) >= end
                    for p, end in ends.items()
                )
                and self.total("bloomring_custody_lag_records", stage="ingest") == 0
            )

        chain_process.wait_until(committed, MERGED_BOUND_S, "everything is merged")

    def check(self, good, what):
        if not good:
            raise processes.Failed(what)

    def report(self, plan, sent, read, seconds, answers):
        ordered = sorted(self.samples)
        return {
            "minutes": self.options.minutes,
            "limit_bytes": self.limit,
            "resident_max_bytes": ordered[-1],
            "resident_median_bytes": statistics.median(ordered),
            "samples": len(ordered),
            "resident_max_of_limit": ordered[-1] / self.limit,
            "parts": {
                part: {
                    "part_bytes": plan["parts"].get(part, 0),
                    "max_bytes": max(taken),
                    "median_bytes": statistics.median(taken),
                    "by_tenth": [max(tenth) for tenth in tenths(taken)],
                }
                for part, taken in self.parts.items()
            },
            "resident_by_tenth": [max(tenth) for tenth in tenths(self.samples)],
            "heavy_users": str(self.heavy_asked),
            "plays_sent": sent,
            "plays_read_a_second": read / seconds,
            "answers": answers,
        }


def main():
    parser = argparse.ArgumentParser(description="one process at full load, held to its memory.limit")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--limit", default="1GiB", help="memory.limit (default %(default)s)")
    options = parser.parse_args()
    try:
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(processes.temp_folder("soak"))
            server = stack.enter_context(
                kafka_server.KafkaServer(kafka_server.VERSIONS[0], folder / "kafka", properties=BROKER, for_load=True)
            )
            report = Soak(options, folder, server).run()
    except processes.Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    print(json.dumps(report))
    if report["resident_max_bytes"] > report["limit_bytes"]:
        print(
            f"the limit was exceeded: {report['resident_max_bytes']} of {report['limit_bytes']} bytes", file=sys.stderr
        )
        return 1
    return 0
