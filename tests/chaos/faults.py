"""How each kind of fault is carried out and healed: one generator for each.

A generator does something, then yields how long it lasts (seconds) or what has to happen before it goes on
(a Until); when it ends, everything that it broke is whole again, or on its way up. Several run at a time, interleaved
by run_step() in one thread.
"""

import contextlib
import dataclasses
import time
from collections.abc import Callable

import world as worlds


CLOCK_STEP_AFTER_MS = 2000
NO_SPACE = "No space left on device"
NOTICED_S = 5  # Who met a full disk has said so by then.


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
    if (code := world.exit_code(instance)) != 0 and not (code == 1 and world.brokers_away()):
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
    with world.may_end(fault.target):
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
    with world.may_end(fault.target, because=NO_SPACE):
        disk.fill()
        yield fault.for_s
        disk.make_room()
        yield NOTICED_S
        # Who met it gives its partitions back before it ends. That takes long beside brokers that are away: 20 s were seen.
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
        for instance in lives:
            followers.enter_context(world.may_end(instance))
        world.restore_store()
        world.up(fault.target)
        yield Until(
            lambda: world.all_up() and all(world.lives[instance] > life for instance, life in lives.items()),
            worlds.UP_BOUND_S,
            "every follower of the restored store has noticed and is up again",
        )
    world.restoring.clear()


def clock_off(world, fault):
    """Its wall clock is set to a wrong time a moment after it has come up, and to the right one as it comes back."""
    yield from _end_softly(world, fault.target)
    world.up(fault.target, env={"BLOOMRING_CLOCK_STEP": f"{fault.detail}:{CLOCK_STEP_AFTER_MS}"})
    yield Until(
        lambda: fault.target in world.ready, worlds.UP_BOUND_S, f"{fault.target} is up, with a clock that will step"
    )
    yield CLOCK_STEP_AFTER_MS / 1000 + fault.for_s
    yield from _end_softly(world, fault.target)
    world.up(fault.target)


def member_joins_and_leaves(world, fault):
    world.up(fault.target)
    yield Until(lambda: fault.target in world.ready, worlds.UP_BOUND_S, f"the guest {fault.target} is up")
    yield fault.for_s
    yield from _end_softly(world, fault.target)


def second_process(world, fault):
    """By mistake somebody starts the same instance once more: whoever joined first is fenced and ends, until one is left."""
    twin = world.make_twin(fault.target)
    with world.may_end(fault.target), twin:
        yield Until(lambda: not twin.running(), 60, f"one of two processes of {fault.target} is left")
        if twin.exit_code() != 1:
            raise worlds.processes.Failed(twin.describe("should have ended as fenced"))
        # It may have been fenced, too, and be on its way out.
        yield Until(lambda: world.says_ready(fault.target), worlds.UP_BOUND_S, f"{fault.target} is up, alone again")


def broker_kill9(world, fault):
    broker = world.server.process(int(fault.target[-1]))
    with world.may_end("*"):
        broker.kill9()
        yield fault.for_s
        broker.start()
        yield Until(world.in_sync, worlds.UP_BOUND_S, f"{fault.target} is in sync again after kill -9")


def broker_sigterm(world, fault):
    """Hands its leaders and coordinators over in good order; they come back to it by themselves a little later."""
    broker = world.server.process(int(fault.target[-1]))
    with world.may_end("*"):
        broker.ask_to_end()
        yield Until(lambda: not broker.running(), 60, f"{fault.target} ends after SIGTERM")
        yield fault.for_s
        broker.start()
        yield Until(world.in_sync, worlds.UP_BOUND_S, f"{fault.target} is in sync again after SIGTERM")


def broker_stall(world, fault):
    broker = world.server.process(int(fault.target[-1]))
    with world.may_end("*"):
        broker.stall()
        yield fault.for_s
        broker.resume()
        yield Until(world.in_sync, worlds.UP_BOUND_S, f"{fault.target} is in sync again after a stall")


def two_brokers_kill9(world, fault):
    pair = [world.server.process(1 + (int(fault.target[-1]) + i) % world.server.brokers) for i in range(2)]
    with world.may_end("*"):
        for broker in pair:
            broker.kill9()
        yield fault.for_s
        for broker in pair:
            broker.start()
        yield Until(world.in_sync, worlds.UP_BOUND_S, "both brokers are in sync again")


KINDS = {
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
    "member joins and leaves": member_joins_and_leaves,
    "second process of an instance": second_process,
    "broker kill -9": broker_kill9,
    "broker SIGTERM": broker_sigterm,
    "broker stall": broker_stall,
    "two brokers kill -9": two_brokers_kill9,
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
