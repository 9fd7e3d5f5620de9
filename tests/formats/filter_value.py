"""Sections "Filter value" and "Union" of docs/formats.md."""

import dataclasses
import functools

from pieces import Reader, open_sum, require, sum32, varint, xxh3

NARROW, WIDE, DENSE, FOLDED, SATURATED = 1, 2, 4, 8, 16
SALTS = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)


@dataclasses.dataclass(frozen=True)
class Set:
    """Ascending fingerprints of `width` bits."""

    width: int
    prints: tuple

    def cut(self, width):
        return Set(width, tuple(sorted({p >> (self.width - width) for p in self.prints})))

    def __len__(self):
        return len(self.prints)

    @functools.cached_property
    def members(self):
        return frozenset(self.prints)


@dataclasses.dataclass(frozen=True)
class Filter:
    narrow: Set | None = None
    wide: Set | None = None
    dense: bool = False
    folded: bool = False
    saturated: bool = False

    def sets(self):
        return [s for s in (self.narrow, self.wide) if s]

    def items(self):
        return sum(len(s) for s in self.sets())

    def error(self):
        return sum(len(s) / 2**s.width for s in self.sets())

    def holds(self, item, key):
        return any(fingerprint(item, multiplier(key), s.width) in s.members for s in self.sets())


@dataclasses.dataclass(frozen=True)
class Policy:
    false_positive_rate: float = 0.01
    periods_read: int = 4
    dense_from_items: int = 4096


def multiplier(key):
    return xxh3(key, 1) | 1


def fingerprint(item, factor, width):
    return (item * factor % 2**64) >> (64 - width)


