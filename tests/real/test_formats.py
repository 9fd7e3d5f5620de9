"""A program written from docs/formats.md alone (tests/formats) reads what a running bloomring has stored and sent, and
computes the same bytes."""

import collections
import json
import time

import law
import plays
import processes
from formats_world import PARTITIONS, POLICY, Stored, World, names  # first: it says where the following ones are

import dump
import filter_value
import records
import store
from pieces import item_hash, partition_of, siphash, user_key, xxh3

DAY_MS = 24 * 3600 * 1000


class Formats(law.LawCase):
    def test_live(self):
        """formats: a program written from the page reads topics, store and snapshots of a running bloomring, and its
        unions are the bytes that compactions and questions make"""
        with processes.temp_folder("formats") as folder:
            world = World(folder, slot_seconds=1)
            with world.dev:
                world.start()
                self.play(world)
                snapshots = [world.snapshot(*user) for user in self.users]
                events = dump.records(world.ready["kafka"], "user-events")
                batches = dump.records(world.ready["kafka"], "user-batches")
                ends = world.log_ends()
                inspected = self.inspected(world)
                self.assertEqual(world.dev.term(), 0)
            stored = Stored(world)
            self.check_topics(world, events, batches)
            self.check_keys(world, stored, ends)
            self.check_unions(world, stored, snapshots)
            self.check_seen(world, stored)
            fresh = store.filter_key(user_key("", "fresh"), "m", world.period(stored.now_ms))
            found = filter_value.decode(stored.united(fresh), fresh)
            self.assertEqual((inspected["width_bits"], inspected["items"]), (found.narrow.width, 5))

    users = [(user, "") for user in ("steady", "heavy", "late", "forgetful", "eraser", "fresh")] + [("steady", "feed")]

    def play(self, world):
        """Rounds of plays and forgets: what only compactions have united, what was folded, what came afterwards."""
        self.month_ago_ms = int(time.time() * 1000) - 40 * DAY_MS
        now_ms = int(time.time() * 1000)
        world.send(
            ("steady", "", "play", names("s", 0, 40), now_ms),
            ("steady", "feed", "play", names("f", 0, 3), now_ms),
            ("heavy", "", "play", names("h", 0, 15_000), now_ms),
            ("late", "", "play", names("l", 0, 24), self.month_ago_ms),
            ("forgetful", "", "play", names("x", 0, 6), now_ms),
            ("forgetful", "", "play", names("x", 3, 9), self.month_ago_ms),
            ("eraser", "", "play", names("e", 0, 6), now_ms),
            ("eraser", "", "play", names("e", 0, 6), self.month_ago_ms),
        )
        world.wait_until_merged()
        now_ms = int(time.time() * 1000)
        world.send(
            ("steady", "", "play", names("s", 40, 50), now_ms),
            ("forgetful", "", "forget", ["x0", "x1", "x3", "x7"], now_ms),
            ("eraser", "", "forget_all", ["-"], now_ms),
        )
        world.wait_until_merged()
        world.compact()  # a base for everybody; of the closed month not folded, being new
        now_ms = int(time.time() * 1000)
        world.send(
            ("late", "", "play", ["l24"], self.month_ago_ms),
            ("forgetful", "", "play", ["x1"], now_ms),
            ("eraser", "", "play", ["e1"], now_ms),
        )
        world.wait_until_merged()
        world.compact()  # the closed month has come to rest
        world.send(
            ("late", "", "play", names("l", 25, 40), self.month_ago_ms),
            ("heavy", "", "play", names("h", 14_990, 15_020), int(time.time() * 1000)),
            ("fresh", "", "play", names("n", 0, 5), int(time.time() * 1000)),
        )
        world.wait_until_merged()

    def inspected(self, world):
        name = store.period_name(world.period(int(time.time() * 1000)), "m")
        words = ["inspect", "filter", "--user", "fresh", "--period", name, "--config", world.config]
        return json.loads(processes.run([plays.binary(), *words])[1])

    def check_topics(self, world, events, batches):
        logged, drained = [], set()
        self.slot_ends = []
        for record in events:
            block = records.decode_event_block(record.value, (record.partition, PARTITIONS))
            self.assertEqual((record.key_bytes, block.encode()), (-1, record.value))
            logged += [(key, *event) for key, of_user in block.users for event in of_user]
        # Ingest asks the brokers' time with events of users of this scene.
        of_site = [event for event in logged if not event[0].startswith(b"\x0fbloomring-clock")]
        self.assertEqual(sorted(of_site), sorted(world.sent))
        seen = collections.defaultdict(dict)  # by head: a drain that is repeated has the same records again
        for record in batches:
            batch = records.decode_batch_record(record.value, (record.partition, PARTITIONS))
            self.assertEqual((record.key_bytes, batch.encode()), (-1, record.value))
            head = batch.head.encode(0)
            if isinstance(batch, records.SlotEnd):
                counted = [len(user.plays()) for one in seen[head].values() for user in one.users]
                totals = (len(counted), sum(counted), len(seen[head]))
                self.assertEqual((batch.users, batch.plays, batch.records), totals)
                self.assertEqual(batch.digest, sum(xxh3(value) for value in seen[head]) % 2**64)
                self.slot_ends.append(batch)
                continue
            seen[head][record.value] = batch
            self.assertLessEqual(len(record.value), 131_072)
            for user in batch.users:
                drained |= {(user.key, records.PLAY, *play) for play in user.plays()}
        self.assertEqual(drained, {event for event in world.sent if event[1] == records.PLAY})
        users = [user.key for found in seen.values() for one in found.values() for user in one.users]
        self.assertGreater(users.count(user_key("", "heavy")), 2, "15,000 plays of 11 bytes, and those of the last round")

    def check_keys(self, world, stored, ends):
        kinds = collections.Counter()
        for key, entries in stored.rows.items():
            kinds[key[:1]] += 1
            for _, value in store.counted(entries):
                if key[:1] == b"f":
                    store.parse_filter_key(key)
                    again = filter_value.encode(filter_value.decode(value, key), key)
                elif key[:1] == b"g":
                    store.parse_forgotten_key(key)
                    again = store.decode_forgotten(value, key).encode(key)
                elif key[:1] == b"w":
                    watermark = store.decode_watermark(value, key, PARTITIONS)
                    self.assertEqual((watermark.offset, watermark.ranges), (ends[store.parse_watermark_key(key)], []))
                    again = watermark.encode(key)
                elif key[:1] == b"e":
                    again = store.encode_deletion_mark(store.decode_deletion_mark(value, key), key)
                elif key == b"k":
                    secret = store.decode_slot_end_key(value)
                    for end in self.slot_ends:
                        self.assertEqual(end.keyed_sum, siphash(end.summed(), secret))
                    again = store.encode_slot_end_key(secret)
                else:
                    self.assertEqual(key, b"m")
                    made_for = store.Description(PARTITIONS, b"m", world.zone.encode())
                    again = store.encode_description(store.decode_description(value, made_for))
                self.assertEqual(again, value, key.hex())
        self.assertEqual(set(kinds) - {b"e"}, {b"f", b"g", b"k", b"m", b"w"})
        self.assertGreater(len(self.slot_ends), 0)

    def check_unions(self, world, stored, snapshots):
        answered = {}
        for snapshot in snapshots:
            self.assertTrue(snapshot.complete)
            for index, store_key, value in snapshot.filters:
                _, unit, period = store.parse_filter_key(store_key)
                self.assertEqual(snapshot.periods[index].decode(), store.period_name(period, unit))
                answered[store_key] = value
        asked = {user_key(scene, user) for user, scene in self.users}
        filters = {key: entries for key, entries in stored.filters().items() if store.parse_filter_key(key)[0] in asked}
        self.assertEqual(set(answered), set(filters))
        for store_key, value in answered.items():
            self.assertEqual(stored.united(store_key).hex(), value.hex(), store_key)

        # A value that only compactions united equals the one of the plays alone.
        items = collections.defaultdict(set)
        for key, kind, item, time_ms in world.sent:
            if kind == records.PLAY:
                items[store.filter_key(key, "m", world.period(time_ms))].add(item)
        key = store.filter_key(user_key("", "steady"), "m", world.period(stored.now_ms))
        self.assertEqual([kind for kind, _ in filters[key]], [store.BASE])
        made = filter_value.operand(items[key], user_key("", "steady"), POLICY)
        made = filter_value.encode(filter_value.unite([made], POLICY, False), key)
        self.assertEqual(filters[key][0][1].hex(), made.hex())

        # The run had each kind of value.
        kinds = {kind for entries in filters.values() for kind, _ in entries}
        self.assertGreaterEqual(kinds, {store.BASE, store.OPERAND})
        values = [filter_value.decode(value, key) for key, value in answered.items()]
        self.assertTrue(any(value.dense for value in values))
        self.assertTrue(any(value.folded and value.narrow and value.wide for value in values))

    def check_seen(self, world, stored):
        """No item that counts is unseen, forgotten ones are, and few that were never played are seen."""
        played, counting = world.played_and_counting()
        for key, items in played.items():
            self.assertEqual(stored.seen(key, items), counting[key], key)
        self.assertNotEqual(played, counting)
        never = [item_hash(f"never-{number}") for number in range(1000)]
        self.assertLessEqual(len(stored.seen(user_key("", "heavy"), never)), 5)

    def test_window(self):
        """formats: what the window stage keeps on its disk is read by a program written from the page"""
        with processes.temp_folder("formats-window") as folder:
            slot_seconds = processes.quiet_slot_seconds()
            world = World(folder, slot_seconds)
            with world.dev:
                world.start()
                world.send(*((f"u{user}", "", "play", names("v", 0, 5), int(time.time() * 1000)) for user in range(30)))
                world.wait_until_ingested()
                log = {(r.partition, r.offset): r for r in dump.records(world.ready["kafka"], "user-events")}
                world.dev.wait_until(
                    lambda: sum(world.metric("bloomring_window_records_total")) >= len(log), 60, "the window to read"
                )
                self.assertEqual(world.dev.term(), 0)
            blocks = 0
            for partition in range(PARTITIONS):
                rows = dump.entries(folder / "data" / "state" / f"window-{partition}")
                state = None
                for key, entries in rows.items():
                    name, *place = store.parse_window_key(key)
                    ((kind, value),) = entries
                    self.assertEqual(kind, store.BASE)
                    if name == "block":
                        record = log[partition, place[1]]
                        self.assertEqual((value, place[0]), (record.value, record.time_ms // (1000 * slot_seconds)))
                        blocks += 1
                    else:
                        state = store.decode_window_state(value, PARTITIONS)
                        self.assertEqual(state.encode(), value)
                if rows:
                    self.assertEqual(name, "state", "the last key is the newest state")
                    self.assertEqual(state.applied, 1 + max(offset for p, offset in log if p == partition))
                    self.assertEqual(sum(hour[3] for hour in state.hours), self.events_of(log, partition))
            self.assertEqual(blocks, len(log))
            self.assertEqual({partition_of(key, PARTITIONS) for key, *_ in world.sent}, {p for p, _ in log})

    def events_of(self, log, partition):
        found = [records.decode_event_block(r.value) for (p, _), r in log.items() if p == partition]
        return sum(len(events) for block in found for _, events in block.users)
