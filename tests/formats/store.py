"""Sections "The filter store", "Damaged value", "Forgotten value", "Merged watermark", "Store description" and "Window
state" of docs/formats.md."""

import dataclasses
import datetime
import zoneinfo

import filter_value
from pieces import (
    OFFSET_END,
    QUARTER_MS,
    SHARDS,
    TIME_END_MS,
    Reader,
    Refused,
    check_user_key,
    length_and,
    open_sum,
    require,
    shard_of,
    sum32,
    u32,
    u64,
    varint,
    xxh3,
)

DELETION, BASE, OPERAND = 0, 1, 2  # Types of RocksDB's entries.


def filter_key(key, unit, period):
    return b"f" + shard_of(key).to_bytes(2, "big") + key + unit.encode() + period.to_bytes(2, "big")


def forgotten_key(key):
    return b"g" + shard_of(key).to_bytes(2, "big") + key


def watermark_key(partition):
    return b"w" + partition.to_bytes(2, "big")


def parse_filter_key(store_key):
    """(user key, unit, period)."""
    require(store_key[:1] == b"f" and len(store_key) > 6, "not a filter key")
    key, unit = check_user_key(store_key[3:-3]), store_key[-3:-2]
    require(unit in (b"m", b"w", b"d"), "an unknown unit")
    require(int.from_bytes(store_key[1:3], "big") == shard_of(key), "not the shard of the user")
    return key, unit.decode(), int.from_bytes(store_key[-2:], "big")


def parse_forgotten_key(store_key):
    require(store_key[:1] == b"g" and len(store_key) > 3, "not a forgotten key")
    key = check_user_key(store_key[3:])
    require(int.from_bytes(store_key[1:3], "big") == shard_of(key), "not the shard of the user")
    return key


def parse_watermark_key(store_key):
    require(store_key[:1] == b"w" and len(store_key) == 3, "not a watermark key")
    partition = int.from_bytes(store_key[1:], "big")
    require(partition < SHARDS, "an impossible partition")
    return partition


SLOT_END_KEY = b"k"


def deletion_mark_key(shard):
    return b"e" + shard.to_bytes(2, "big")


def encode_deletion_mark(since_ms, key):
    out = b"\1" + u64(since_ms)
    return out + u64(xxh3(out, xxh3(key)))


def decode_deletion_mark(value, key):
    """Its time."""
    require(key[:1] == b"e" and len(key) == 3 and int.from_bytes(key[1:], "big") < SHARDS, "not a deletion mark's key")
    reader = Reader(open_sum(value, 8, xxh3(key)))
    require(reader.u8() == 1, "another version")
    since_ms = reader.u64()
    require(since_ms < 2**63, "an impossible time")
    reader.end()
    return since_ms


def encode_slot_end_key(key):
    out = b"\1" + key
    return out + u64(xxh3(out, xxh3(SLOT_END_KEY)))


def decode_slot_end_key(value):
    """The 16 bytes of the key."""
    reader = Reader(open_sum(value, 8, xxh3(SLOT_END_KEY)))
    require(reader.u8() == 1, "another version")
    key = reader.raw(16)
    reader.end()
    return key


def period_of(time_ms, unit, time_zone):
    quarter_s = time_ms // QUARTER_MS * QUARTER_MS // 1000
    day = datetime.datetime.fromtimestamp(quarter_s, zoneinfo.ZoneInfo(time_zone)).date()
    if unit == "m":
        return (day.year - 1970) * 12 + day.month - 1
    days = (day - datetime.date(1970, 1, 1)).days
    return days if unit == "d" else (days + 3) // 7


def period_name(period, unit):
    if unit == "m":
        return f"{1970 + period // 12:04d}-{period % 12 + 1:02d}"
    if unit == "d":
        return (datetime.date(1970, 1, 1) + datetime.timedelta(days=period)).isoformat()
    year, week, _ = (datetime.date(1969, 12, 29) + datetime.timedelta(weeks=period)).isocalendar()
    return f"{year:04d}-W{week:02d}"


def counted(entries):
    """Of the entries of a key, (type, value) and the newest first, those that count, the oldest first."""
    taken = []
    for kind, value in entries:
        if kind == DELETION:
            break
        taken.append((kind, value))
        if kind == BASE:
            break
    return taken[::-1]


def read_filter(entries, store_key, policy, closed):
    """The value that bloomring reads under a filter key that holds one."""
    taken = counted(entries)
    values = [value for _, value in taken]
    return values[0] if [kind for kind, _ in taken] == [BASE] else unite_stored(values, store_key, policy, closed)