def _up(number, unit):
    return -(-number // unit)


def _ceil_log2(number):
    return (number - 1).bit_length()


@dataclasses.dataclass(frozen=True)
class Shape:
    """How a set of n fingerprints of w bits is coded."""

    n: int
    w: int

    @property
    def q(self):
        return min(self.w, _ceil_log2(self.n))

    @property
    def r(self):
        return self.w - self.q

    @property
    def lows_bytes(self):
        return _up(self.n * self.r, 8)

    @property
    def uppers_bytes(self):
        return _up(self.n + 2**self.q, 8)

    @property
    def entries(self):
        return (2**self.q - 1) // 64


def _blocks(shapes):
    n = sum(s.n for s in shapes)
    frame = 8 * (20 + sum(s.lows_bytes + s.uppers_bytes + 4 * s.entries for s in shapes))
    return min(max(max(24 * n - frame, 0) // 256, _up(6 * n, 256)), _up(10 * n, 256))


def _index(sets, blocks):
    out = [0] * (blocks * 8)
    k = min(32, sets[0].width)
    for s in sets:
        for print_ in s.prints:
            key = print_ >> (s.width - k)
            word = (key * blocks >> k) * 8
            for j, salt in enumerate(SALTS):
                out[word + j] |= 1 << ((key * salt & 0xFFFFFFFF) >> 27)
    return b"".join(word.to_bytes(4, "little") for word in out)


def _directory(s, shape):
    out, before = b"", 0
    for j in range(1, shape.entries + 1):
        while before < shape.n and s.prints[before] >> shape.r < 64 * j:
            before += 1
        out += before.to_bytes(4, "little")
    return out


def _encode_set(s, shape):
    lows, r = [], shape.r
    for i in range(0, shape.n, 8):  # eight of r bits are r whole bytes
        eight = sum((print_ & ((1 << r) - 1)) << j * r for j, print_ in enumerate(s.prints[i : i + 8]))
        lows.append(eight.to_bytes(r, "little"))
    uppers = bytearray(shape.uppers_bytes)
    for i, print_ in enumerate(s.prints):
        bit = (print_ >> r) + i
        uppers[bit // 8] |= 1 << bit % 8
    return b"".join(lows)[: shape.lows_bytes] + bytes(uppers)


def _take_set(reader, shape):
    lows, uppers = reader.raw(shape.lows_bytes), reader.raw(shape.uppers_bytes)
    for part, bits in ((lows, shape.n * shape.r), (uppers, shape.n + 2**shape.q)):
        require(int.from_bytes(part, "little") < 1 << bits, "padding of a set is not zero")
    return lows, uppers


def _decode_set(shape, lows, uppers):
    n, r = shape.n, shape.r
    ones = [8 * at + bit for at, byte in enumerate(uppers) for bit in range(8) if byte >> bit & 1]
    require(len(ones) == n, "the uppers do not hold n items")
    prints = []
    for i in range(0, n, 8):
        eight = int.from_bytes(lows[i // 8 * r : (i // 8 + 1) * r], "little")
        for j in range(min(8, n - i)):
            prints.append(ones[i + j] - (i + j) << r | eight & ((1 << r) - 1))
            eight >>= r
    require(all(a < b for a, b in zip(prints, prints[1:], strict=False)), "fingerprints do not ascend")
    require(prints[-1] < 2**shape.w, "a fingerprint is too wide")
    return Set(shape.w, tuple(prints))


def decode(value, store_key, quick=False):
    """`quick`: verified only as far as a question does; nothing of a dense value then, if it is not refused."""
    body = open_sum(value, 4, xxh3(store_key))
    reader = Reader(body)
    require(reader.u8() == 0xB1, "not a filter")
    flags = reader.u8()
    require(flags < 32 and flags & (NARROW | WIDE), "unknown flags")
    shapes = []
    for flag in (NARROW, WIDE):
        if flags & flag:
            width = reader.u8()
            require(1 <= width <= 56, "a width out of range")
            n = reader.varint(2**32)
            require(1 <= n <= 2**width, "a count out of range")
            shapes.append(Shape(n, width))
    if len(shapes) == 2:
        require(shapes[0].w < shapes[1].w, "the narrow set is not narrower")
    index, directories = b"", []
    if flags & DENSE:
        require(not any(reader.raw(16 - reader.at)), "padding of the head is not zero")
        index = reader.raw(32 * _blocks(shapes))
        directories = [reader.raw(4 * shape.entries) for shape in shapes]
    coded = [_take_set(reader, shape) for shape in shapes]
    reader.end()
    if quick and flags & DENSE:
        return None
    sets = [_decode_set(shape, *parts) for shape, parts in zip(shapes, coded, strict=True)]
    if len(sets) == 2 and not quick:
        prefixes = set(sets[0].prints)
        cut = sets[1].width - sets[0].width
        require(not any(print_ >> cut in prefixes for print_ in sets[1].prints), "the sets overlap")
    if flags & DENSE:
        require(index == _index(sets, len(index) // 32), "not the index of these sets")
        found = [_directory(s, shape) for s, shape in zip(sets, shapes, strict=True)]
        require(found == directories, "not the directory of these sets")
    return Filter(
        sets[0] if flags & NARROW else None,
        sets[-1] if flags & WIDE else None,
        bool(flags & DENSE),
        bool(flags & FOLDED),
        bool(flags & SATURATED),
    )


def encode(filter_, store_key):
    sets = filter_.sets()
    shapes = [Shape(len(s), s.width) for s in sets]
    flags = (
        NARROW * bool(filter_.narrow)
        + WIDE * bool(filter_.wide)
        + DENSE * filter_.dense
        + FOLDED * filter_.folded
        + SATURATED * filter_.saturated
    )
    out = bytes([0xB1, flags]) + b"".join(bytes([shape.w]) + varint(shape.n) for shape in shapes)
    if filter_.dense:
        out = out.ljust(16, b"\0") + _index(sets, _blocks(shapes))
        out += b"".join(_directory(s, shape) for s, shape in zip(sets, shapes, strict=True))
    out += b"".join(_encode_set(s, shape) for s, shape in zip(sets, shapes, strict=True))
    return out + sum32(out, xxh3(store_key))


# The union.


def _bits(scale, limit, most):
    """The smallest b up to `most` with scale / 2^b <= limit."""
    return next((b for b in range(most) if scale / 2**b <= limit), most)


class Ladder:
    """The widths that follow from a policy."""

    def __init__(self, policy):
        self.share = policy.false_positive_rate / policy.periods_read
        self.gap = _bits(1, 0.8 * self.share, 32)
        self.narrow = self.gap + 17
        self.wide = _bits(2**21, self.share - 2.0**-self.gap, 56)

    def holds(self, width):
        return 0 if width < self.gap else 2 ** (width - self.gap)

    def folded(self, items):
        return max(1, min(self.wide, _ceil_log2(items) + self.gap))


def operand(items, key, policy):
    """The operand of these item hashes for the user with this key."""
    width, factor = Ladder(policy).wide, multiplier(key)
    return Filter(wide=Set(width, tuple(sorted({fingerprint(item, factor, width) for item in items}))))


def _unite_sets(sets):
    """At the smallest width among them; nothing of nothing."""
    if not sets:
        return None
    width = min(s.width for s in sets)
    return Set(width, tuple(sorted(set().union(*(s.cut(width).prints for s in sets)))))


def gather(filters):
    """Step 1: the union of values, nothing cut that need not be. This is how operands are united with each other."""
    narrow_width = min((f.narrow.width for f in filters if f.narrow), default=None)
    sets = [s for f in filters for s in f.sets()]
    stays = [f.narrow for f in filters if f.narrow and f.narrow.width == narrow_width]
    narrow = _unite_sets(stays)
    wide = _unite_sets([s for s in sets if not any(s is kept for kept in stays)])
    if narrow and wide:
        if wide.width <= narrow.width:
            narrow, wide = _unite_sets([narrow, wide]), None
        else:
            prefixes, cut = set(narrow.prints), wide.width - narrow.width
            rest = tuple(print_ for print_ in wide.prints if print_ >> cut not in prefixes)
            wide = Set(wide.width, rest) if rest else None
    return Filter(narrow, wide, folded=any(f.folded for f in filters))


def unite(filters, policy, closed):
    """Steps 1 to 4: what is stored, and what a question reads."""
    ladder, united = Ladder(policy), gather(filters)
    narrow, wide, folded = united.narrow, united.wide, united.folded
    width = narrow.width if narrow else ladder.narrow
    new = len(wide.cut(min(width, wide.width))) if wide else 0
    items = (len(narrow) if narrow else 0) + new
    fits = items <= ladder.holds(width)
    keep_wide = not fits and new > 0
    rests = closed and (8 * new <= items if narrow else not fits)
    if rests and (not narrow or ladder.folded(items) < narrow.width):
        folded, keep_wide, width = True, False, ladder.folded(items)
    if not keep_wide:
        width = min(width, wide.width) if wide else width
        narrow, wide = _unite_sets([s.cut(width) for s in (narrow, wide) if s]), None
    result = Filter(narrow, wide, folded=folded)
    return dataclasses.replace(
        result,
        dense=result.items() >= policy.dense_from_items,
        saturated=result.items() > 2**21 or result.error() > ladder.share,
    )
