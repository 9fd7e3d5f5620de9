#!/usr/bin/env python3
"""The migration of an old store under load, on a real Kafka broker and a real redis-server: users a second, CPU per play,
memory, how fresh live answers stay, and whether anything is lost.

    python3 bench/migrate_bench.py                                   20,000 users with 2 million plays
    python3 bench/migrate_bench.py --users 200000 --plays 20000000   the size of the requirement
    python3 bench/migrate_bench.py --kills 8                         processes are killed, one each 8 seconds or so

Fills the old store by `bloomring generate --to redis` (log-normal, up to 10,000 plays a user). Then it runs the chain (one
process with ingest, window and merge, another with the service) with --live plays a second, asks --queries users a second
about the plays of a sample of users, and migrates. A user of whom every asked play was seen once must never lose one again.
At the end `bloomring verify` asks about every member of every set.

CPU is that of the kernel's accounts: of the job by wait4, of the others by /proc. Of these it is that from the beginning
of the job until everything that it wrote is merged, less what they take for the live load in as many seconds, which is
measured before; queries, and the plays whose freshness is measured, are part of that load. With --kills there are no figures
of CPU.
Broker, redis-server and all processes share the machine. Needs a release build, or that of the preset `tested` (the
folder of $BLOOMRING_BIN), with play_to_seen_bench, `scripts/setup --kafka` and redis-server. One JSON line.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "real"))
sys.path.insert(0, str(ROOT / "bench"))

import chain_bench  # noqa: E402
import kafka_server  # noqa: E402
import plays  # noqa: E402
import processes  # noqa: E402

HOURS = 2000  # Within the periods that a query reads.
SAMPLE_USERS = 500
SAMPLE_ITEMS = 100  # Of each.
BASELINE_S = 20
FRESH_PLAYS = 100  # Of one turn of play_to_seen_bench.


class OldStore:
    """A redis-server with the generated sets."""

    def __init__(self, folder):
        self.port = processes.free_port()
        command = ["redis-server", "--port", self.port, "--bind", "127.0.0.1", "--save", "", "--dir", folder]
        self.process = processes.Process("old-store", command, folder)

    def __enter__(self):
        self.process.start()
        self.process.wait_until(lambda: self.ask(["PING"]) == ["PONG"], 30, "redis-server to listen")
        return self

    def __exit__(self, *_):
        self.process.end()

    def ask(self, *commands):
        """The lines of the replies."""
        lines = "".join(" ".join(command) + "\n" for command in commands)
        return processes.run(["redis-cli", "-p", self.port], stdin=lines, check=False)[1].splitlines()

    def sample(self):
        """{user: items} of some users that have some plays."""
        found = {}
        while len(found) < SAMPLE_USERS:
            for key in self.ask(*([["RANDOMKEY"]] * SAMPLE_USERS)):
                items = self.ask(["ZRANGE", key, "0", str(SAMPLE_ITEMS - 1)])
                if len(items) >= 10 and len(found) < SAMPLE_USERS:
                    found[key.removeprefix("hist:")] = items
        return found


class Questions(threading.Thread):
    """Asks about users, so many a second, and holds that a user never loses an item once all of them were seen."""

    def __init__(self, site, sample, per_second):
        super().__init__(name="questions", daemon=True)
        self.answers = self.incomplete = self.failed = 0
        self.lost = []
        self.migrated = set()
        self._site = site
        self._sample = sample
        self._per_second = per_second
        self._ended = threading.Event()

    def run(self):
        rng = random.Random(1)
        while not self._ended.wait(1):
            users = rng.choices(sorted(self._sample), k=self._per_second)
            try:
                answers = plays.query_batch(self._site.grpc, [(user, self._sample[user]) for user in users])
            except (processes.Failed, ValueError):
                self.failed += 1  # The service is being started again.
                continue
            for user, answer in zip(users, answers, strict=True):
                self.judge(user, answer)

    def judge(self, user, answer):
        self.answers += 1
        if not answer["complete"]:
            self.incomplete += 1
            return
        unseen = [item["item"] for item in answer["items"] if not item["seen"]]
        if not unseen:
            self.migrated.add(user)
        elif user in self.migrated:
            self.lost.append((user, unseen))

    def all_migrated(self):
        return len(self.migrated) == len(self._sample)

    def end(self):
        self._ended.set()
        self.join()


class Job:
    """A job, started again whenever it was killed, as a supervisor would. `words` are its command, name and flags."""

    def __init__(self, site, words, options):
        watched = ",".join((site.pipeline_admin, site.service_admin))
        self._command = [plays.binary(), *words, "--config", site.pipeline.config, "--execute"]
        self._command += ["--rate", options.rate, "--watch", watched]
        self._folder = site.folder
        self.child = None
        self.cpu_seconds = 0.0
        self.peak_mib = 0.0
        self.kills = 0

    def run(self):
        """Its report."""
        while True:
            with open(self._folder / "job.out", "wb") as out, open(self._folder / "job.err", "ab") as err:
                self.child = subprocess.Popen([str(word) for word in self._command], stdout=out, stderr=err)
            _, status, usage = os.wait4(self.child.pid, 0)
            self.child.returncode = os.waitstatus_to_exitcode(status)
            self.cpu_seconds += usage.ru_utime + usage.ru_stime
            self.peak_mib = max(self.peak_mib, usage.ru_maxrss / 1024)
            if self.child.returncode == -signal.SIGKILL:
                self.kills += 1
            elif self.child.returncode == 0:
                return json.loads((self._folder / "job.out").read_text())
            elif not self.is_away():
                raise processes.Failed(f"the job ended with {self.child.returncode}: see {self._folder}/job.err")

    def is_away(self):
        """It ended because a process was being started again."""
        said = (self._folder / "job.err").read_text(errors="replace").splitlines()[-3:]
        return self.child.returncode == 1 or any("does not answer" in line for line in said)

    def kill(self):
        if self.child is not None and self.child.returncode is None:
            self.child.send_signal(signal.SIGKILL)


class Kills(threading.Thread):
    """Kills one process after the other, and starts those of the chain again."""

    def __init__(self, site, job, seconds):
        super().__init__(name="kills", daemon=True)
        self.count = 0
        self._site = site
        self._job = job
        self._seconds = seconds
        self._ended = threading.Event()

    def run(self):
        rng = random.Random(1)
        while not self._ended.wait(rng.uniform(0.5, 1.5) * self._seconds):
            victim = rng.choice(("job", "pipeline", "service"))
            self.count += 1
            if victim == "job":
                self._job.kill()
                continue
            process = getattr(self._site, victim).process
            process.kill9()
            process.start()
            process.ready_line(300)

    def end(self):
        self._ended.set()
        self.join()


class Fresh(threading.Thread):
    """Measures how long plays take until they are seen, as long as it lives."""

    def __init__(self, site):
        super().__init__(name="fresh", daemon=True)
        self.turns = []
        self._command = [
            plays.binary().parent / "play_to_seen_bench",
            site.pipeline.bootstrap,
            site.pipeline.plays,
            site.grpc,
            FRESH_PLAYS,
        ]
        self._ended = threading.Event()

    def run(self):
        while not self._ended.is_set():
            self.turns.append(json.loads(processes.run(self._command, bound_s=600)[1]))

    def end(self):
        self._ended.set()
        self.join()
        return {
            "plays": FRESH_PLAYS * len(self.turns),
            "p50_ms": sorted(turn["p50_ms"] for turn in self.turns)[len(self.turns) // 2],
            "p99_ms": sorted(turn["p99_ms"] for turn in self.turns)[len(self.turns) // 2],
            "p99_ms_worst_turn": max(turn["p99_ms"] for turn in self.turns),
        }


class Site:
    """The old store, and the chain in two processes whose ports stay."""

    def __init__(self, folder, bootstrap, old, options):
        self.folder = folder
        self.old = old
        self.options = options
        self.pipeline = chain_bench.Node(
            folder, bootstrap, options, "pipeline", ["ingest", "window", "merge"], "migration"
        )
        self.service = chain_bench.Node(folder, bootstrap, options, "service", ["serve"], "migration")
        self.pipeline_admin, self.service_admin, self.grpc = (f"127.0.0.1:{processes.free_port()}" for _ in range(3))
        self.pipeline.process.command += ["--set", f"admin.listen={self.pipeline_admin}"]
        self.service.process.command += ["--set", f"admin.listen={self.service_admin}"]
        self.service.process.command += ["--set", f"serve.listen={self.grpc}"]
        for node in (self.pipeline, self.service):
            node.process.command += ["--set", f"memory.limit={options.memory}"]

    def fill_old_store(self):
        options = self.options
        command = [plays.binary(), "generate", "--to", "redis", "--set", f"migrate.addresses=127.0.0.1:{self.old.port}"]
        command += ["--users", options.users, "--plays", options.plays, "--hours", HOURS, "--execute"]
        processes.run(command, bound_s=7200)

    def live_plays(self):
        options = self.options
        command = [plays.binary(), "generate", "--execute", "--bootstrap", self.pipeline.bootstrap]
        command += ["--topic", self.pipeline.plays, "--users", options.users, "--plays", 7200 * options.live]
        command += ["--hours", 1, "--seed", 2, "--rate", options.live]
        return processes.Process("live", command, self.folder)

    def spent(self):
        """CPU seconds of processes, and bytes of topics on the broker's disk."""
        kafka = self.folder / "kafka"
        found = {
            "pipeline": chain_bench.cpu_seconds(self.pipeline.process.pid),
            "service": chain_bench.cpu_seconds(self.service.process.pid),
            "user-events": chain_bench.topic_bytes(kafka, self.pipeline.events),
            "user-batches": chain_bench.topic_bytes(kafka, self.pipeline.batches),
        }
        if self.old:
            found["redis"] = chain_bench.cpu_seconds(self.old.process.pid)
        return found

    def wait_until_merged(self):
        """Until what is in user-events now is in the filters."""
        self.pipeline.wait_until_committed("window", self.pipeline.events, 3600)

    def verify(self):
        command = [plays.binary(), "verify", "--name", "compare", "--config", self.pipeline.config, "--execute"]
        command += ["--set", f"migrate.addresses=127.0.0.1:{self.old.port}", "--server", self.grpc, "--unwatched"]
        code, out, err = processes.run([*command, "--rate", 1_000_000], bound_s=7200, check=False)
        if code not in (0, 3):
            raise processes.Failed(f"verify ended with {code}: {err}")
        return json.loads(out)["counts"]


