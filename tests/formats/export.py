"""Sections "Export file" and "Export manifest" of docs/formats.md: an exported filter store."""

import dataclasses

import store
from pieces import Reader, length_and, open_sum, require, u32, u64, varint, xxh3

FILE_SEED = xxh3(b"export file")
MANIFEST_SEED = xxh3(b"export manifest")
FORGOTTEN, FILTERS = ord("g"), ord("f")


def sealed(out, seed):
    return out + u64(xxh3(out, seed))


@dataclasses.dataclass
class File:
    kind: int
    export: int
    number: int
    values: list  # (key, value)

    def encode(self):
        out = bytes([1, self.kind]) + u64(self.export) + u32(self.number)
        return sealed(out + b"".join(length_and(key) + length_and(value) for key, value in self.values), FILE_SEED)


def decode_file(data):
    body = open_sum(data, 8, FILE_SEED)
    reader = Reader(body)
    require(reader.u8() == 1, "another version")
    file = File(reader.u8(), reader.u64(), reader.u32(), [])
    require(file.kind in (FORGOTTEN, FILTERS), "another kind")
    while reader.at < len(body):
        key, value = reader.bytes(), reader.bytes()
        require(key[:1] == bytes([file.kind]) and value, "a key of another kind, or no value")
        file.values.append((key, value))
    return file


@dataclasses.dataclass
class Manifest:
    progress: int
    export: int
    source: int
    begun: int
    slot: int
    description: store.Description
    watermarks: list  # (partition, Watermark)
    files: list  # (kind, size, sum, values, damaged)

    def encode(self):
        out = bytes([1, self.progress]) + u64(self.export) + u64(self.source) + u64(self.begun) + u64(self.slot)
        out += length_and(store.encode_description(self.description)) + varint(len(self.watermarks))
        for partition, watermark in self.watermarks:
            out += varint(partition) + length_and(watermark.encode(store.watermark_key(partition)))
        out += varint(len(self.files))
        for kind, size, file_sum, values, damaged in self.files:
            out += bytes([kind]) + varint(size) + u64(file_sum) + varint(values) + varint(damaged)
        return sealed(out, MANIFEST_SEED)


def decode_manifest(data):
    reader = Reader(open_sum(data, 8, MANIFEST_SEED))
    require(reader.u8() == 1, "another version")
    fields = [reader.u8(), reader.u64(), reader.u64(), reader.u64(), reader.u64()]
    require(fields[0] <= 2 and fields[1], "an impossible progress or number")
    found = Manifest(*fields, store.decode_description(reader.bytes()), [], [])
    for _ in range(reader.varint()):
        partition = reader.varint()
        require(not found.watermarks or found.watermarks[-1][0] < partition, "watermarks do not ascend")
        key = store.watermark_key(partition)
        found.watermarks.append((partition, store.decode_watermark(reader.bytes(), key, found.description.partitions)))
    for _ in range(reader.varint()):
        found.files.append((reader.u8(), reader.varint(), reader.u64(), reader.varint(), reader.varint()))
    reader.end()
    return found
