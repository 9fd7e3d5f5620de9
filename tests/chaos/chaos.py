"""Breaks a whole installation on real Kafka brokers for some minutes, and holds it to the law.

    tests/chaos/run --minutes 60 --seed 7

Brokers in KRaft (three, replication 3, min.insync.replicas 2), every stage as processes, plays with repeats and
disorder all the time, questions all the time. The law is in questions.py and watch.py; at the end, with everything
healed, every acknowledged play is in the filters and every bad one in the dead-letter topic. Ends with 0 when it held,
else with 1, the seed, the command that repeats the plan, and the folder with every log.
"""

import argparse
import collections
import contextlib
import random
import time

import plan
import faults
import world as worlds
from world import processes
import load as loads
import forgetter as forgetting
import questions as asking
import transactions
import watch as watching

WARM_UP_BOUND_S = 60
CALM_S = 2
CANDIDATES_MAX = asking.plays.BATCH_ITEMS_MAX - 150  # Of a question at the end, next to the probes.
HEAVY_FROM = 1_000
PROBES_AT_THE_END = 150  # Of each user and replica.
MERGED_BOUND_S = 120
# A run of all kinds that did less has shown little: it goes on, at most twice as long. On two busy cores it does 5 to 12.
FAULTS_A_MINUTE_MIN = 3
END_S = 55  # The end takes this: everything merged, a lap later, and the last questions.


