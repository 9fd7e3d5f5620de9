"""A program written from docs/formats.md alone refuses what bloomring refuses, and nothing else."""

import time

import law
import plays
import processes
from formats_world import PARTITIONS, POLICY, World  # first: it says where the following ones are

import dump
import filter_value
import records
import store
from mutants import mutants
from pieces import Refused, partition_of, sum32, user_key, xxh3


class FormatRefusals(law.LawCase):
    def test_refused(self):
        """formats: the program refuses what the page says that a reader refuses, and nothing else"""
        with processes.temp_folder("formats-refused") as folder:
            world = World(folder, slot_seconds=processes.quiet_slot_seconds())
            with world.dev:
                world.start()
                self.check_refused_records(world)
                self.check_refused_snapshots(world)

    def refuses(self, decode, *arguments):
        try:
            decode(*arguments)
        except Refused:
            return True
        return False

    def check_refused_records(self, world):
        """Records of both topics that are nearly right."""
        now_ms = int(time.time() * 1000)
        key = user_key("feed", "u1")
        place = partition_of(key, PARTITIONS), PARTITIONS
        others = (user_key("feed", f"u{user}") for user in range(2, 10))
        other = next(other for other in others if partition_of(other, PARTITIONS) != place[0])
        block = records.EventBlock(*place, now_ms, [(key, [(1, 5, now_ms), (3, 5, now_ms + 9)]), (key, [(4, 0, now_ms)])])
        # The range lies far ahead in the log, so that no slot end is waited for.
        head = records.Head(1, *place, 2**40, 2**40 + 300, 7)
        quarter = now_ms // 900_000
        forgets = [(1, 5, now_ms, 2**40), (2, 5, now_ms, 2**40), (3, None, now_ms, 2**40 + 7)]
        of_user = records.BatchUser(key, forgets, [(quarter - 1, [(4, 1), (6, 899_999)]), (quarter, [(5, 0)])])
        batches = records.UserBatches(head, [of_user, records.BatchUser(key, forgets[:1], [])])
        for topic, value, kind, decode in (
            ("user-events", block.encode(), 0xE1, records.decode_event_block),
            ("user-batches", batches.encode(), 0xB1, records.decode_batch_record),
        ):

            def seal(body, kind=kind):
                return sum32(body, kind)

            elsewhere = value[:-4].replace(key, other)
            values = [value, elsewhere + seal(elsewhere), *mutants(value, 4, seal, 400, 1)]
            first = processes.end_offsets(world.ready["kafka"], topic, PARTITIONS)[place[0]]
            self.produce(world, topic, place[0], values)
            expected = {
                (place[0], first + at) for at, one in enumerate(values) if self.refuses(decode, one, place)
            }
            self.assertGreater(len(expected), 100)
            self.assertLess(len(expected), len(values) - 50)
            found = set()

            def judged():
                found.clear()
                found.update(dump.refused(world.ready["kafka"], "plays-dead", topic))
                return found >= expected

            world.dev.wait_until(judged, 60, f"{len(expected)} dead letters of {topic}")
            self.assertEqual({values[offset - first].hex() for _, offset in found - expected}, set())

    def produce(self, world, topic, partition, values):
        folder = world.folder / topic
        folder.mkdir()
        paths = [folder / str(at) for at in range(len(values))]
        for path, value in zip(paths, values, strict=True):
            path.write_bytes(value)
        processes.run(["kcat", "-P", "-b", world.ready["kafka"], "-t", topic, "-p", partition, *paths])

    def check_refused_snapshots(self, world):
        """Snapshots, and filter values in them, that are nearly right."""
        key = user_key("feed", "u1")
        store_key = store.filter_key(key, "m", 682)
        operands = [filter_value.operand(range(1, n), key, POLICY) for n in (4, 90)]
        folded = filter_value.unite(operands[:1], POLICY, False)
        folded = filter_value.unite([filter_value.unite([folded], POLICY, True), operands[1]], POLICY, True)
        snapshots = []
        for at, one in enumerate([operands[0], folded, filter_value.unite(operands, POLICY, False)]):
            value = filter_value.encode(one, store_key)
            filters = mutants(value, 4, lambda body: sum32(body, xxh3(store_key)), 20, at)
            snapshots += [self.snapshot_of(key, store_key, changed).encode() for changed in [value, *filters]]
        snapshots += mutants(snapshots[0], 4, lambda body: sum32(body, 0xE5), 40, 9)
        no_utf8 = self.snapshot_of(b"\4fee\xe4u1", store_key, filter_value.encode(operands[0], store_key))
        no_utf8.periods[1] = b"\xff"
        snapshots.append(no_utf8.encode())

        def decode(snapshot):
            for _, of_key, value in records.decode_snapshot(snapshot).filters:
                filter_value.decode(value, of_key, quick=True)

        path, verdicts = world.folder / "snapshot", []
        for snapshot in snapshots:
            path.write_bytes(snapshot)
            code, _, _ = processes.run([plays.binary(), "snapshot", "--from", path, "--test", "v1"], check=False)
            verdicts.append((self.refuses(decode, snapshot), code != 0))
        differ = [snapshot.hex() for snapshot, (ours, theirs) in zip(snapshots, verdicts, strict=True) if ours != theirs]
        self.assertEqual(differ, [])
        self.assertGreater(sum(ours for ours, _ in verdicts), 30)
        self.assertGreater(sum(not ours for ours, _ in verdicts), 15)

    def snapshot_of(self, key, store_key, value):
        filters = [(1, store_key, value)]
        return records.Snapshot(True, key, 5, [b"2026-12", b"2026-11"], filters, [(7, 0)], [8], [(1, 1), (9, 0)])
