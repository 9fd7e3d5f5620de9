"""Holds one process with all stages to its memory.limit, at full load on a real Kafka broker.

    tests/soak/run --minutes 10 --limit 1GiB

Plays are produced as fast as the chain reads them (`bloomring generate`), and the service is asked all the time
(`bloomring load`). Resident memory is sampled every half second. Prints a line a minute and, at the end, one JSON object;
ends with 1 when the limit was exceeded, when the process ended by itself, when a played item was answered unseen, or when
not everything was merged. Needs a release build (or the program of $BLOOMRING_BIN) and `scripts/setup --kafka`.
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
# What is produced and read may go soon: the disk is not what is tested here.
BROKER = {"log.retention.check.interval.ms": 5000, "log.segment.bytes": 64 << 20, "log.retention.bytes": 256 << 20}
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


class Soak:
    def __init__(self, options, folder, server):
        self.options = options
        self.limit = to_bytes(options.limit)
        self.site = installation.Installation(
            folder, server.bootstrap, "soak", slot_seconds=SLOT_SECONDS, memory={"limit": options.limit}
        )
        self.samples = []
        self.recent = []
        self.state = []
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
            producer = Producer(self.site, self.unread)
            producer.start()
            try:
                chain_process.wait_until(lambda: producer.sent >= CHUNK_PLAYS, 600, "the first plays are sent")
                with self.ask(ready["grpc"]) as asker:
                    self.watch(chain_process, producer)
                    self.check(asker.wait(120) == 0, asker.describe("the load tool failed"))
                answers = json.loads(asker.output())
            finally:
                producer.stop()
            seconds = time.monotonic() - self._began
            read = self.total("bloomring_ingest_records_total")
            self.wait_until_merged(chain_process)
            self.check(chain_process.term(60) == 0, "the process did not end well")
        return self.report(plan, producer.sent, read, seconds, answers)

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
        ]
        return processes.Process("load", command, self.site.folder)

    def watch(self, chain_process, producer):
        """Samples until the time is over."""
        self._began = time.monotonic()
        end = self._began + self.options.minutes * 60
        next_line = self._began

        def sample():
            nonlocal next_line
            self.samples.append(resident_bytes(chain_process.pid))
            if producer.failure:
                raise producer.failure
            if time.monotonic() >= next_line:
                next_line += 60
                self.recent.append(self.total("bloomring_recent_bytes"))
                self.state.append(self.total("bloomring_state_memory_bytes"))
                self.say(
                    f"{time.monotonic() - self._began:6.0f} s  {self.samples[-1] >> 20} MiB now, {max(self.samples) >> 20} MiB "
                    f"at most of {self.limit >> 20}; {self.total('bloomring_ingest_records_total') / 1e6:.1f} million plays read, "
                    f"{self.total('bloomring_merged_plays_total') / 1e6:.1f} merged, recent plays "
                    f"{int(self.recent[-1]) >> 20} MiB, stores {int(self.state[-1]) >> 20} MiB, "
                    f"filter cache {int(self.total('bloomring_filter_cache_bytes')) >> 20} MiB"
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
            "recent_plays_max_bytes": max(self.recent),
            "recent_plays_part_bytes": plan["parts"]["recent plays"],
            "stores_max_bytes": max(self.state),
            "stores_part_bytes": plan["parts"]["stores"],
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