def per_second(before, after, seconds):
    return {name: (after[name] - before[name]) / seconds for name in before}


def baseline(site):
    """The CPU and bytes of the live load in a second, and the freshness of answers."""
    fresh = Fresh(site)
    fresh.start()
    before, start = site.spent(), time.monotonic()
    with contextlib.suppress(processes.Failed):
        processes.wait_for(lambda: time.monotonic() - start > BASELINE_S, BASELINE_S + 5, "the baseline")
    rates = per_second(before, site.spent(), time.monotonic() - start)
    return rates, fresh.end()


def measured(site, words, counted, options):
    """A job without kills: its report, what each process takes for one of its plays, and freshness. `counted` is the count
    of its plays in the report."""
    rates, calm = baseline(site)
    job, fresh = Job(site, words, options), Fresh(site)
    before, start = site.spent(), time.monotonic()
    fresh.start()
    report = job.run()
    seconds = time.monotonic() - start
    site.wait_until_merged()
    spent = site.spent()
    until_merged = time.monotonic() - start
    busy = fresh.end()
    done = report["counts"][counted]
    per_play = {name: (spent[name] - before[name] - rates[name] * until_merged) / done for name in rates}
    cpu_us = {name: round(1e6 * per_play[name], 3) for name in ("pipeline", "service")}
    cpu_us["job"] = round(1e6 * job.cpu_seconds / done, 3)
    figures = {
        "plays": done,
        "plays_per_s": round(done / seconds),
        "seconds": round(seconds, 1),
        "seconds_until_merged": round(until_merged, 1),
        "cpu_us_per_play": {**cpu_us, "all": round(sum(cpu_us.values()), 3)},
        "redis_us_per_play": round(1e6 * per_play["redis"], 3) if "redis" in per_play else None,
        "log_bytes_per_play": {name: round(per_play[name], 1) for name in ("user-events", "user-batches")},
        "live_cpu_seconds_per_s": {name: round(rates[name], 3) for name in ("pipeline", "service")},
        "fresh_before": calm,
        "fresh_during": busy,
        "peak_mib": {
            "job": round(job.peak_mib),
            "pipeline": round(processes.resident_mib(site.pipeline.process.pid, peak=True)),
            "service": round(processes.resident_mib(site.service.process.pid, peak=True)),
        },
    }
    return report, figures


