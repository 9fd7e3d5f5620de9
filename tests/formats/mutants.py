"""Values that are nearly right: a byte changed, put in or left out, a number in a longer form. The sum is right again, so
that it is the reader's other rules that decide."""

import random


def mutated(body, rng):
    at = rng.randrange(len(body))
    kind = rng.randrange(5)
    if kind == 0:
        return body[:at] + bytes([rng.randrange(256)]) + body[at:]
    if kind == 1:
        return body[:at] + body[at + 1 :]
    if kind == 2 and body[at] < 128:
        return body[:at] + bytes([body[at] | 128, 0]) + body[at + 1 :]
    changed = body[at] ^ 1 << rng.randrange(8) if kind == 3 else (body[at] + rng.choice((1, -1))) % 256
    return body[:at] + bytes([changed]) + body[at + 1 :]


def mutants(value, sum_bytes, seal, count, seed):
    """So many, each once or twice mutated; `seal` gives the sum of a body."""
    rng = random.Random(seed)
    for _ in range(count):
        body = value[:-sum_bytes]
        for _ in range(rng.choice((1, 1, 1, 2))):
            body = mutated(body, rng)
        yield body + seal(body)
