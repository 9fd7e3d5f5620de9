"""Reads the metrics of every process all the time, and holds what must never go back.

  - applied offsets, and those that ingest has committed, never go back while a process keeps its partitions (after a
    kill it reads again from its last flush);
  - the window stage's committed offset is never beyond the merged watermark;
  - between two calm moments neither the merged watermark nor a committed offset goes back, except where the filter store
    was restored.

It also learns since when a play is in the log: what the topics of plays held at one moment is in user-events at the moment
when the ingest stage's committed offsets have passed it.
"""

import bisect
import threading
import time

import world as worlds
from world import processes

ROUND_S = 1


class Watch:
    """The reading thread. A context manager."""

    def __init__(self, world):
        self.violations = []
        self.rounds = 0
        self._world = world
        self._rising = {}  # (owner, rebalances, place): the offset of the round before.
        self._committed = {}  # Partition: the window stage's, of the round before.
        self._in_log = []  # (then, since): what was acknowledged until then is in the log since; both rise.
        self._floor = {}  # (metric, stage, topic, partition): at the last calm moment.
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def _read(self):
        """{(instance, life): metrics} of those that answer."""
        found = {}
        for instance, ready in dict(self._world.ready).items():
            life = self._world.lives[instance]
            try:
                found[(instance, life)] = processes.metrics(ready["admin"], bound_s=2)
            except (OSError, processes.Failed):
                continue
        return found

    @staticmethod
    def _by_partition(metrics, name, **labels):
        """{(stage, topic, partition): number}."""
        found = {}
        for (series, pairs), number in metrics.items():
            have = dict(pairs)
            if series == name and all(have.get(key) == value for key, value in labels.items()):
                found[(have.get("stage", ""), have.get("topic", ""), int(have["partition"]))] = number
        return found

    def _check_rises(self, owner, metrics):
        """The applied offset of a stage never goes back. Ingest reads plays again that it passed over while a partition of
        user-events took none (docs/decisions/0037); what it has committed never goes back."""
        moves = sum(processes.values(metrics, "bloomring_rebalances_total"))
        for name in ("bloomring_applied_offset", "bloomring_committed_offset"):
            for place, offset in self._by_partition(metrics, name).items():
                if (place[0] == "ingest") == (name == "bloomring_applied_offset"):
                    continue
                before = self._rising.get((owner, moves, place), -1)
                if offset < before:
                    self.violations.append(f"{owner}: {name} of {place} went from {before} back to {offset}")
                self._rising[(owner, moves, place)] = offset

    def _check_custody(self, merged):
        for partition, committed in self._committed.items():
            if partition in merged and committed > merged[partition]:
                self.violations.append(
                    f"partition {partition}: committed {committed} beyond the watermark {merged[partition]}"
                )

    @staticmethod
    def _highest(maps):
        highest = {}
        for found in maps:
            for key, number in found.items():
                highest[key] = max(highest.get(key, -1), number)
        return highest

    def _learn_log(self, then, ends, found):
        committed = self._highest(
            self._by_partition(metrics, "bloomring_committed_offset", stage="ingest") for metrics in found.values()
        )
        reached = {(topic, partition): offset for (_, topic, partition), offset in committed.items()}
        if ends and all(reached.get(place, 0) >= end for place, end in ends.items()):
            self._in_log.append((then, time.monotonic()))

    def in_log_since(self, acknowledged):
        """A moment at which a play acknowledged then was in user-events for sure, or None."""
        at = bisect.bisect_right(self._in_log, (acknowledged, float("inf")))
        return self._in_log[at][1] if at < len(self._in_log) else None

    def _ends(self):
        """{(topic, partition): end} of all plays; nothing where some broker does not answer."""
        found, bootstrap = {}, self._world.server.bootstrap
        for topic in worlds.PLAYS_TOPICS:
            try:
                ends = processes.end_offsets(bootstrap, topic, worlds.PLAYS_PARTITIONS, bound_s=5)
            except (processes.Failed, ValueError):
                return {}
            found |= {(topic, partition): end for partition, end in ends.items()}
        return found

    def _round(self):
        then, ends = time.monotonic(), self._ends()
        found = self._read()
        self._learn_log(then, ends, found)
        self._world.note_memory()
        for owner, metrics in found.items():
            self._check_rises(owner, metrics)
        merged = self._highest(self._by_partition(metrics, "bloomring_merged_offset") for metrics in found.values())
        restoring = self._world.restoring.is_set()
        if not restoring:
            self._check_custody({partition: offset for (_, _, partition), offset in merged.items()})
        committed = self._highest(
            self._by_partition(metrics, "bloomring_committed_offset", stage="window") for metrics in found.values()
        )
        self._committed = {} if restoring else {partition: offset for (_, _, partition), offset in committed.items()}
        self.rounds += 1

    def check_floor(self, restored=False):
        """To be called when nothing is broken: nothing is below what it was at the call before. restored: the filter
        store went back on purpose."""
        found = self._read()
        for name in ("bloomring_merged_offset", "bloomring_committed_offset"):
            now = self._highest(self._by_partition(metrics, name) for metrics in found.values())
            for place, number in now.items():
                before = self._floor.get((name, place), -1)
                if number < before and not restored:
                    self.violations.append(f"{name} of {place} went from {before} back to {number}")
                self._floor[(name, place)] = number

    def merged(self):
        """{partition: the merged watermark}, as the window stage sees it."""
        highest = self._highest(
            self._by_partition(metrics, "bloomring_merged_offset") for metrics in self._read().values()
        )
        return {partition: offset for (_, _, partition), offset in highest.items()}

    def lags(self):
        """{instance: how many records it has not read}, of those that answer."""
        return {
            instance: sum(processes.values(metrics, "bloomring_processing_lag_records"))
            for (instance, _), metrics in self._read().items()
        }

    def _run(self):
        while not self._stop.wait(ROUND_S):
            self._round()

    def stop(self):
        self._stop.set()
        self._thread.join(30)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.stop()
