"""The decoders of this folder against the page they were written from, and against the golden files."""

import datetime
import sys
import unittest

import export
import filter_value
import page
import records
import store
from filter_value import Filter, Policy, Set
from pieces import Refused, item_hash, siphash, sum32, u64, user_key, varint, xxh3

sys.path.insert(0, str(page.ROOT / "tests" / "real"))

import law  # noqa: E402

FEED_U1 = user_key("feed", "u1")
BERLIN = store.Description(50, b"m", b"Europe/Berlin")
NO_SCENE_U1 = user_key("", "u1")
FILTER_KEY = store.filter_key(NO_SCENE_U1, "m", 682)
GOLDEN_KEY = b"f:u1:2026-11"
V1, V2 = item_hash("v1"), item_hash("v2")


def numbered(begin, end):
    return [item_hash(str(number)) for number in range(begin, end)]


def filter_codec(value):
    return filter_value.encode(filter_value.decode(value, FILTER_KEY), FILTER_KEY)


def key_codec(key):
    return store.filter_key(*store.parse_filter_key(key))


def keyed_codec(decode, store_key, *more):
    return lambda value: decode(value, store_key, *more).encode(store_key)


# Heading: what decodes an example and encodes it again.
CODECS = {
    "Store keys": key_codec,
    "Example: an operand": filter_codec,
    "Example: the dense form": filter_codec,
    "Example: two sets": filter_codec,
    "Damaged value": lambda value: store.decode_damaged(value).encode(),
    "Forgotten value, version 1": keyed_codec(store.decode_forgotten, store.forgotten_key(FEED_U1)),
    "Merged watermark, version 3": keyed_codec(store.decode_watermark, store.watermark_key(3), 50),
    "Shard state, version 1": lambda value: store.decode_shard_state(value, b"shard 17", 0, 50).encode(b"shard 17", 0),
    "Store description, version 2": lambda value: store.encode_description(store.decode_description(value, BERLIN)),
    "Event block, version 1": lambda value: records.decode_event_block(value, (0, 2)).encode(),
    "User batches, version 2": lambda value: records.decode_user_batches(value, (0, 2)).encode(),
    "Slot end, version 3": lambda value: records.decode_slot_end(value, (0, 2)).encode(),
    "Slot end, version 2": lambda value: records.decode_slot_end(value, (0, 2)).encode(),
    "Deletion mark, version 1": lambda value: store.encode_deletion_mark(
        store.decode_deletion_mark(value, store.deletion_mark_key(2051)), store.deletion_mark_key(2051)
    ),
    "Key of slot ends, version 1": lambda value: store.encode_slot_end_key(store.decode_slot_end_key(value)),
    "Snapshot, version 2": lambda value: records.decode_snapshot(value).encode(),
    "Export file, version 1": lambda value: export.decode_file(value).encode(),
    "Export manifest, version 1": lambda value: export.decode_manifest(value).encode(),
    "Window state, version 5": lambda value: store.decode_window_state(value, 50).encode(),
}
WITHOUT_SUM = {"Store keys", "Damaged value"}


