"""The whole chain as processes: a broker, and bloomring processes that share nothing but topics and the filter store."""

import contextlib
import json
import shutil
import time

import heavy
import plays
import processes

PARTITIONS = 10
SLOTS = 6
SLOT_SECONDS = 4
SESSION_TIMEOUT_MS = 6000
READY_BOUND_S = 120

# The one metric that the tests lean on: what a stage has committed of a topic, by partition. The window stage commits
# an event only when the merged watermark covers it.
COMMITTED = "bloomring_committed_offset"


def config(folder, bootstrap, instance, changes=None):
    """The file of one process, with changes by key ({"ring.slots": 3}). JSON is YAML, so the standard library writes it."""
    settings = {
        "kafka": {
            "bootstrap": bootstrap,
            "properties": {"session.timeout.ms": SESSION_TIMEOUT_MS, "heartbeat.interval.ms": 500},
        },
        "topics": {"plays": "plays", "partitions": PARTITIONS, "replication": 1},
        "ring": {"slots": SLOTS, "slot_seconds": SLOT_SECONDS},
        "filter": {"time_zone": "UTC"},
        "store": {"kind": "embedded", "path": str(folder / "store")},
        "state": {"path": str(folder / instance)},
        "instance": instance,
        "admin": {"listen": "127.0.0.1:0"},
        "serve": {"listen": "127.0.0.1:0", "drain_seconds": 0},
    }
    for key, value in (changes or {}).items():
        *sections, name = key.split(".")
        place = settings
        for section in sections:
            place = place.setdefault(section, {})
        place[name] = value
    return settings


def write_config(folder, bootstrap, instance, changes=None):
    """The path of the file that config() describes."""
    path = folder / f"{instance}.yaml"
    path.write_text(json.dumps(config(folder, bootstrap, instance, changes), indent=1))
    return path


class Chain:
    """Processes of bloomring on a broker, by default one ingest, two window, one merge and one serve process; a context
    manager that ends them all."""

    INSTANCES = {"merge": "merge", "window-1": "window", "window-2": "window", "serve": "serve", "ingest": "ingest"}

    def __init__(self, folder, bootstrap, instances=None, settings=None):
        self.folder = folder
        self.bootstrap = bootstrap
        self._instances = instances or self.INSTANCES  # instance: its stage
        self._settings = settings or {}  # instance: {key: value} next to the file
        self._stack = contextlib.ExitStack()
        self._processes = {}
        self._ready = {}

    def make_topics(self):
        processes.run(
            [
                plays.binary(),
                "topics",
                "--config",
                write_config(self.folder, self.bootstrap, "topics"),
                "--execute",
                "--create-plays",
            ]
        )

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            for instance, stage in self._instances.items():
                command = [
                    plays.binary(),
                    "run",
                    "--config",
                    write_config(self.folder, self.bootstrap, instance),
                    "--stages",
                    stage,
                ]
                for key, value in self._settings.get(instance, {}).items():
                    command += ["--set", f"{key}={value}"]
                self._processes[instance] = stack.enter_context(processes.Process(instance, command, self.folder))
            for instance in self._instances:
                self._wait_ready(instance)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def _wait_ready(self, instance):
        self._ready[instance] = self._processes[instance].ready_line(READY_BOUND_S)

    @property
    def grpc(self):
        return self.grpc_of("serve")

    def grpc_of(self, instance):
        return self._ready[instance]["grpc"]

    def admin_of(self, instance):
        return self._ready[instance]["admin"]

    def crash(self, instance, lose_disk=False):
        """kill -9 and a start as systemd would; with lose_disk it comes back as on another host."""
        self.kill9(instance)
        if lose_disk:
            shutil.rmtree(self.folder / instance)
        self.start(instance)

    def kill9(self, instance):
        """(before, after): when it was killed, on the monotonic clock."""
        before = time.monotonic()
        self._processes[instance].kill9()
        return before, time.monotonic()

    def start(self, instance, env=None):
        """env: more variables, for this start only."""
        self._processes[instance].start(env)
        self._wait_ready(instance)

    def start_if_ended(self, instance):
        """As a supervisor does."""
        if not self._processes[instance].running():
            self.start(instance)

    def all_running(self):
        for process in self._processes.values():
            if not process.running():
                raise processes.Failed(process.describe("ended by itself"))

    def stop(self):
        """SIGTERM to each: {instance: exit code}."""
        return {instance: process.term() for instance, process in self._processes.items()}

    def produce(self, lines):
        processes.kcat_produce(self.bootstrap, "plays", lines)

    def play_heavily(self, users=None):
        """Every play of these heavy users, or of all: {user: items}."""
        found = heavy.heavy_plays(int(time.time() * 1000), users)
        self.produce([play.json() for play in found])
        return plays.by_user(found)

    def log_end(self, topic):
        return sum(processes.end_offsets(self.bootstrap, topic, PARTITIONS).values())

    def wait_for_growth(self, topic, since, bound_s=60):
        """Until the log of a topic is longer than it was: work is under way, so a kill now is in its middle."""
        processes.wait_for(lambda: self.log_end(topic) > since, bound_s, f"{topic} grows beyond {since} records")

    def committed(self, stage, topic):
        """{partition: offset}, of whichever process of the stage has committed furthest."""
        self.all_running()
        found = {}
        for ready in self._ready.values():
            for (name, labels), offset in processes.metrics(ready["admin"]).items():
                labels = dict(labels)
                if name == COMMITTED and labels["stage"] == stage and labels["topic"] == topic:
                    partition = int(labels["partition"])
                    found[partition] = max(found.get(partition, 0), int(offset))
        return found

    def wait_until_committed(self, stage, topic, bound_s):
        """Until a stage has committed everything that its topic holds now."""
        ends = {
            partition: end for partition, end in processes.end_offsets(self.bootstrap, topic, PARTITIONS).items() if end
        }
        last = {}

        def done():
            last.update(self.committed(stage, topic))
            return all(last.get(partition, 0) >= end for partition, end in ends.items())

        processes.wait_for(done, bound_s, lambda: f"{stage} has committed {topic}: ends {ends}, committed {last}")

    def wait_until_merged(self, bound_s=180):
        """Until every play produced is in the log, and everything in the log is covered by the merged watermark."""
        self.wait_until_committed("ingest", "plays", bound_s)
        self.wait_until_committed("window", "user-events", bound_s)
