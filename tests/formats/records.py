"""Sections "Event block", "User batches", "Slot end" and "Snapshot" of docs/formats.md."""

import dataclasses

from pieces import (
    OFFSET_END,
    QUARTER_MS,
    SHARDS,
    TIME_END_MS,
    TIME_FIRST_MS,
    Reader,
    length_and,
    open_sum,
    partition_of,
    require,
    sum32,
    u32,
    u64,
    varint,
)

PLAY, SERVE, FORGET, FORGET_ALL = 1, 2, 3, 4
QUARTER_FIRST, QUARTER_END = TIME_FIRST_MS // QUARTER_MS, TIME_END_MS // QUARTER_MS


def _check_place(reader, place):
    """The P and the partition of a record; `place` is (partition, P) of where it lies, or None where nobody knows."""
    partitions, partition = reader.varint(), reader.varint()
    require(partitions >= 1 and SHARDS % partitions == 0, "P does not divide 5000")
    require(place is None or place == (partition, partitions), "of another partition")
    return partition, partitions


def _check_user(key, partition, partitions):
    require(partition_of(key, partitions) == partition, "a user of another partition")


@dataclasses.dataclass
class EventBlock:
    partition: int
    partitions: int
    base: int
    users: list  # (user key, [(kind, item, event time)])

    def encode(self):
        out = bytes([0xE1, 1, 0]) + varint(self.partitions) + varint(self.partition) + varint(self.base)
        out += varint(len(self.users)) + varint(sum(len(events) for _, events in self.users))
        for key, events in self.users:
            out += length_and(key) + varint(len(events))
            out += b"".join(bytes([kind]) + u64(item) + varint(time - self.base) for kind, item, time in events)
        return out + sum32(out, 0xE1)


def decode_event_block(data, place=None):
    reader = Reader(open_sum(data, 4, 0xE1))
    require(reader.raw(3) == bytes([0xE1, 1, 0]), "not an event block of version 1 without flags")
    partition, partitions = _check_place(reader, place)
    base, users, total = reader.varint(), reader.varint(), reader.varint()
    require(TIME_FIRST_MS <= base < TIME_END_MS and users >= 1, "no event time, or no users")
    block = EventBlock(partition, partitions, base, [])
    for _ in range(users):
        key, count, events = reader.user_key(), reader.varint(), []
        _check_user(key, partition, partitions)
        require(count >= 1, "a user without events")
        for _ in range(count):
            kind, item, time = reader.u8(), reader.u64(), base + reader.varint()
            require(PLAY <= kind <= FORGET_ALL and time < TIME_END_MS, "an unknown kind or no event time")
            events.append((kind, item, time))
        block.users.append((key, events))
    reader.end()
    require(sum(len(events) for _, events in block.users) == total, "another number of events")
    return block


@dataclasses.dataclass
class Head:
    attempt: int
    partition: int
    partitions: int
    first: int
    end: int
    digest: int

    def encode(self, kind, version=2):
        return (
            bytes([kind, version, self.attempt])
            + varint(self.partitions)
            + varint(self.partition)
            + varint(self.first)
            + varint(self.end)
            + u32(self.digest)
        )


def _head(reader, kind, place, version=2):
    require(reader.u8() == kind and reader.u8() == version, "another format or version")
    attempt = reader.u8()
    require(1 <= attempt <= 3, "an unknown attempt")
    partition, partitions = _check_place(reader, place)
    head = Head(attempt, partition, partitions, reader.varint(OFFSET_END), reader.varint(OFFSET_END), reader.u32())
    require(head.first < head.end, "an empty range")
    return head


@dataclasses.dataclass
class BatchUser:
    key: bytes
    forgets: list  # (what, item or None, time, offset)
    quarters: list  # (quarter, [(item, ms)])

    def plays(self):
        """(item, event time) of each."""
        return [(item, quarter * QUARTER_MS + ms) for quarter, items in self.quarters for item, ms in items]


@dataclasses.dataclass
class UserBatches:
    head: Head
    users: list

    def encode(self):
        out = self.head.encode(0xB1) + varint(len(self.users))
        for user in self.users:
            out += length_and(user.key) + varint(len(user.forgets))
            for what, item, time, offset in user.forgets:
                out += bytes([what]) + (b"" if item is None else u64(item)) + varint(time) + varint(offset)
            out += varint(len(user.quarters))
            last = 0
            for quarter, items in user.quarters:
                out += varint(quarter - last) + varint(len(items))
                out += b"".join(u64(item) + varint(ms) for item, ms in items)
                last = quarter
        return out + sum32(out, 0xB1)


def _forgets(reader, head):
    forgets, last = [], None
    for _ in range(reader.varint()):
        what = reader.u8()
        require(1 <= what <= 4, "an unknown forget")
        item = reader.u64() if what <= 2 else None
        time, offset = reader.varint(), reader.varint(OFFSET_END)
        require(TIME_FIRST_MS <= time < TIME_END_MS and offset < head.end, "a time or an offset out of range")
        about = (what, item or 0)
        goes_on = last is not None and about == last[0] and time > last[1] and offset < last[2]
        require(last is None or about > last[0] or goes_on, "forgets do not ascend")
        last = (about, time, offset)
        forgets.append((what, item, time, offset))
    return forgets