class Page(law.LawCase):
    def setUp(self):
        self.examples = page.examples()

    def refuses(self, decode, value):
        with self.assertRaises(Refused, msg=value.hex()):
            decode(value)

    def test_examples(self):
        """formats: every example of the page is decoded by a program written from it, and encoded to the same bytes"""
        self.assertEqual(set(self.examples), set(CODECS))
        for heading, value in self.examples.items():
            with self.subTest(heading):
                self.assertEqual(CODECS[heading](value).hex(), value.hex())

    def test_damage(self):
        """formats: every flipped bit, every cut and every byte more of an example is refused"""
        for heading, value in self.examples.items():
            if heading in WITHOUT_SUM:
                continue
            for bit in range(len(value) * 8):
                flipped = bytearray(value)
                flipped[bit // 8] ^= 1 << bit % 8
                self.refuses(CODECS[heading], bytes(flipped))
            for size in range(len(value)):
                self.refuses(CODECS[heading], value[:size])
            self.refuses(CODECS[heading], value + b"\0")

    def test_meaning(self):
        """formats: what the examples say is what the page says that they say"""
        ex = self.examples
        operand = filter_value.decode(ex["Example: an operand"], FILTER_KEY)
        self.assertEqual(operand, Filter(wide=Set(32, (2354904170, 2740928455, 3878237917, 4100508853))))
        self.assertEqual(operand, filter_value.operand(numbered(0, 4), NO_SCENE_U1, Policy()))
        self.assertTrue(all(operand.holds(item, NO_SCENE_U1) for item in numbered(0, 4)))
        self.assertFalse(operand.holds(item_hash("4"), NO_SCENE_U1))
        self.assertEqual(operand.error(), 4 / 2**32)
        one = filter_value.unite([filter_value.operand(numbered(0, 1), NO_SCENE_U1, Policy())], Policy(), False)
        dense = filter_value.decode(ex["Example: the dense form"], FILTER_KEY)
        self.assertEqual((dense.narrow, dense.dense), (one.narrow, True))
        late = [filter_value.unite([one], Policy(), True)]
        late.append(filter_value.operand(numbered(1, 2), NO_SCENE_U1, Policy()))
        two_sets = filter_value.decode(ex["Example: two sets"], FILTER_KEY)
        self.assertEqual(two_sets, filter_value.unite(late, Policy(), True))

        block = records.decode_event_block(ex["Event block, version 1"])
        self.assertEqual(block.users[0], (FEED_U1, [(1, V1, 1649314823123), (1, V2, 1649316000000)]))
        self.assertEqual(block.users[1], (user_key("", "7"), [(1, V1, 1649314820000)]))
        batches = records.decode_user_batches(ex["User batches, version 2"])
        self.assertEqual(batches.users[0].plays(), [(item, time) for _, item, time in block.users[0][1]])
        self.assertEqual(batches.users[0].forgets, [(1, V1, 1649316000000, 1200)])
        for version in (2, 3):
            end = records.decode_slot_end(ex[f"Slot end, version {version}"])
            self.assertEqual((end.head, end.hours), (batches.head, [(458143, 1000, 1500)]))
            self.assertEqual((end.users, end.plays, end.records), (2, 3, 1))
        self.assertEqual(end.digest, xxh3(ex["User batches, version 2"]))
        key = store.decode_slot_end_key(ex["Key of slot ends, version 1"])
        self.assertEqual((key, end.keyed_sum), (bytes(range(16)), siphash(end.summed(), bytes(range(16)))))
        watermark = store.decode_watermark(ex["Merged watermark, version 3"], store.watermark_key(3))
        self.assertEqual((watermark.offset, watermark.hour, watermark.ranges), (1000, 458143, [(1500, 2000)]))
        self.assertEqual(watermark.time, 458146 * 3600000)
        state = store.decode_window_state(ex["Window state, version 5"])
        self.assertEqual(state.hours[0], (458143, 1000, 1500, 20000, 300000))
        ((name, _, of_hours),) = state.views
        self.assertEqual((name, of_hours[0][0]), (b"filters", 41))
        notes = 1649320200000, [(3, 1649314799000), (0, 1649318399950)]
        self.assertEqual(store.decode_filter_notes(state.views[0]), notes)
        self.assertEqual((watermark.slot, state.slot), (3600000, 3600000))
        snapshot = records.decode_snapshot(ex["Snapshot, version 2"])
        seen = [item for item in (V1, V2, 1, 2, 3) if snapshot.seen(item, filter_value.decode)]
        self.assertEqual(seen, [V1, V2, 2])
        self.assertEqual(snapshot.periods, [store.period_name(683, "m").encode(), store.period_name(682, "m").encode()])

    def test_forgets(self):
        """formats: what a store with forgets says of an item follows from its forgotten value"""
        value = store.decode_forgotten(self.examples["Forgotten value, version 1"], store.forgotten_key(FEED_U1))
        self.assertEqual((value.everything, value.items), (1648771200000, [(V1, 1649316000000, 600000)]))
        april = (2022 - 1970) * 12 + 3

        def hidden(forgotten, item, *periods):
            return [forgotten.hides(item, p, lambda time: store.period_of(time, "m", "UTC")) for p in periods]

        self.assertEqual(hidden(value, V1, april - 1, april, april + 1), [True, False, False])
        self.assertEqual(hidden(value, V2, april - 1, april), [True, False])
        not_played_again = store.Forgotten(items=[(V1, 1649316000000, 0)])
        self.assertEqual(hidden(not_played_again, V1, april - 1, april, april + 1), [True, True, False])

    def test_damaged(self):
        """formats: a damaged value keeps the union of what was good and counts the rest, union by union"""
        good = filter_value.encode(filter_value.operand(numbered(0, 1), NO_SCENE_U1, Policy()), FILTER_KEY)
        example = store.decode_damaged(self.examples["Damaged value"])
        made = store.decode_damaged(store.unite_stored([good, b"*"], FILTER_KEY, Policy()))
        self.assertEqual((made.refused, made.good), (1, example.good))
        again = store.decode_damaged(store.unite_stored([example.encode(), good, b""], FILTER_KEY, Policy()))
        self.assertEqual((again.refused, again.good), (2, example.good))

    def test_periods(self):
        """formats: months, ISO weeks and days are numbered and named as the page says"""

        def at(text):
            return int(datetime.datetime.fromisoformat(text).timestamp() * 1000)

        for text, unit, zone, number, name in [
            ("1970-01-01T00:00:00+00:00", "w", "UTC", 0, "1970-W01"),
            ("2026-11-22T06:00:00+00:00", "m", "UTC", 682, "2026-11"),
            ("2026-11-22T06:00:00+00:00", "w", "UTC", 2968, "2026-W47"),
            ("2026-11-22T06:00:00+00:00", "d", "UTC", 20779, "2026-11-22"),
            ("2026-12-01T04:59:59+00:00", "m", "America/New_York", 682, "2026-11"),
            ("2027-01-03T12:00:00+00:00", "w", "UTC", 2974, "2026-W53"),
        ]:
            with self.subTest(text, unit=unit):
                self.assertEqual(store.period_of(at(text), unit, zone), number)
                self.assertEqual(store.period_name(number, unit), name)

    def test_older_versions(self):
        """formats: a watermark of version 1 is read as one whose time is not known"""
        value = bytes.fromhex(
            "0132000000e8030000000000009ffd06000000000001dc05000000000000d007000000000000f96f5e4c5a7a8d10"
        )
        watermark = store.decode_watermark(value, store.watermark_key(3), 50)
        self.assertEqual((watermark.offset, watermark.hour, watermark.ranges), (1000, 458143, [(1500, 2000)]))
        self.assertEqual(watermark.time, 0)

    def test_refusals(self):
        """formats: a value that breaks one rule of a section under a right sum is refused"""

        def sealed(body, seed):
            return body + sum32(body, seed)

        def keyed(body, store_key):
            return body + u64(xxh3(body, xxh3(store_key)))

        def filter_of(body):
            return sealed(bytes.fromhex(body), xxh3(FILTER_KEY))

        operand = "b102200400"
        for body in [
            "b1001a0100000001", "b1211a0100000001", "b101000101", "b10139" + "0100000000000000" + "01",  # flags, widths
            "b1010103" + "07", "b1011a8100f173310201", "b1011a00",  # counts
            "b1011a01f173310203", "b1011a01f173310241", "b1011a01f1733142" + "01",  # uppers, padding of both parts
            "b1030901090118010118" + "0101", operand,  # not narrower, too short
        ]:  # fmt: skip
            self.refuses(lambda value: filter_value.decode(value, FILTER_KEY), filter_of(body))
        head = bytes.fromhex("e1010001") + varint(0)
        for body in [
            head + varint(0) + b"\1\1",  # before 2000
            head + varint(1649314820000) + b"\0\0",  # no users
            head + varint(1649314820000) + b"\1\0" + b"\3" + NO_SCENE_U1 + b"\0",  # a user without events
            head + varint(1649314820000) + b"\1\1" + b"\3" + NO_SCENE_U1 + b"\1\5" + u64(V1) + b"\0",  # kind 5
            head + varint(1649314820000) + b"\1\2" + b"\3" + NO_SCENE_U1 + b"\1\1" + u64(V1) + b"\0",  # 2 events
            head + varint(4102444799999) + b"\1\1" + b"\3" + NO_SCENE_U1 + b"\1\1" + u64(V1) + b"\1",  # in 2100
        ]:
            self.refuses(records.decode_event_block, sealed(body, 0xE1))
        key = store.forgotten_key(FEED_U1)
        for value in [
            store.Forgotten(everything=4102444800000),
            store.Forgotten(everything=5, items=[(V1, 5, 0)]),
            store.Forgotten(floor=5, items=[(V1, 5, 0)]),
            store.Forgotten(items=[(2, 5, 0), (1, 5, 0)]),
            store.Forgotten(items=[(1, 5, 4102444800000)]),
            store.Forgotten(items=[(item, 1, 0) for item in range(4097)]),
        ]:
            self.refuses(lambda bad: store.decode_forgotten(bad, key), value.encode(key))
        key = store.watermark_key(3)
        for ranges in [[(1000, 1001)], [(1500, 1500)], [(1500, 2000), (2000, 2001)], [(i, i + 1) for i in range(2000, 2130, 2)]]:
            bad = store.Watermark(50, 1000, 1, ranges).encode(key)
            self.refuses(lambda value: store.decode_watermark(value, key), bad)
        self.refuses(store.decode_description, keyed(b"\3" + bytes(4), b"m"))
        self.refuses(store.decode_description, keyed(b"\2" + bytes(4) + b"y\3UTC", b"m"))
        self.refuses(store.decode_description, keyed(b"\2" + bytes(4) + b"m\0", b"m"))
        for other in [store.Description(49, b"m", b"UTC"), store.Description(50, b"w", b"UTC"), BERLIN]:
            value = store.encode_description(store.Description(50, b"m", b"UTC"))
            self.refuses(lambda bad, other=other: store.decode_description(bad, other), value)


class Golden(law.LawCase):
    def test_values(self):
        """formats: the golden filter values are decoded to their sets, and encoded to the same bytes"""
        rows = page.rows("golden.tsv")
        self.assertGreaterEqual(len(rows), 9)
        for name, key, value, narrow, wide in rows:
            with self.subTest(name):
                value, key = bytes.fromhex(value), key.encode()
                found = filter_value.decode(value, key)
                for expected, held in ((narrow, found.narrow), (wide, found.wide)):
                    text = f"{held.width}:{''.join(f'{p},' for p in held.prints)}" if held else ""
                    self.assertEqual(text, expected)
                self.assertEqual(filter_value.encode(found, key), value)

    def test_unions(self):
        """formats: the bytes of golden unions are computed from the page's rule"""
        rows = page.rows("unions.tsv")
        self.assertGreaterEqual(len(rows), 80)
        for name, key, rate, periods, dense, closed, values, united in rows:
            with self.subTest(name):
                policy = Policy(float(rate), int(periods), int(dense)) if rate else None
                values = [bytes.fromhex(value) for value in values.split(",")]
                self.assertEqual(store.unite_stored(values, key.encode(), policy, closed == "1").hex(), united)

    def test_large(self):
        """formats: the bytes of large golden filters are computed from the page's rule"""

        def united(*filters, closed=False):
            return filter_value.unite(filters, Policy(), closed)

        def operand(begin, end):
            return filter_value.operand(numbered(begin, end), NO_SCENE_U1, Policy())

        planned = united(operand(0, 131_000))
        for expected, made in [
            (0xE888159E3B064C75, united(operand(0, 4096))),
            (0xEC399141F31C3628, planned),
            (0x08BF18550BF071E8, united(planned, operand(131_000, 133_000))),
            (0xEF1B148DFDEBFBE9, united(operand(0, 140_000), closed=True)),
        ]:
            self.assertEqual(xxh3(filter_value.encode(made, GOLDEN_KEY)), expected)


if __name__ == "__main__":
    unittest.main()
