"""A running `bloomring dev` of which everything that was sent is known, and its filter store as docs/formats.md says that
it is read."""

import collections
import datetime
import json
import pathlib
import sys
import time
import zoneinfo

import plays
import processes

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "formats"))

import dump  # noqa: E402
import filter_value  # noqa: E402
import records  # noqa: E402
import store  # noqa: E402
from pieces import item_hash, user_key  # noqa: E402

PARTITIONS = 10  # those of `bloomring dev`
FLUSHES_TO_COMPACT = 4  # RocksDB compacts when so many table files lie in its first level
POLICY = filter_value.Policy(false_positive_rate=0.02, periods_read=3, dense_from_items=64)
KINDS = {"play": records.PLAY, "forget": records.FORGET, "forget_all": records.FORGET_ALL}


def quiet_time_zone():
    """One in which no month begins or ends within the hour."""

    def far_from_midnight(name):
        now = datetime.datetime.now(zoneinfo.ZoneInfo(name))
        hour = datetime.timedelta(hours=1)
        return (now - hour).date() == (now + hour).date()

    return next(name for name in ("America/New_York", "Asia/Kolkata") if far_from_midnight(name))


class World:
    """`bloomring dev` with a configuration, and everything that was sent to it."""

    def __init__(self, folder, slot_seconds):
        self.folder = folder
        self.zone = quiet_time_zone()
        self.config = folder / "bloomring.yaml"
        settings = {
            "filter": {
                "false_positive_rate": POLICY.false_positive_rate,
                "periods_read": POLICY.periods_read,
                "dense_from_items": POLICY.dense_from_items,
                "time_zone": self.zone,
            },
            "store": {
                "path": str(folder / "data" / "store"),
                "backup_path": str(folder / "backups"),
                "backup_interval_seconds": 0,
            },
            "state": {"path": str(folder / "data" / "state")},
            "topics": {"partitions": PARTITIONS},
        }
        self.config.write_text(json.dumps(settings))
        command = [plays.binary(), "dev", "--slot-seconds", slot_seconds, "--data", folder / "data"]
        self.dev = processes.Process("dev", [*command, "--config", self.config], folder)
        self.sent = []  # (user key, kind, item hash, event time)

    def start(self):
        self.ready = self.dev.ready_line(60)

    def send(self, *events):
        """Events as (user, scene, kind, items, event time)."""
        lines = []
        for user, scene, kind, items, time_ms in events:
            for item in items:
                fields = {"user": user, "scene": scene, "event": kind, "item": item, "time": time_ms}
                lines.append(json.dumps(fields))
                hashed = 0 if kind == "forget_all" else item_hash(item)
                self.sent.append((user_key(scene, user), KINDS[kind], hashed, time_ms))
        processes.kcat_produce(self.ready["kafka"], "plays", lines)

    def metric(self, name, **labels):
        return processes.values(processes.metrics(self.ready["admin"]), name, **labels)

    def wait_until_ingested(self):
        self.dev.wait_until(
            lambda: sum(self.metric("bloomring_ingest_records_total")) >= len(self.sent)
            and sum(self.metric("bloomring_custody_lag_records", stage="ingest")) == 0,
            120,
            "the plays to be ingested",
        )

    def log_ends(self):
        return processes.end_offsets(self.ready["kafka"], "user-events", PARTITIONS)

    def wait_until_merged(self):
        self.wait_until_ingested()
        ends = self.log_ends()
        self.dev.wait_until(
            lambda: all(
                end == 0 or max(self.metric("bloomring_merged_offset", partition=p), default=0) >= end
                for p, end in ends.items()
            ),
            120,
            "the log to be merged",
        )

    def flush(self):
        """A backup writes what is in memory to a table file first."""
        processes.run([plays.binary(), "store", "backup", "--admin", self.ready["admin"], "--config", self.config])

    def table_files(self):
        return len(list((self.folder / "data" / "store").glob("*.sst")))

    def compact(self):
        """Flushes until RocksDB unites what there is; each flush needs something that was merged."""
        for _ in range(FLUSHES_TO_COMPACT - 1):
            self.flush()
            self.send(("filler", "", "play", [f"filler-{len(self.sent)}"], int(time.time() * 1000)))
            self.wait_until_merged()
        self.flush()
        self.dev.wait_until(lambda: self.table_files() == 1, 60, "the store to be compacted")

    def snapshot(self, user, scene):
        path = self.folder / f"snapshot-{scene}-{user}"
        command = [plays.binary(), "snapshot", "--server", self.ready["grpc"], "--user", user, "--scene", scene]
        words = ["sh", "-c", 'exec "$@" > "$0"', path, *command, "--strict"]
        self.dev.wait_until(lambda: processes.run(words, check=False)[0] == 0, 60, f"a snapshot of {user}")
        return records.decode_snapshot(path.read_bytes())

    def period(self, time_ms):
        return store.period_of(time_ms, "m", self.zone)

    def played_and_counting(self):
        """{user key: items}, twice: all that were played, and those that count by the law of event times."""
        played, counting = collections.defaultdict(set), collections.defaultdict(set)
        forgets = [event for event in self.sent if event[1] != records.PLAY]
        for key, kind, item, time_ms in self.sent:
            if kind != records.PLAY:
                continue
            played[key].add(item)
            if not any(
                other == key and forget_ms >= time_ms and (what == records.FORGET_ALL or forgotten == item)
                for other, what, forgotten, forget_ms in forgets
            ):
                counting[key].add(item)
        return played, counting


class Stored:
    """The contents of the filter store of a stopped bloomring, as the page describes them."""

    def __init__(self, world):
        self.world = world
        self.rows = dump.entries(world.folder / "data" / "store")
        self.now_ms = int(time.time() * 1000)
        self.decoded = collections.defaultdict(list)  # (period, filter) of each user key
        for store_key in self.filters():
            key, _, period = store.parse_filter_key(store_key)
            self.decoded[key].append((period, filter_value.decode(self.united(store_key), store_key)))

    def filters(self):
        """{filter key: entries}, the newest first."""
        return {key: entries for key, entries in self.rows.items() if key[:1] == b"f" and store.counted(entries)}

    def united(self, store_key):
        _, _, period = store.parse_filter_key(store_key)
        closed = period < self.world.period(self.now_ms)
        return store.read_filter(self.rows[store_key], store_key, POLICY, closed)

    def forgotten(self, key):
        store_key = store.forgotten_key(key)
        taken = store.counted(self.rows.get(store_key, []))
        return store.decode_forgotten(taken[0][1], store_key) if taken else store.Forgotten()

    def seen(self, key, items):
        """Those of the items that the store says the user has seen."""
        forgotten = self.forgotten(key)

        def held(item):
            return any(
                value.holds(item, key) and not forgotten.hides(item, period, self.world.period)
                for period, value in self.decoded[key]
            )

        return {item for item in items if held(item)}


def names(prefix, begin, end):
    return [f"{prefix}{number}" for number in range(begin, end)]
