"""How each kind of fault is carried out and healed: one generator for each.

A generator does something, then yields how long it lasts (seconds) or what has to happen before it goes on
(a Until); when it ends, everything that it broke is whole again, or on its way up. Several run at a time, interleaved
by run_step() in one thread.
"""

import contextlib
import dataclasses
import re
import time
from collections.abc import Callable

import world as worlds


CLOCK_STEP_AFTER_MS = 2000
CLOCK_SKEW_MAX_MS = 60_000  # events.clock_skew_max_seconds
CLOCK_PART = "ingest-clock"  # Of /readyz.
CLOCK_IS_WRONG = "no plays are read until both agree"
CLOCK_IS_RIGHT = "agree again; plays are read"
CLOCK_CALM_BOUND_S = 60  # It waits for 5 s of agreement, and asks brokers that may be away.
STARTS_MONTHS_AHEAD = 6  # Each start of merge flushes a file of the store, and four files are compacted.
CLOCK_REPORTED_S = 1  # Metrics and readiness follow the log by then.
CLOCK_TOLD_WITHIN_S = 10  # The way of an acknowledgement is in it.
MERGE_S = 3  # Time for a start to merge something.
LEADERS_MOVE_S = 5
NO_SPACE = "No space left on device"
FENCED = "fenced"
NOTICED_S = 5  # A process that met a full disk has said so by then.


@dataclasses.dataclass
class Until:
    condition: Callable
    bound_s: float
    what: str


class Skipped(Exception):
    """This machine cannot do it; the message says why."""


def _end_softly(world, instance):
    yield Until(lambda: instance in world.ready, worlds.UP_BOUND_S, f"{instance} is up before it is asked to end")
    world.ask_to_end(instance)
    yield Until(lambda: world.ended(instance), worlds.END_BOUND_S, f"{instance} ends after SIGTERM")
    if (code := world.exit_code(instance)) == 1 and world.not_in_time(instance):
        world.note_excused(instance, code, "brokers away")
    elif code != 0:
        raise worlds.processes.Failed(f"{instance} ended with {code} after SIGTERM")


def kill9(world, fault):
    world.kill9(fault.target)
    yield fault.for_s
    world.up(fault.target)


def kill9_lost_state(world, fault):
    world.kill9(fault.target)
    world.lose_state(fault.target)
    yield fault.for_s
    world.up(fault.target)


def sigterm(world, fault):
    yield from _end_softly(world, fault.target)
    yield fault.for_s
    world.up(fault.target)


def stall(world, fault):
    world.stall(fault.target)
    yield fault.for_s
    world.resume(fault.target)


def crash_at_fault_point(world, fault):
    """Comes back armed, ends itself there, comes back again. A point that it does not come by in time is no crash."""
    world.kill9(fault.target)
    with world.may_end(fault.target, fault.kind, r"fault point \S+ reached", worlds.CRASHED_CODE):
        life = world.lives[fault.target] + 1
        world.up(fault.target, env={"BLOOMRING_FAULT_POINT": fault.detail})
        until = time.monotonic() + 15
        yield Until(lambda: world.lives[fault.target] > life or time.monotonic() > until, 20, "")
    world.kill9(fault.target)  # It was started again with the same variable.
    world.up(fault.target)


def _with_failing(world, fault, points, lasts_s):
    """Restarts the target with failing points, which heal by themselves."""
    yield from _end_softly(world, fault.target)
    world.up(fault.target, env={"BLOOMRING_FAULT_POINT": points})
    yield Until(lambda: fault.target in world.ready, worlds.UP_BOUND_S, f"{fault.target} is up with {points}")
    yield lasts_s


def store_refuses_writes(world, fault):
    n = fault.detail
    yield from _with_failing(
        world, fault, f"store.apply:2=fail:{n},store.sync:3=fail:{n},store.advance:2=fail:{n}", fault.for_s
    )


def store_refuses_reads(world, fault):
    yield from _with_failing(world, fault, f"store.read:5=fail:{fault.detail}", fault.for_s)


def store_stands_still(world, fault):
    yield from _with_failing(world, fault, f"store.apply:3=stall:{fault.detail}", 2 + int(fault.detail) / 1000)


def full_disk(world, fault):
    disk = world.disks["store" if fault.target == "merge" else fault.target]
    if not disk.mounted:
        raise Skipped("no right to mount a small file system")
    life, mark = world.lives[fault.target], world.log_size(fault.target)
    with world.may_end(fault.target, fault.kind, NO_SPACE):
        disk.fill()
        yield fault.for_s
        disk.make_room()
        yield NOTICED_S
        # It gives its partitions back before it ends. That takes long while brokers are away: 20 s were seen.
        over = time.monotonic() + worlds.END_BOUND_S

        def ended_or_not_met():
            met = world.logged_since(fault.target, mark, NO_SPACE)
            return not met or world.lives[fault.target] > life or time.monotonic() > over

        yield Until(ended_or_not_met, 2 * worlds.END_BOUND_S, f"{fault.target} has ended, if it met the full disk")
        yield Until(lambda: fault.target in world.ready, worlds.UP_BOUND_S, f"{fault.target} is up with room again")