class Chaos:
    def __init__(self, options, folder):
        self.options = options
        self.world = worlds.World(folder, options.brokers, options.store)
        self.load = loads.Load(None, options.seed)
        self.watch = watching.Watch(self.world)
        self.questions = asking.Questions(self.world, self.load.oracle, self.watch, options.seed)
        self.forgetter = forgetting.Forgetter(
            self.world, self.load.oracle, self.watch, self.questions.replicas, options.seed
        )
        self.transactions = transactions.Transactions(self.world, self.load.oracle, options.seed)
        self.one_replica = loads.OneReplica(None, self.load.oracle, options.seed)
        self.world.burst, self.world.burst_done = self.load.burst, self.load.burst_done
        self.world.all_seen = lambda: self.questions.fresh(self.questions.sample())
        self.world.old_seen = self.questions.old_seen
        self.injected = collections.Counter()
        self.skipped = {}
        self.recovery_s = collections.defaultdict(list)  # Kind: of the steps that it was in.
        self._began = time.monotonic()

    def say(self, what):
        print(f"{time.monotonic() - self._began:6.1f} s  {what}", flush=True)

    def observe(self):
        broken = self.questions.violations + self.watch.violations
        if broken:
            raise processes.Failed("the law is broken:\n" + "\n".join(broken))

    def run(self):
        with self.world:
            self.say(f"{self.world.server.brokers} brokers and {len(worlds.STAGES)} processes are up")
            with self.asking():
                self.warm_up()
                begun = time.monotonic()
                end = begun + self.options.minutes * 60 - END_S
                long = bool(self.options.only) or self.options.minutes > 5
                options = self.options
                for step in plan.steps(options.seed, options.brokers, options.only, long, options.store):
                    if time.monotonic() > end and (self.has_done_enough() or time.monotonic() > 2 * end - begun):
                        break
                    self.step(step)
                self.stop_playing()
                self.finish()
        if not self.has_done_enough():
            done = sum(self.injected.values())
            raise processes.Failed(f"only {done} faults of a run of {self.options.minutes:g} minutes: the machine is too slow")

    def has_done_enough(self):
        done = sum(self.injected.values())
        return bool(self.options.only) or done >= FAULTS_A_MINUTE_MIN * self.options.minutes

    @contextlib.contextmanager
    def asking(self):
        """Plays, questions and everybody who watches, to be left when all is said."""
        self.load.bootstrap = self.one_replica.bootstrap = self.world.server.bootstrap
        with self.load, self.watch, self.questions, self.forgetter, self.transactions, self.one_replica:
            yield

    def stop_playing(self):
        for one in (self.one_replica, self.transactions, self.forgetter, self.load):
            one.stop()

    def warm_up(self):
        self.wait_for(self.load.burst_done, WARM_UP_BOUND_S, "the plays of the heavy users are acknowledged")
        self.recover(WARM_UP_BOUND_S)

    def step(self, step):
        for fault in step:
            self.say(str(fault))
        for fault, reason in faults.run_step(self.world, step, self.observe):
            self.skipped[fault.kind] = reason
        done = [fault.kind for fault in step if fault.kind not in self.skipped]
        self.injected.update(done)
        self.world.wait_up()
        took_s = self.recover(asking.RECOVERY_BOUND_S, restored="store restored" in done)
        for kind in done:
            self.recovery_s[kind].append(took_s)

    def recover(self, bound_s, restored=False):
        """Everything is up: until everything acknowledged before is seen by every replica; then a moment of calm."""
        begin = time.monotonic()
        sample = self.questions.sample()
        missing = "all that was acknowledged is seen by complete answers of every replica"
        self.wait_for(lambda: self.questions.fresh(sample), bound_s, missing)
        took_s = time.monotonic() - begin
        self.questions.calm.set()
        until = time.monotonic() + CALM_S
        self.wait_for(lambda: time.monotonic() > until, CALM_S + 1, "")
        self.watch.check_floor(restored)
        self.questions.calm.clear()
        self.observe()
        self.say(f"everything acknowledged is seen, {took_s:.1f} s after everything was up")
        return took_s

    def wait_for(self, condition, bound_s, what):
        def check():
            self.observe()
            return condition()

        return self.world.wait_for(check, bound_s, what)

    def finish(self):
        """No more plays, no more faults: what the log has is merged, and a lap later only filters answer for it."""
        bootstrap = self.world.server.bootstrap
        ends = {p: end for p, end in processes.end_offsets(bootstrap, "user-events", worlds.PARTITIONS).items() if end}
        merged = {}

        def all_merged():
            merged.update(self.watch.merged())
            return all(merged.get(p, 0) >= end for p, end in ends.items())

        self.wait_for(self.nothing_unread, MERGED_BOUND_S, "no stage has a lag, whatever its log's offsets are of")
        self.wait_for(all_merged, MERGED_BOUND_S, lambda: f"everything is merged: ends {ends}, merged {merged}")
        self.say("everything is merged")
        lap_over = time.monotonic() + 1.5 * worlds.SLOTS * self.world.slot_seconds
        self.wait_for(lambda: time.monotonic() > lap_over, 60, "a lap passes")
        self.questions.stop()
        self.observe()
        for instance, address in self.questions.replicas().items():
            self.say(f"{instance}: {self.check_all(address)}")
        self.check_refused(bootstrap)
        codes = self.world.stop()
        if set(codes.values()) != {0}:
            raise processes.Failed(f"exit codes after SIGTERM: {codes}")
        over = {name: peak for name, peak in self.world.resident_max.items() if peak > worlds.MEMORY_MAX_BYTES}
        if over:
            raise processes.Failed(f"more than {worlds.MEMORY_MAX_BYTES} bytes resident: {over}")

    def nothing_unread(self):
        lags = self.watch.lags()
        return len(lags) >= len(worlds.STAGES) and sum(lags.values()) == 0

    def check_all(self, address):
        """Everything ever acknowledged, and items never played, of a replica."""
        rng = random.Random(f"end {self.options.seed}")
        report, asked = asking.plays.Report(), []
        for user, items in sorted(self.load.oracle.everything().items()):
            report.users += 1
            played = sorted(items)
            for at in range(0, len(played), CANDIDATES_MAX):
                part = played[at : at + CANDIDATES_MAX]
                # Heavy users twice: filters are read for the first question, and kept for the second.
                for _ in range(2 if len(played) >= HEAVY_FROM else 1):
                    probes = [f"end-{rng.getrandbits(60)}" for _ in range(PROBES_AT_THE_END)]
                    asked.append((user, part + probes, len(part)))
        answers = asking.ask(address, [(user, items) for user, items, _ in asked])
        for (user, items, played), answer in zip(asked, answers, strict=True):
            if answer is None or not answer["complete"]:
                answer = asking.ask_until_complete(address, user, items)
            report.judge(user, answer, played)
        if report.wrong():
            raise processes.Failed(f"at the end: {report.wrong()}")
        if report.reasons["filter"] < 0.99 * report.played:
            raise processes.Failed(f"the ring has turned, and not only filters answer: {dict(report.reasons)}")
        return report

    def check_refused(self, bootstrap):
        dead = collections.Counter(record["payload"] for record in processes.kcat_consume(bootstrap, "plays-dead"))
        missing = [record for record, times in self.load.oracle.refused().items() if dead[record] < times]
        if missing:
            raise processes.Failed(f"{len(missing)} refused records are not in plays-dead, as {missing[0]}")
        self.say(f"{len(self.load.oracle.refused())} refused records are in plays-dead")

    def table(self):
        rows = [f"{'fault':32} {'times':>5}  {'seconds until all was seen again, worst':>40}"]
        for kind in sorted(set(card[0] for card in plan.LONG_DECKS[self.options.store])):
            if self.injected[kind] or kind in self.skipped:
                worst = (
                    f"{max(self.recovery_s[kind]):.1f}"
                    if self.recovery_s[kind]
                    else f"skipped: {self.skipped.get(kind)}"
                )
                rows.append(f"{kind:32} {self.injected[kind]:5}  {worst:>40}")
        questions, stale = self.questions, sorted(self.questions.staleness_s) or [0]
        rows += [
            f"faults survived: {sum(self.injected.values())}; partitions that changed their leader {self.world.leader_moves}, of groups' offsets {self.world.coordinator_moves}",
            f"exits that a fault excuses: {len(self.world.excused)}",
            *(f"  {instance} with {code}, {fault}: {last}" for instance, code, fault, last in self.world.excused),
            f"records acknowledged {self.load.records}, distinct plays {self.load.oracle.plays()}, batches in doubt {self.load.batches_failed}",
            f"questions {questions.asked}: complete {questions.complete}, incomplete {questions.incomplete}, not answered {questions.unanswered}",
            f"false positives {questions.false_positives} of {questions.probes}, {questions.expected:.1f} expected",
            f"records of one replica acknowledged {self.one_replica.records}, batches in doubt {self.one_replica.in_doubt}",
            f"transactions committed {self.transactions.committed}, aborted {self.transactions.aborted}, in doubt {self.transactions.in_doubt}",
            f"forgets by call {self.forgetter.calls}, by event {self.forgetter.events}, in doubt {self.forgetter.failed}, played again {self.forgetter.again}; judged {questions.forgotten} times",
            f"in calm, oldest acknowledged play not seen yet: {stale[-1]:.2f} s, of {len(questions.staleness_s)} not seen yet",
            "most memory: "
            + ", ".join(f"{name} {peak >> 20} MiB" for name, peak in sorted(self.world.resident_max.items())),
        ]
        return "\n".join(rows)


