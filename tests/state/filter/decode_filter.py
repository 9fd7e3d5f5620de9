#!/usr/bin/env python3
"""A second decoder of filter values, written from docs/formats.md alone, checked against the golden bytes.

Standard library only, so the checksum (XXH3) is cut off and not verified here; everything else is.
usage: decode_filter.py golden.tsv
"""

import sys

SALTS = [0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31]


def bits(data, at, count):
    return (int.from_bytes(data, "little") >> at) & ((1 << count) - 1)


def up(number, unit):
    return -(-number // unit)


def decode(value):
    body, at = value[:-4], 2
    assert body[0] == 0xB1 and body[1] < 32 and body[1] & 3
    sets = []
    for flag in (1, 2):
        if not body[1] & flag:
            continue
        width, n, shift, at = body[at], 0, 0, at + 1
        while True:
            n, shift, at = n | (body[at] & 127) << shift, shift + 7, at + 1
            if body[at - 1] < 128:
                break
        q = min(width, (n - 1).bit_length())
        sets.append({"flag": flag, "w": width, "n": n, "q": q, "r": width - q})
    items = sum(s["n"] for s in sets)
    key_bits, index = min(32, sets[0]["w"]), None
    if body[1] & 4:
        assert not any(body[at:16])
        spent = 8 * 20
        for s in sets:
            s["entries"] = (2 ** s["q"] - 1) // 64
            spent += 8 * (up(s["n"] * s["r"], 8) + up(s["n"] + 2 ** s["q"], 8) + 4 * s["entries"])
        blocks = min(max(max(24 * items - spent, 0) // 256, up(6 * items, 256)), up(10 * items, 256))
        index, at = body[16 : 16 + 32 * blocks], 16 + 32 * blocks
        for s in sets:
            s["directory"], at = body[at : at + 4 * s["entries"]], at + 4 * s["entries"]
    built = bytearray(len(index or b""))
    for s in sets:
        n, q, r = s["n"], s["q"], s["r"]
        lows, at = body[at : at + up(n * r, 8)], at + up(n * r, 8)
        uppers, at = body[at : at + up(n + 2**q, 8)], at + up(n + 2**q, 8)
        ones = [b for b in range(len(uppers) * 8) if bits(uppers, b, 1)]
        assert len(ones) == n
        s["set"] = [(b - i) << r | bits(lows, i * r, r) for i, b in enumerate(ones)]
        assert s["set"] == sorted(set(s["set"])) and s["set"][-1] < 1 << s["w"]
        if index is not None:
            expected = [sum(f >> r < 64 * k for f in s["set"]) for k in range(1, s["entries"] + 1)]
            assert expected == [bits(s["directory"], 32 * k, 32) for k in range(s["entries"])]
            for key in (f >> (s["w"] - key_bits) for f in s["set"]):
                block = key * (len(index) // 32) >> key_bits
                for word, salt in enumerate(SALTS):
                    bit = 32 * word + (key * salt % 2**32 >> 27)
                    built[32 * block + bit // 8] |= 1 << bit % 8
    assert at == len(body) and bytes(built) == (index or b"")
    if len(sets) == 2:
        narrow = set(sets[0]["set"])
        assert sets[0]["w"] < sets[1]["w"]
        assert not any(f >> (sets[1]["w"] - sets[0]["w"]) in narrow for f in sets[1]["set"])
    return {s["flag"]: (s["w"], s["set"]) for s in sets}


def main():
    for line in open(sys.argv[1], encoding="utf-8"):
        name, _, value, narrow, wide = line.rstrip("\n").split("\t")
        expected = {}
        for flag, text in ((1, narrow), (2, wide)):
            if text:
                width, numbers = text.split(":")
                expected[flag] = (int(width), [int(number) for number in numbers.rstrip(",").split(",")])
        assert decode(bytes.fromhex(value)) == expected, name
        print("ok", name)


main()