@dataclasses.dataclass
class Damaged:
    refused: int
    reason: bytes
    good: bytes

    def encode(self):
        return b"\0" + varint(self.refused) + length_and(self.reason) + self.good


def decode_damaged(value):
    reader = Reader(value)
    require(reader.u8() == 0, "not a damaged value")
    refused, reason = reader.varint(), reader.bytes()
    return Damaged(refused, reason, reader.raw(len(value) - reader.at))


def unite_stored(values, store_key, policy=None, closed=False):
    """The bytes that bloomring stores for these values of a key; without a policy, for operands alone. Where some of them are no
    filters: a damaged value, whose reason is a sentence of ours."""
    refused, filters = 0, []
    for value in values:
        try:
            good = value
            if value[:1] == b"\0":
                damaged = decode_damaged(value)
                refused, good = refused + damaged.refused, damaged.good
            if good or not value:
                filters.append(filter_value.decode(good, store_key))
        except Refused:
            refused += 1
    good = b""
    if filters:
        united = filter_value.unite(filters, policy, closed) if policy else filter_value.gather(filters)
        good = filter_value.encode(united, store_key)
    return Damaged(refused, b"not a filter", good).encode() if refused else good


@dataclasses.dataclass
class Forgotten:
    everything: int = 0
    floor: int = 0
    items: list = dataclasses.field(default_factory=list)  # (item, time, played)

    def encode(self, store_key):
        out = bytes([1]) + varint(self.everything) + varint(self.floor) + varint(len(self.items))
        out += b"".join(u64(item) + varint(time) + varint(played) for item, time, played in self.items)
        return out + u64(xxh3(out, xxh3(store_key)))

    def hides(self, item, period, period_of_time):
        """Whether a filter of this period says nothing about the item; `period_of_time` maps event times to periods."""
        if self.everything and period < period_of_time(self.everything):
            return True
        for hidden, time, played in self.items:
            if hidden == item:
                last = period_of_time(time)
                return period < last if played else period <= last
        return False


def decode_forgotten(value, store_key):
    reader = Reader(open_sum(value, 8, xxh3(store_key)))
    require(reader.u8() == 1, "another version")
    result = Forgotten(reader.varint(TIME_END_MS), reader.varint(TIME_END_MS))
    count = reader.varint()
    require(count <= 4096, "too many items")
    for _ in range(count):
        item, time, played = reader.u64(), reader.varint(), reader.varint()
        require(not result.items or item > result.items[-1][0], "items do not ascend")
        require(time > result.everything and time > result.floor, "covered by everything or floor")
        require(time + played < TIME_END_MS, "a time out of range")
        result.items.append((item, time, played))
    reader.end()
    return result


@dataclasses.dataclass
class Watermark:
    partitions: int
    offset: int
    hour: int
    ranges: list  # (from, to)
    time: int = 0
    slot: int = 0

    def encode(self, store_key):
        out = bytes([3]) + u32(self.partitions) + u64(self.offset) + u64(self.hour) + u64(self.time) + u64(self.slot)
        out += bytes([len(self.ranges)])
        out += b"".join(u64(first) + u64(end) for first, end in self.ranges)
        return out + u64(xxh3(out, xxh3(store_key)))


def decode_watermark(value, store_key, partitions=None):
    reader = Reader(open_sum(value, 8, xxh3(store_key)))
    version = reader.u8()
    require(version in (1, 2, 3), "another version")
    result = Watermark(reader.u32(), reader.u64(), reader.u64(), [])
    result.time = reader.u64() if version >= 2 else 0
    result.slot = reader.u64() if version >= 3 else 0
    require(result.slot < 1 << 62, "a slot's length out of range")
    require(result.time < 1 << 62, "a time out of range")
    require(result.offset < OFFSET_END, "an offset out of range")
    count, last = reader.u8(), result.offset
    require(count <= 64, "too many ranges")
    for _ in range(count):
        first, end = reader.u64(), reader.u64()
        require(last < first < end < OFFSET_END, "ranges are empty or touch")
        last = end
        result.ranges.append((first, end))
    reader.end()
    require(partitions is None or partitions == result.partitions, "another P")
    return result