def store_restored(world, fault):
    """The filter store goes back to a backup of a while ago. Every process that follows it notices, ends, and reads the log
    from there; until they are back, answers may lack what was merged since the backup."""
    yield Until(
        lambda: fault.target in world.ready, worlds.UP_BOUND_S, f"{fault.target} is up before its store is backed up"
    )
    world.back_store_up()
    yield fault.for_s
    yield from _end_softly(world, fault.target)
    world.restoring.set()
    lives = {
        instance: world.lives[instance] for instance, stage in worlds.STAGES.items() if stage in ("window", "serve")
    }
    with contextlib.ExitStack() as followers:
        followers.enter_context(world.doubt_forgets())
        for instance in lives:
            followers.enter_context(world.may_end(instance, fault.kind, "the filter store went back"))
        world.restore_store()
        world.up(fault.target)
        yield Until(
            lambda: world.all_up() and all(world.lives[instance] > life for instance, life in lives.items()),
            worlds.UP_BOUND_S,
            "every follower of the restored store has noticed and is up again",
        )
    world.restoring.clear()


def clock_off(world, fault):
    """Its wall clock is set to a wrong time a moment after it has come up, and to the right one later. It goes on all the
    time, and nobody has a reason to end; but an ingest process reads no plays while its clock is far off, and says so."""
    off_ms, target = int(fault.detail), fault.target
    yield from _end_softly(world, target)
    life, mark = world.lives[target] + 1, world.log_size(target)
    world.up(target, env={"BLOOMRING_CLOCK_STEP": f"{off_ms}:{CLOCK_STEP_AFTER_MS}:{round(fault.for_s * 1000)}"})
    yield Until(lambda: world.lives[target] == life, worlds.UP_BOUND_S, f"{target} is started")
    right_at = time.monotonic() + CLOCK_STEP_AFTER_MS / 1000 + fault.for_s
    yield Until(lambda: target in world.ready, worlds.UP_BOUND_S, f"{target} is up, with a clock that steps")
    if worlds.STAGES[target] == "ingest" and abs(off_ms) > CLOCK_SKEW_MAX_MS:
        yield from _ingest_waits_for_its_clock(world, fault, mark, right_at)
    yield max(0, right_at - time.monotonic())
    if world.lives[target] != life:
        raise worlds.processes.Failed(f"{target} did not live through a clock that was off")
    world.up(target)  # Its next start has a clock that is right.


def _ingest_waits_for_its_clock(world, fault, mark, right_at):
    """It reads nothing, and says so in the log, in /readyz and in a metric; then it goes on by itself."""
    target, off_s = fault.target, int(fault.detail) / 1000

    def says_so():
        return world.logged_since(target, mark, CLOCK_IS_WRONG)

    yield Until(lambda: says_so() or time.monotonic() > right_at, fault.for_s + 10, f"{target} says that its clock is off")
    if not says_so():
        # The brokers' time comes with their acknowledgements.
        if not world.brokers_away():
            raise worlds.processes.Failed(f"{target} did not say that its clock was {off_s} s off for {fault.for_s} s")
        return
    yield CLOCK_REPORTED_S
    before = world.clock_of_ingest(target)
    yield max(0, right_at - time.monotonic() - 1)
    after = world.clock_of_ingest(target)
    if time.monotonic() < right_at:
        for clock in (before, after):
            if CLOCK_PART not in clock.not_ready or abs(clock.offset_s - off_s) > CLOCK_TOLD_WITHIN_S:
                raise worlds.processes.Failed(f"{target}, whose clock is {off_s} s off: {clock}")
        if before.records != after.records:
            raise worlds.processes.Failed(f"{target} reads plays while its clock is off: {before}, then {after}")
    yield Until(
        lambda: world.logged_since(target, mark, CLOCK_IS_RIGHT) and world.says_ready(target),
        CLOCK_CALM_BOUND_S,
        f"{target} goes on when its clock is right",
    )


