"""Section "Pieces" of docs/formats.md: integers, byte strings, hashes and user keys.

The modules of this folder were written from that page alone. They share no code with the program, so what they read is
what the page says.
"""

import ctypes

SHARDS = 5000
TIME_FIRST_MS = 946_684_800_000  # 2000-01-01 UTC
TIME_END_MS = 4_102_444_800_000  # 2100-01-01 UTC
QUARTER_MS = 900_000
OFFSET_END = 2**63

_xxhash = ctypes.CDLL("libxxhash.so.0")
_xxhash.XXH3_64bits_withSeed.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64)
_xxhash.XXH3_64bits_withSeed.restype = ctypes.c_uint64


class Refused(Exception):
    """These bytes are not exactly a value of the format."""


def require(condition, why):
    if not condition:
        raise Refused(why)


def xxh3(data, seed=0):
    return _xxhash.XXH3_64bits_withSeed(data, len(data), seed)


def siphash(data, key):
    """SipHash-2-4 with 64 bits, of a key of 16 bytes."""
    low, high = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    a, b, c, d = low ^ 0x736F6D6570736575, high ^ 0x646F72616E646F6D, low ^ 0x6C7967656E657261, high ^ 0x7465646279746573

    def left(word, bits):
        return (word << bits | word >> 64 - bits) & 0xFFFFFFFFFFFFFFFF

    def rounds(count):
        nonlocal a, b, c, d
        for _ in range(count):
            a, c = a + b & 0xFFFFFFFFFFFFFFFF, c + d & 0xFFFFFFFFFFFFFFFF
            b, d, a = left(b, 13) ^ a, left(d, 16) ^ c, left(a, 32)
            c, a = c + b & 0xFFFFFFFFFFFFFFFF, a + d & 0xFFFFFFFFFFFFFFFF
            b, d, c = left(b, 17) ^ c, left(d, 21) ^ a, left(c, 32)

    whole = len(data) // 8 * 8
    padded = data + bytes(7 - (len(data) - whole)) + bytes([len(data) & 255])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        d ^= word
        rounds(2)
        a ^= word
    c ^= 255
    rounds(4)
    return a ^ b ^ c ^ d


def item_hash(item):
    return xxh3(item.encode() if isinstance(item, str) else item)


def user_key(scene, user):
    scene, user = scene.encode(), user.encode()
    return bytes([len(scene)]) + scene + user


def check_user_key(key):
    require(len(key) >= 1 and key[0] <= 128 and 1 <= len(key) - 1 - key[0] <= 128, "not a user key")
    return key


def shard_of(key):
    return xxh3(key) % SHARDS


def partition_of(key, partitions):
    return shard_of(key) // (SHARDS // partitions)


def varint(number):
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def u32(number):
    return number.to_bytes(4, "little")


def u64(number):
    return number.to_bytes(8, "little")


def length_and(data):
    return varint(len(data)) + data


def sum32(data, seed):
    return u32(xxh3(data, seed) & 0xFFFFFFFF)


def open_sum(data, size, seed):
    """The bytes before the sum, which is the low `size` bytes of a hash."""
    require(len(data) >= size, "shorter than its sum")
    body, stored = data[:-size], data[-size:]
    require(xxh3(body, seed).to_bytes(8, "little")[:size] == stored, "the sum differs")
    return body


class Reader:
    """Takes pieces from the front; `end` refuses what is left."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def raw(self, size):
        require(size <= len(self.data) - self.at, "bytes are missing")
        self.at += size
        return self.data[self.at - size : self.at]

    def u8(self):
        return self.raw(1)[0]

    def u32(self):
        return int.from_bytes(self.raw(4), "little")

    def u64(self):
        return int.from_bytes(self.raw(8), "little")

    def u16be(self):
        return int.from_bytes(self.raw(2), "big")

    def u64be(self):
        return int.from_bytes(self.raw(8), "big")

    def varint(self, end=2**64):
        number = shift = 0
        while True:
            byte = self.u8()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        require(number < end and (byte != 0 or shift == 7), "a number out of range or not in its shortest form")
        return number

    def bytes(self):
        return self.raw(self.varint())

    def user_key(self):
        return check_user_key(self.bytes())

    def end(self):
        require(self.at == len(self.data), "bytes are left")