def killed(site, words, options):
    """The same with processes that are killed."""
    job = Job(site, words, options)
    kills = Kills(site, job, options.kills)
    start = time.monotonic()
    kills.start()
    report = job.run()
    seconds = time.monotonic() - start
    kills.end()
    return report, {"seconds": round(seconds, 1), "kills": kills.count, "kills_of_the_job": job.kills}


def run(site, options):
    start = time.monotonic()
    site.fill_old_store()
    print(f"filled the old store in {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    site.pipeline.make_topics()
    with site.pipeline, site.service, site.live_plays():
        questions = Questions(site, site.old.sample(), options.queries)
        questions.start()
        words = ["migrate", "zset", "--name", "history", "--set", f"migrate.addresses=127.0.0.1:{site.old.port}"]
        if options.kills:
            report, figures = killed(site, words, options)
        else:
            report, figures = measured(site, words, "plays", options)
            figures["users_per_s"] = round(report["counts"]["sets"] / figures["seconds"])
        print(f"migrated: {json.dumps(figures)}", file=sys.stderr, flush=True)
        site.wait_until_merged()
        processes.wait_for(questions.all_migrated, 300, "every user of the sample to be seen")
        questions.end()
        counts = site.verify()
    return {
        "users": report["counts"]["sets"],
        "plays": report["counts"]["plays"],
        "live_plays_per_s": options.live,
        **figures,
        "answers": questions.answers,
        "answers_incomplete": questions.incomplete,
        "lost_items": len(questions.lost),
        "verify": {name: counts.get(name, 0) for name in ("asked", "missing", "seen_late", "probes", "false_positives")},
    }


def with_shared(parser):
    """The flags of every bench of a job."""
    parser.add_argument("--live", type=int, default=2_000, help="plays a second meanwhile (default %(default)s)")
    parser.add_argument("--rate", type=int, default=1_000_000, help="--rate of the job (default %(default)s)")
    parser.add_argument("--slot-seconds", type=int, default=20, help="length of a slot (default %(default)s)")
    parser.add_argument("--memory", default="2GiB", help="memory.limit of each process (default %(default)s)")
    parser.add_argument("--kafka", default=kafka_server.VERSIONS[0])
    return parser


def main():
    parser = argparse.ArgumentParser(description="a migration under load")
    parser.add_argument("--users", type=int, default=20_000)
    parser.add_argument("--plays", type=int, default=2_000_000)
    parser.add_argument("--queries", type=int, default=100, help="users asked about a second (default %(default)s)")
    parser.add_argument("--kills", type=float, default=0, help="seconds between kills (default: no kills)")
    options = with_shared(parser).parse_args()
    try:
        with (
            processes.temp_folder("migration") as folder,
            chain_bench.PatientServer(options.kafka, folder / "kafka", heap="512m", for_load=True) as server,
            OldStore(folder) as old,
        ):
            print(json.dumps(run(Site(folder, server.bootstrap, old, options), options)), flush=True)
    except processes.Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