def _quarters(reader, may_be_none):
    count, quarters, quarter = reader.varint(), [], 0
    require(count >= 1 or may_be_none, "neither forgets nor quarters")
    for i in range(count):
        delta, items = reader.varint(), reader.varint()
        quarter += delta
        require(delta >= 1 or i == 0, "quarters do not ascend")
        require(QUARTER_FIRST <= quarter < QUARTER_END and items >= 1, "a quarter out of range or without items")
        plays = []
        for _ in range(items):
            item, ms = reader.u64(), reader.varint(QUARTER_MS)
            require(not plays or item > plays[-1][0], "items do not ascend")
            plays.append((item, ms))
        quarters.append((quarter, plays))
    return quarters


def decode_user_batches(data, place=None):
    reader = Reader(open_sum(data, 4, 0xB1))
    head = _head(reader, 0xB1, place)
    users = []
    count = reader.varint()
    require(count >= 1, "no users")
    for _ in range(count):
        key = reader.user_key()
        _check_user(key, head.partition, head.partitions)
        forgets = _forgets(reader, head)
        users.append(BatchUser(key, forgets, _quarters(reader, bool(forgets))))
    reader.end()
    return UserBatches(head, users)


@dataclasses.dataclass
class SlotEnd:
    head: Head
    hours: list  # (number, from, to)
    users: int
    plays: int
    records: int
    digest: int | None = None  # None: of version 2, as is the next one.
    keyed_sum: int | None = None

    def summed(self):
        """The bytes that the keyed sum covers."""
        version = 2 if self.digest is None else 3
        out = self.head.encode(0xB2, version) + varint(len(self.hours))
        out += b"".join(varint(number) + varint(first) + varint(end) for number, first, end in self.hours)
        out += varint(self.users) + varint(self.plays) + varint(self.records)
        return out if self.digest is None else out + u64(self.digest)

    def encode(self):
        out = self.summed()
        if self.digest is not None:
            out += u64(self.keyed_sum)
        return out + sum32(out, 0xB2)


def decode_slot_end(data, place=None):
    reader = Reader(open_sum(data, 4, 0xB2))
    version = 2 if data[1:2] == b"\2" else 3
    head = _head(reader, 0xB2, place, version)
    count, hours, last, floor = reader.varint(), [], -1, head.first
    require(count >= 1, "no hours")
    for _ in range(count):
        number, first, end = (reader.varint(OFFSET_END) for _ in range(3))
        require(number > last and floor <= first < end <= head.end, "hours out of order")
        last, floor = number, end
        hours.append((number, first, end))
    result = SlotEnd(head, hours, reader.varint(), reader.varint(), reader.varint())
    if version == 3:
        result.digest, result.keyed_sum = reader.u64(), reader.u64()
    reader.end()
    return result


def decode_batch_record(data, place=None):
    """A record of user-batches: one or the other."""
    return decode_slot_end(data, place) if data[:1] == b"\xb2" else decode_user_batches(data, place)


@dataclasses.dataclass
class Snapshot:
    complete: bool
    key: bytes
    made_at: int
    periods: list
    filters: list  # (index of a period, store key, filter value)
    recents: list  # (item, index)
    served: list
    forgottens: list  # (item, index)

    def encode(self):
        out = bytes([0xE5, 2, self.complete]) + length_and(self.key) + varint(self.made_at)
        out += varint(len(self.periods)) + b"".join(length_and(name) for name in self.periods)
        out += varint(len(self.filters))
        out += b"".join(varint(index) + length_and(key) + length_and(value) for index, key, value in self.filters)
        out += varint(len(self.recents)) + b"".join(u64(item) + varint(index) for item, index in self.recents)
        out += varint(len(self.served)) + b"".join(u64(item) for item in self.served)
        out += varint(len(self.forgottens)) + b"".join(u64(item) + varint(index) for item, index in self.forgottens)
        return out + sum32(out, 0xE5)

    def seen(self, item, decode_filter):
        if item in self.served or any(item == recent for recent, _ in self.recents):
            return True
        hidden_from = dict(self.forgottens).get(item, len(self.periods))
        return any(
            index < hidden_from and decode_filter(value, store_key).holds(item, self.key)
            for index, store_key, value in self.filters
        )


def decode_snapshot(data):
    reader = Reader(open_sum(data, 4, 0xE5))
    require(reader.u8() == 0xE5 and reader.u8() == 2, "another format or version")
    complete = reader.u8()
    require(complete <= 1, "neither complete nor not")
    key, made_at = reader.user_key(), reader.varint()
    periods = [reader.bytes() for _ in range(reader.varint())]
    filters = [(reader.varint(), reader.bytes(), reader.bytes()) for _ in range(reader.varint())]
    recents = [(reader.u64(), reader.varint()) for _ in range(reader.varint())]
    served = [reader.u64() for _ in range(reader.varint())]
    forgottens = [(reader.u64(), reader.varint()) for _ in range(reader.varint())]
    reader.end()
    require(len(periods) <= 64, "too many periods")
    indexes = [index for index, _, _ in filters]
    require(all(a < b for a, b in zip(indexes, indexes[1:], strict=False)), "filters do not ascend")
    items = [item for item, _ in forgottens]
    require(all(a < b for a, b in zip(items, items[1:], strict=False)), "forgotten items do not ascend")
    indexes += [index for _, index in recents + forgottens]
    require(all(index < len(periods) for index in indexes), "an index that no period has")
    return Snapshot(bool(complete), key, made_at, periods, filters, recents, served, forgottens)