def clock_months_ahead(world, fault):
    """Its machine starts with a clock beyond the retention of filters, again and again. What merge writes meanwhile is
    compacted, and what expires is dropped by that: nothing does."""
    if worlds.STAGES[fault.target] != "merge":
        yield from clock_off(world, fault)
        return
    tables = set()
    for _ in range(STARTS_MONTHS_AHEAD):
        yield from _end_softly(world, fault.target)
        world.up(fault.target, env={"BLOOMRING_CLOCK_STEP": f"{fault.detail}:0"})
        yield Until(lambda: fault.target in world.ready, worlds.UP_BOUND_S, f"{fault.target} is up, months ahead")
        tables |= world.store_tables()
        yield MERGE_S
    yield from _end_softly(world, fault.target)
    if tables <= world.store_tables():
        raise worlds.processes.Failed("nothing was compacted while the clock of merge was months ahead")
    world.up(fault.target)
    yield Until(world.all_up, worlds.UP_BOUND_S, "everything is up after a clock that was months ahead")
    yield Until(world.old_seen, worlds.UP_BOUND_S, "old plays are seen after a clock that was months ahead")


def burst(world, fault):
    """150,000 plays of one user within a slot."""
    world.burst()
    yield Until(world.burst_done, 120, "the plays of a burst are acknowledged")


def partition_without_leader(world, fault):
    """A broker is away for minutes, and with it the partitions of which it has the one replica. Nobody else waits for
    them: who starts meanwhile is up, and what the others have is seen. Nobody has a reason to end."""
    broker = world.server.process(int(fault.target[-1]))
    broker.kill9()
    yield LEADERS_MOVE_S
    until = time.monotonic() + fault.for_s
    for instance in ("ingest-1", "window-1", "serve-0"):
        yield from _end_softly(world, instance)
        world.up(instance)
    yield Until(world.all_up, worlds.UP_BOUND_S, "processes that start while partitions have no leader are up")
    yield Until(world.all_seen, worlds.UP_BOUND_S, "plays of partitions with a leader are seen while others have none")
    yield Until(lambda: time.monotonic() > until, fault.for_s + 1, "the broker is away for its time")
    broker.start()
    yield Until(world.in_sync, worlds.UP_BOUND_S, f"{fault.target} is in sync again after minutes")


def member_joins_and_leaves(world, fault):
    world.up(fault.target)
    yield Until(lambda: fault.target in world.ready, worlds.UP_BOUND_S, f"the guest {fault.target} is up")
    yield fault.for_s
    yield from _end_softly(world, fault.target)


def second_process(world, fault):
    """By mistake somebody starts the same instance once more: whoever joined first is fenced and ends, until one is left."""
    twin = world.make_twin(fault.target)
    with world.may_end(fault.target, fault.kind, FENCED), twin:
        yield Until(lambda: not twin.running(), 60, f"one of two processes of {fault.target} is left")
        if twin.exit_code() != 1 or not re.search(FENCED, twin.tail(worlds.LAST_WORDS)):
            raise worlds.processes.Failed(twin.describe("should have ended as fenced"))
        # It may have been fenced, too, and be on its way out.
        yield Until(lambda: world.says_ready(fault.target), worlds.UP_BOUND_S, f"{fault.target} is up, alone again")


def broker_kill9(world, fault):
    broker = world.server.process(int(fault.target[-1]))
    with world.brokers_away_for(fault.kind):
        broker.kill9()
        yield fault.for_s
        broker.start()
        yield Until(world.in_sync, worlds.UP_BOUND_S, f"{fault.target} is in sync again after kill -9")


def broker_sigterm(world, fault):
    """Hands its leaders and coordinators over in good order; they come back to it by themselves a little later."""
    broker = world.server.process(int(fault.target[-1]))
    with world.brokers_away_for(fault.kind):
        broker.ask_to_end()
        yield Until(lambda: not broker.running(), 60, f"{fault.target} ends after SIGTERM")
        yield fault.for_s
        broker.start()
        yield Until(world.in_sync, worlds.UP_BOUND_S, f"{fault.target} is in sync again after SIGTERM")


def broker_stall(world, fault):
    broker = world.server.process(int(fault.target[-1]))
    with world.brokers_away_for(fault.kind):
        broker.stall()
        yield fault.for_s
        broker.resume()
        yield Until(world.in_sync, worlds.UP_BOUND_S, f"{fault.target} is in sync again after a stall")


def two_brokers_kill9(world, fault):
    pair = [world.server.process(1 + (int(fault.target[-1]) + i) % world.server.brokers) for i in range(2)]
    with world.brokers_away_for(fault.kind):
        for broker in pair:
            broker.kill9()
        yield fault.for_s
        for broker in pair:
            broker.start()
        yield Until(world.in_sync, worlds.UP_BOUND_S, "both brokers are in sync again")


@contextlib.contextmanager
def _servers_fail(world, fault):
    """While this holds, a merge process may find that a server lost what no watermark covers yet."""
    with contextlib.ExitStack() as writers:
        for instance, stage in (worlds.STAGES | worlds.GUESTS).items():
            if stage == "merge":
                writers.enter_context(world.may_end(instance, fault.kind, "the filter store went back"))
        yield