def hold(options):
    """One run, reported as it goes; whether the law held."""
    repeat = "".join(f" --only '{kind}'" for kind in options.only or [])
    repeat += " --store redis" if options.store == "redis" else ""
    repeat = f"tests/chaos/run --minutes {options.minutes:g} --seed {options.seed} --brokers {options.brokers}{repeat}"
    print(f"seed {options.seed}; repeat with: {repeat}", flush=True)
    chaos = None
    try:
        with processes.temp_folder("chaos") as folder:
            chaos = Chaos(options, folder)
            chaos.run()
    except processes.Failed as failure:
        print(f"{failure}\n\n{chaos.table() if chaos else ''}\n\nFAILED; repeat with: {repeat}", flush=True)
        return False
    print(f"\n{chaos.table()}\n\nheld; repeat with: {repeat}", flush=True)
    return True


def parse(arguments=None):
    parser = argparse.ArgumentParser(
        prog="tests/chaos/run", description="break everything for a while; ends with 0 when nothing was lost"
    )
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31), help="default: any")
    parser.add_argument("--brokers", type=int, choices=(1, 3), default=3)
    parser.add_argument(
        "--store", choices=tuple(plan.DECKS), default="embedded", help="where filters lie; redis: a cluster of six servers"
    )
    parser.add_argument("--only", action="append", metavar="KIND", help="only faults of this kind; may be repeated")
    return parser.parse_args(arguments)


def main():
    return 0 if hold(parse()) else 1