@dataclasses.dataclass
class ShardState:
    epoch: int
    random: int
    writes: int
    mark: Watermark | None

    def encode(self, label, partition):
        out = bytes([1]) + u64(self.epoch) + u64(self.random) + u64(self.writes) + bytes([self.mark is not None])
        if self.mark is not None:
            out += self.mark.encode(watermark_key(partition))
        return out + u64(xxh3(out, xxh3(label)))


def decode_shard_state(value, label, partition, partitions=None):
    reader = Reader(open_sum(value, 8, xxh3(label)))
    require(reader.u8() == 1, "another version")
    state = ShardState(reader.u64(), reader.u64(), reader.u64(), None)
    marked = reader.u8()
    require(marked in (0, 1), "neither marked nor not")
    if marked:
        mark = reader.raw(len(value) - 8 - reader.at)
        state.mark = decode_watermark(mark, watermark_key(partition), partitions)
    reader.end()
    return state


@dataclasses.dataclass
class Description:
    partitions: int
    period: bytes = b""  # Version 1 does not say.
    time_zone: bytes = b""


def encode_description(description):
    out = bytes([2]) + u32(description.partitions) + description.period
    out += length_and(description.time_zone)
    return out + u64(xxh3(out, xxh3(b"m")))


def decode_description(value, configured=None):
    reader = Reader(open_sum(value, 8, xxh3(b"m")))
    version = reader.u8()
    require(version in (1, 2), "another version")
    found = Description(reader.u32())
    if version == 2:
        found.period = bytes([reader.u8()])
        found.time_zone = reader.bytes()
        require(found.period in (b"m", b"w", b"d") and found.time_zone, "no such period")
    reader.end()
    if configured is not None:
        require(configured.partitions == found.partitions, "another P")
        require(version == 1 or configured == found, "another period")
    return found


@dataclasses.dataclass
class WindowState:
    partitions: int
    applied: int
    filling: int
    hours: list  # (number, from, to, events, bytes)
    views: list  # (name, note, [(drained behind, note) of each hour])
    slot: int = 0
    log_time: int = 0

    def encode(self):
        out = bytes([5]) + u32(self.partitions) + varint(self.applied) + varint(self.filling)
        out += varint(self.slot) + varint(self.log_time) + varint(len(self.hours))
        out += b"".join(varint(field) for hour in self.hours for field in hour) + varint(len(self.views))
        for name, note, hours in self.views:
            out += length_and(name) + length_and(note)
            out += b"".join(varint(behind) + length_and(of_hour) for behind, of_hour in hours)
        return out + sum32(out, 0x57)


def decode_window_state(value, partitions=None):
    reader = Reader(open_sum(value, 4, 0x57))
    version = reader.u8()
    require(version in (3, 4, 5), "another version")
    state = WindowState(reader.u32(), reader.varint(OFFSET_END), reader.varint(OFFSET_END), [], [])
    newest_play = varint(reader.varint(OFFSET_END)) if version < 5 else b""
    if version > 3:
        state.slot, state.log_time = reader.varint(OFFSET_END), reader.varint(OFFSET_END)
    ends = [OFFSET_END] * 3 + [2**64] * 2
    of_hours = []
    for _ in range(reader.varint()):
        state.hours.append(tuple(reader.varint(end) for end in ends))
        if version < 5:
            note = varint(reader.varint()) + varint(reader.varint(OFFSET_END))
            of_hours.append((reader.varint(OFFSET_END) if version == 4 else 0, note))
    if version < 5:
        state.views = [(b"filters", newest_play, of_hours)]
    for _ in range(reader.varint() if version == 5 else 0):
        name, note = reader.bytes(), reader.bytes()
        state.views.append((name, note, [(reader.varint(OFFSET_END), reader.bytes()) for _ in state.hours]))
    reader.end()
    require(partitions is None or partitions == state.partitions, "another P")
    return state


def decode_filter_notes(view):
    """The newest play, and (forgets, late before) of each hour."""

    def numbers(note, ends):
        reader = Reader(note)
        found = tuple(reader.varint(end) for end in ends)
        reader.end()
        return found

    _, note, hours = view
    return *numbers(note, [OFFSET_END]), [numbers(of_hour, [2**64, OFFSET_END]) for _, of_hour in hours]


def parse_window_key(key):
    """("block", hour, offset) or ("state", filling, applied, saves)."""
    reader = Reader(key)
    place = reader.u64be(), reader.u64be()
    kind = reader.u8()
    result = ("state", *place, reader.u64be()) if kind == 0 else ("block", *place)
    reader.end()
    require(kind <= 1, "an unknown kind of key")
    return result