def _primary(world, fault):
    primaries = world.cluster.primaries_now()
    return primaries[int(fault.target[-1]) % len(primaries)]


def _servers_recover(world, what):
    yield Until(world.cluster.healthy, worlds.UP_BOUND_S, f"the servers of the filter store are well after {what}")
    # A writer notices at its next write.
    yield NOTICED_S


def server_kill9(world, fault):
    """A primary dies and its replica takes over. It comes back with what its disk has, as a replica."""
    with _servers_fail(world, fault):
        port = _primary(world, fault)
        world.cluster.kill9(port)
        yield fault.for_s
        world.cluster.begin_start(port)
        yield from _servers_recover(world, fault.kind)


def server_stall(world, fault):
    """A primary stands still. When a replica has taken over meanwhile, it still believes to be one for a moment."""
    with _servers_fail(world, fault):
        port = _primary(world, fault)
        world.cluster.stall(port)
        yield fault.for_s
        world.cluster.resume(port)
        yield from _servers_recover(world, fault.kind)


def server_full(world, fault):
    """A primary refuses what would need memory."""
    port = _primary(world, fault)
    world.cluster.ask(port, "CONFIG", "SET", "maxmemory", "1")
    yield fault.for_s
    world.cluster.set_everywhere("maxmemory", "0")
    yield from _servers_recover(world, fault.kind)


def server_with_full_disk(world, fault):
    """A primary cannot write its append-only file, and refuses writes until it can."""
    disk = world.disks[f"server-{world.cluster.number_of(_primary(world, fault))}"]
    if not disk.mounted:
        raise Skipped("no right to mount a small file system")
    disk.fill()
    yield fault.for_s
    disk.make_room()
    yield from _servers_recover(world, fault.kind)


def network_cut(world, fault):
    """Nothing gets through to a server, nor back; the other servers still hear it."""
    with _servers_fail(world, fault):
        world.cluster.relay.stall()
        yield fault.for_s
        world.cluster.relay.resume()
        yield from _servers_recover(world, fault.kind)


KINDS = {
    "server kill -9": server_kill9,
    "server stall": server_stall,
    "server full": server_full,
    "server with a full disk": server_with_full_disk,
    "network cut": network_cut,
    "kill -9": kill9,
    "kill -9 and lost state": kill9_lost_state,
    "SIGTERM": sigterm,
    "stall beyond the session": stall,
    "crash at a fault point": crash_at_fault_point,
    "store refuses writes": store_refuses_writes,
    "store refuses reads": store_refuses_reads,
    "store stands still": store_stands_still,
    "store restored": store_restored,
    "full disk": full_disk,
    "clock ahead": clock_off,
    "clock behind": clock_off,
    "clock far ahead": clock_off,
    "clock far behind": clock_off,
    "clock months ahead": clock_months_ahead,
    "member joins and leaves": member_joins_and_leaves,
    "second process of an instance": second_process,
    "broker kill -9": broker_kill9,
    "broker SIGTERM": broker_sigterm,
    "broker stall": broker_stall,
    "two brokers kill -9": two_brokers_kill9,
    "burst of one user": burst,
    "partition without leader": partition_without_leader,
}


class _Running:
    """One fault under way."""

    def __init__(self, world, fault, start):
        self.fault = fault
        self.done = False
        self._steps = KINDS[fault.kind](world, fault)
        self._due = start + fault.at_s
        self._until = None

    def advance(self):
        while not self.done:
            now = time.monotonic()
            if self._until and self._until.condition():
                self._until = None
            elif self._until and now > self._due:
                raise worlds.processes.Failed(f"not within {self._until.bound_s} s: {self._until.what}")
            elif self._until or now < self._due:
                return
            self._next(now)

    def _next(self, now):
        try:
            wait = next(self._steps)
        except StopIteration:
            self.done = True
            return
        self._until = wait if isinstance(wait, Until) else None
        self._due = now + (wait.bound_s if self._until else wait)


def run_step(world, faults, observe):
    """Carries the faults of a step out and heals them; observe() is called meanwhile and may raise. Returns those that
    this machine cannot do, with the reason."""
    start = time.monotonic()
    running, skipped = [_Running(world, fault, start) for fault in faults], []

    def advance():
        observe()
        for one in running:
            try:
                one.advance()
            except Skipped as reason:
                one.done = True
                skipped.append((one.fault, str(reason)))
        return all(one.done for one in running)

    world.wait_for(
        advance, 300, lambda: f"the faults of a step end: {[str(one.fault) for one in running if not one.done]}"
    )
    return skipped
