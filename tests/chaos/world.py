"""The installation under chaos: brokers, the processes of every stage, their disks, and who is wanted up.

tick() is what systemd or Kubernetes would do: a process that is wanted and has ended is started again after a moment.
It also holds the first law: no process ends by itself but for a reason that the faults under way allow.
Threading: faults, tick() and starts belong to the main thread; readers of `ready` and `lives` may be others.
"""

import collections
import contextlib
import dataclasses
import json
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))

import chain  # noqa: E402
import heavy  # noqa: E402, F401  For those that have no path to it.
import kafka_admin  # noqa: E402
import kafka_server  # noqa: E402
import plays  # noqa: E402
import processes  # noqa: E402
import redis_cluster  # noqa: E402

import plan  # noqa: E402

PARTITIONS = 10
PLAYS_PARTITIONS = 6
TRANSACTIONS = "plays-in-transactions"
ONE_REPLICA = "plays-of-one-replica"
PLAYS_TOPICS = ("plays", TRANSACTIONS, ONE_REPLICA)
SLOTS = 6
# On servers each slot ends with 5,000 marks, each acknowledged by a replica.
SLOT_SECONDS = {"embedded": 2, "redis": 4}
RESTART_DELAY_S = 0.5
UP_BOUND_S = 90
START_BOUND_S = 65  # How long a process that starts waits for brokers and store before it gives up.
END_BOUND_S = 30
STORE_DISK_BYTES = 192 << 20
STATE_DISK_BYTES = 64 << 20
MEMORY_MAX_BYTES = 400 << 20  # Of a process: less than its memory.limit, which it does not need at this load.
# No fault here makes Kafka lose a record that it acknowledged: who ends with this is wrong, whatever is broken.
NEVER_EXCUSED = re.compile(
    r"are lost|no longer (has offset|in the log)|topic was (cut or )?made again|another record|beyond the log's end"
)


@dataclasses.dataclass(frozen=True)
class Excuse:
    """Why a process may end by itself while a fault is under way: with this code, and with this in its last words."""

    fault: str
    message: re.Pattern
    code: int = 1


@dataclasses.dataclass(frozen=True)
class ClockOfIngest:
    not_ready: str  # Why /readyz fails, if it does.
    offset_s: float
    records: float


LAST_WORDS = 4  # Lines.
# A process that starts while brokers are away waits for them, and gives up. A running one waits as long as it takes.
BROKERS_AWAY = re.compile(r"no broker (has )?answered|waited \d+ s in vain")
# A process that is told to end while brokers are away may not get its last records written in time.
NOT_IN_TIME = re.compile(r"not ended within .* waiting for|no broker answered")
CRASHED_CODE = 137

STAGES = {instance: stage for stage, instances in plan.INSTANCES.items() for instance in instances}
GUESTS = {"window-3": "window", "ingest-2": "ingest", "merge-2": "merge"}
SERVER_DISK_BYTES = 256 << 20

SETTINGS = {
    "topics.plays": list(PLAYS_TOPICS),
    "topics.partitions": PARTITIONS,
    "topics.plays_partitions": PLAYS_PARTITIONS,
    "ring.slots": SLOTS,
    "memory.limit": "512MiB",
    "state.flush_seconds": 5,
}


