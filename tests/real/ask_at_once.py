"""Sends calls of the query service at once, with bytes that no client of ours would send.

    /usr/bin/python3 tests/real/ask_at_once.py ADDRESS KIND CALLS

Prints how the calls ended, as a JSON object from gRPC's code to their number. KINDS has the kinds.
"""

import collections
import concurrent.futures
import json
import sys

import grpc

BYTES = 4 << 20  # of a message: less than the limit of requests
BATCH, QUERY = "FilterBatch", "Filter"


def varint(value):
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def empty_requests():
    return field(1, b"") * (BYTES // 2)


def empty_ids():
    ids = field(1, b"") * (BYTES // 2 - 8)
    return field(1, b"u1") + field(3, ids)


def groups():
    return (varint(15 << 3 | 3) + varint(15 << 3 | 4)) * (BYTES // 2)


def many_verdicts():
    """200 users with 1,000 ids each, all of them seen and explained: as much as a batch may ask."""
    ids = b"".join(field(1, b"%018d" % i) for i in range(1000))
    return b"".join(
        field(1, field(1, b"u%d" % user) + field(3, ids) + field(5, ids) + b"\x40\x02") for user in range(100)
    )


KINDS = {
    "empty requests": (BATCH, empty_requests, grpc.Compression.NoCompression),
    "empty ids": (QUERY, empty_ids, grpc.Compression.NoCompression),
    "groups": (QUERY, groups, grpc.Compression.NoCompression),
    "many verdicts": (BATCH, many_verdicts, grpc.Compression.NoCompression),
    "gzip": (BATCH, lambda: empty_requests() * 16, grpc.Compression.Gzip),
    "deflate": (BATCH, lambda: empty_requests() * 16, grpc.Compression.Deflate),
}


def ask(address, method, message, compression):
    options = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]
    options.append(("grpc.use_local_subchannel_pool", 1))
    with grpc.insecure_channel(address, options=options) as channel:
        call = channel.unary_unary(f"/bloomring.v1.BloomringService/{method}")
        try:
            call(message, timeout=60, compression=compression)
        except grpc.RpcError as error:
            return error.code().name
    return "OK"


def main(address, kind, calls):
    method, make, compression = KINDS[kind]
    message = make()
    with concurrent.futures.ThreadPoolExecutor(int(calls)) as pool:
        ends = [pool.submit(ask, address, method, message, compression) for _ in range(int(calls))]
        print(json.dumps(collections.Counter(end.result() for end in ends)))


main(*sys.argv[1:])