class SmallDisk:
    """A file system of its own, so that it can be filled without harm to the machine. Needs the right to mount."""

    def __init__(self, path, size):
        self.path = path
        path.mkdir(parents=True)
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "bloomring-small", str(path)],
            check=False,
            capture_output=True,
        )
        self.mounted = done.returncode == 0

    def fill(self):
        with contextlib.suppress(OSError), open(self.path / "filler", "wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 16))

    def make_room(self):
        (self.path / "filler").unlink(missing_ok=True)

    def close(self):
        if self.mounted:
            subprocess.run(["umount", "-l", str(self.path)], check=False)


class World:
    """A context manager; entering it brings everything up."""

    def __init__(self, folder, brokers=plan.BROKERS, store="embedded"):
        self.folder = pathlib.Path(folder)
        self.store = store
        self.slot_seconds = SLOT_SECONDS[store]
        self.cluster = None  # Of a store on Redis servers.
        self.server = kafka_server.KafkaServer(
            kafka_server.VERSIONS[0],
            self.folder / "kafka",
            brokers,
            heap="256m" if brokers > 1 else "384m",
            # Leaders go back to the broker that was first in the list by themselves, soon after it is back.
            properties={"leader.imbalance.check.interval.seconds": 4, "leader.imbalance.per.broker.percentage": 0},
        )
        self.ready = {}  # Instance: its addresses, while it is up as far as we know.
        self.lives = collections.Counter()  # Instance: how often it was started.
        self.resident_max = {}  # Instance: most bytes resident, over all its lives.
        self.excused = []  # (instance, exit code, fault, its last line): exits that a fault allowed.
        self.forget_doubts = []  # [since, until], monotonic times: forgets from between are not judged.
        self.burst = self.burst_done = None  # Of the load: see load.py.
        self.all_seen = None  # () -> whether every replica answers completely with what was acknowledged.
        self.old_seen = None  # () -> the same, of some plays of every user, however old; a complete answer without one fails.
        self.leader_moves = self.coordinator_moves = 0
        self._leaders = {}  # (topic, partition): broker.
        self.stalled = set()
        self.restoring = threading.Event()  # The filter store went back, and not everybody has noticed.
        self.disks = {}
        self._wanted = {}
        self._env = {}
        self._changes = {}  # Instance: settings of its next start.
        self._restart_at = {}
        self._grace_until = 0  # A process that began while brokers were away may give up until then.
        self._may_end = collections.defaultdict(list)  # Instance: the excuses of faults under way.
        self._brokers_away = []  # The faults under way that keep brokers away.
        self._processes = {}
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            for name, size in (("store", STORE_DISK_BYTES), ("window-2", STATE_DISK_BYTES)):
                self.disks[name] = SmallDisk(self.folder / "disks" / name, size)
                stack.callback(self.disks[name].close)
            stack.enter_context(self.server)
            if self.store == "redis":
                self._start_cluster(stack)
            kafka_admin.create_topic(
                self.server.bootstrap, ONE_REPLICA, PLAYS_PARTITIONS, replication=1, min_insync_replicas=1
            )
            replication = {"topics.replication": min(3, self.server.brokers)}
            changes = {**SETTINGS, **replication, "ring.slot_seconds": self.slot_seconds}
            path = chain.write_config(self.folder, self.server.bootstrap, "topics", changes)
            processes.run([plays.binary(), "topics", "--config", path, "--execute", "--create-plays"])
            for instance, stage in {**STAGES, **GUESTS}.items():
                command = [plays.binary(), "run", "--config", self.folder / f"{instance}.yaml", "--stages", stage]
                self._processes[instance] = processes.Process(instance, command, self.folder)
                stack.callback(self._processes[instance].end)
            for instance in STAGES:
                self.up(instance)
            self.wait_up()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def _start_cluster(self, stack):
        """Six servers, each on a small disk of its own."""
        folders = {}
        for number in range(2 * plan.PRIMARIES):
            name = f"server-{number}"
            self.disks[name] = SmallDisk(self.folder / "disks" / name, SERVER_DISK_BYTES)
            stack.callback(self.disks[name].close)
            folders[number] = self.disks[name].path
        self.cluster = stack.enter_context(
            redis_cluster.RedisCluster(
                self.folder / "cluster", plan.PRIMARIES, relayed=plan.RELAYED, folders=folders
            )
        )

    # --- what faults do ---

    def settings(self, instance):
        """The settings of an instance that differ from those of tests/real/chain.py."""
        changes = {**SETTINGS, "store.path": str(self._store_path()), "store.backup_path": str(self.folder / "backups")}
        changes["ring.slot_seconds"] = self.slot_seconds
        if self.cluster:
            del changes["store.backup_path"]
            changes |= {
                "store.kind": "redis",
                "store.redis.addresses": self.cluster.addresses.split(","),
                "store.redis.min_replicas": 1,
            }
        if instance in self.disks:
            changes["state.path"] = str(self.disks[instance].path / "state")
        if instance.startswith("serve-"):
            changes |= {
                "serve.replica_index": int(instance[-1]),
                "serve.replica_count": 2,
                "serve.replication_factor": 2,
            }
        return changes

    def up(self, instance, env=None, changes=None):
        """Wants it up: it is started by the next tick(), with these variables and settings as long as it is wanted."""
        self._wanted[instance] = True
        self._env[instance] = env or {}
        self._changes[instance] = changes or {}
        self._restart_at[instance] = 0

    def kill9(self, instance):
        self._wanted[instance] = False
        self.ready.pop(instance, None)
        if self._processes[instance].running():
            self._note_memory(instance)
            self._processes[instance].kill9()

    def ask_to_end(self, instance):
        """SIGTERM: it has END_BOUND_S to end with exit code 0; see ended()."""
        self._wanted[instance] = False
        self.ready.pop(instance, None)
        self._note_memory(instance)
        self._processes[instance].ask_to_end()

    def ended(self, instance):
        return not self._processes[instance].running()

    def exit_code(self, instance):
        return self._processes[instance].exit_code()

    def stall(self, instance):
        self.stalled.add(instance)
        self._processes[instance].stall()

    def resume(self, instance):
        self._processes[instance].resume()
        self.stalled.discard(instance)

    def says_ready(self, instance):
        with contextlib.suppress(OSError, KeyError):
            return processes.http_get(self.ready[instance]["admin"], "/readyz", bound_s=2)[0] == 200
        return False

    def clock_of_ingest(self, instance):
        """The report of an ingest process about its clock, and the number of records of plays that it has read."""
        status, text = processes.http_get(self.ready[instance]["admin"], "/readyz")
        found = processes.metrics(self.ready[instance]["admin"])
        return ClockOfIngest(
            "" if status == 200 else text,
            next(iter(processes.values(found, "bloomring_ingest_clock_offset_seconds")), 0.0),
            sum(processes.values(found, "bloomring_ingest_records_total")),
        )

    def store_tables(self):
        """Names of the filter store's table files. One that goes was compacted."""
        return {path.name for path in self._store_path().glob("*.sst")}

    def log_size(self, instance):
        return self._processes[instance].log_size()

    def logged_since(self, instance, size, words):
        return self._processes[instance].logged_since(size, words)

    def lose_state(self, instance):
        for entry in pathlib.Path(self._state_path(instance)).glob("*"):
            shutil.rmtree(entry)

    def _store_path(self):
        return self.disks["store"].path / "store"

    def _store_command(self, *words):
        processes.run([plays.binary(), "store", *words, "--config", self.folder / "merge.yaml"], bound_s=60)

    def back_store_up(self):
        self._store_command("backup", "--admin", self.ready["merge"]["admin"])

    def restore_store(self):
        """To the newest backup. The merge process is down."""
        shutil.rmtree(self._store_path())
        self._store_command("restore")

    def make_twin(self, instance):
        """Another process of the same instance with a disk of its own, not started and not supervised."""
        changes = {
            **self.settings(instance),
            "state.path": str(self.folder / f"{instance}-twin" / "state"),
            "instance": instance,
        }
        path = chain.write_config(self.folder, self.server.bootstrap, f"{instance}-twin", changes)
        command = [plays.binary(), "run", "--config", path, "--stages", STAGES[instance]]
        return processes.Process(f"{instance}-twin", command, self.folder)

    def _state_path(self, instance):
        return self.settings(instance).get("state.path", self.folder / instance)

    @contextlib.contextmanager
    def may_end(self, instance, fault, message, code=1):
        """While this holds, it is no violation that the instance ends by itself with this code, when its last words have
        this message, a regular expression."""
        excuse = Excuse(fault, re.compile(message), code)
        self._may_end[instance].append(excuse)
        try:
            yield
        finally:
            self._may_end[instance].remove(excuse)

    @contextlib.contextmanager
    def brokers_away_for(self, fault):
        """While this holds, and so long as a start may take after it, who starts may give up waiting for brokers."""
        self._brokers_away.append(fault)
        try:
            yield
        finally:
            self._brokers_away.remove(fault)
            self._grace_until = time.monotonic() + START_BOUND_S

    @contextlib.contextmanager
    def doubt_forgets(self):
        """While this holds what calls forget is not judged; nor is what they forgot before it."""
        doubt = [0, float("inf")]
        self.forget_doubts.append(doubt)
        try:
            yield
        finally:
            doubt[1] = time.monotonic()

    def doubts_forget(self, begun, done):
        return any(since <= done and begun <= until for since, until in list(self.forget_doubts))

    # --- supervision ---

    def tick(self):
        now = time.monotonic()
        for instance, wanted in self._wanted.items():
            if not wanted:
                continue
            process = self._processes[instance]
            if process.running():
                if instance not in self.ready and (ready := process.ready()):
                    self.ready[instance] = ready
                continue
            if self.lives[instance] and instance not in self._restart_at:
                self._note_end(instance)
                self._restart_at[instance] = now + RESTART_DELAY_S
            if now >= self._restart_at.get(instance, 0):
                self._start(instance)

    def _start(self, instance):
        self._restart_at.pop(instance, None)
        self.ready.pop(instance, None)
        chain.write_config(
            self.folder, self.server.bootstrap, instance, {**self.settings(instance), **self._changes[instance]}
        )
        self.lives[instance] += 1
        self._processes[instance].start(self._env[instance])

    def says(self, instance, message):
        """Whether this regular expression is in its last words."""
        return bool(re.search(message, self._processes[instance].tail(LAST_WORDS)))

    def brokers_away(self):
        """Now or a moment ago: who starts may give up waiting for them, and who ends may not be in time."""
        return bool(self._brokers_away) or time.monotonic() < self._grace_until

    def not_in_time(self, instance):
        """Whether its last words, after SIGTERM and exit code 1, are those of somebody who waits for brokers."""
        return self.brokers_away() and self.says(instance, NOT_IN_TIME)

    def _excuses(self, instance, was_ready):
        away = Excuse("brokers away", BROKERS_AWAY)
        return self._may_end[instance] + ([away] if not was_ready and self.brokers_away() else [])

    def _note_end(self, instance):
        was_ready = self.ready.pop(instance, None)
        process = self._processes[instance]
        code, words = process.exit_code(), process.tail(LAST_WORDS)
        excuses = self._excuses(instance, was_ready)
        found = next((one for one in excuses if one.code == code and one.message.search(words)), None)
        if found is None or NEVER_EXCUSED.search(words):
            expected = "".join(f"\n  {one.fault} would excuse {one.code}: {one.message.pattern}" for one in excuses)
            raise processes.Failed(process.describe(f"ended by itself with {code}") + expected)
        self.note_excused(instance, code, found.fault)

    def note_excused(self, instance, code, fault):
        self.excused.append((instance, code, fault, self._processes[instance].tail(1)))

    def _note_memory(self, instance):
        with contextlib.suppress(OSError, StopIteration):
            status = pathlib.Path(f"/proc/{self._processes[instance].pid}/status").read_text(encoding="ascii")
            kbytes = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
            self.resident_max[instance] = max(self.resident_max.get(instance, 0), kbytes << 10)

    def note_memory(self):
        for instance in STAGES | GUESTS:
            if self._processes[instance].running():
                self._note_memory(instance)

    def wait_for(self, condition, bound_s, what):
        """processes.wait_for() with supervision."""

        def check():
            self.tick()
            return condition()

        return processes.wait_for(check, bound_s, what)

    def all_up(self):
        return all(instance in self.ready for instance, wanted in self._wanted.items() if wanted)

    def wait_up(self):
        """Until every wanted process says that it is ready and every broker has all its replicas in sync."""
        self.wait_for(lambda: self.all_up() and self.in_sync(), UP_BOUND_S, self._who_is_down)

    def _who_is_down(self):
        down = [instance for instance, wanted in self._wanted.items() if wanted and instance not in self.ready]
        return "everything is up" + "".join(
            "\n" + self._processes[instance].describe("is not ready") for instance in down
        )

    # --- brokers ---

    def metadata(self):
        """The description that the cluster gives of itself, or None while it does not answer."""
        code, out, _ = processes.run(
            ["kcat", "-L", "-J", "-m", "3", "-b", self.server.bootstrap], bound_s=20, check=False
        )
        metadata = json.loads(out) if code == 0 else None
        if metadata:
            self._count_moves(metadata)
        return metadata

    def in_sync(self):
        metadata = self.metadata()
        if not metadata or len(metadata["brokers"]) < self.server.brokers:
            return False
        return all(
            len(partition["isrs"]) == len(partition["replicas"]) and partition["leader"] >= 0
            for topic in metadata["topics"]
            for partition in topic["partitions"]
        )

    def _count_moves(self, metadata):
        for topic in metadata["topics"]:
            for partition in topic["partitions"]:
                place, leader = (topic["topic"], partition["partition"]), partition["leader"]
                if leader < 0:
                    continue
                moved = self._leaders.get(place, leader) != leader
                self.coordinator_moves += moved and place[0] == "__consumer_offsets"
                self.leader_moves += moved and place[0] != "__consumer_offsets"
                self._leaders[place] = leader

    # --- the end ---

    def stop(self):
        """SIGTERM to each: {instance: exit code}."""
        running = [instance for instance, process in self._processes.items() if process.running()]
        for instance in running:
            self.ask_to_end(instance)
        return {instance: self._processes[instance].wait(END_BOUND_S) for instance in running}
