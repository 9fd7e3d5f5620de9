#!/usr/bin/env python3
"""Which of these items has the user seen? And: these were shown. And: tell me everything, I test by myself.

    examples/python/generate                                     # once: the stubs
    examples/python/ask.py --server 127.0.0.1:7700 --user u1 v1 v2 v3

Needs python3-grpcio and python3-protobuf. Prints one line of JSON.
"""

import argparse
import json

import grpc

import bloomring_pb2 as bloomring
from bloomring_pb2_grpc import BloomringServiceStub

TIMEOUT_S = 1.0


def packed(items):
    """Ids end to end, with a byte for each length: no object for each of 10,000 candidates."""
    ids = [item.encode() for item in items]
    return bloomring.Ids(packed=bloomring.PackedIds(bytes=b"".join(ids), lengths=bytes(map(len, ids))))


def seen_items(response, items):
    """Bit i % 8 of byte i / 8 is candidate i."""
    return [item for i, item in enumerate(items) if response.seen[i // 8] >> (i % 8) & 1]


def ask(service, user, items):
    """The items that the user has seen, and whether the answer is complete. Fails open: a recommender prefers a doubtful
    answer to none."""
    request = bloomring.FilterRequest(user=user, candidates=packed(items))
    try:
        response = service.Filter(request, timeout=TIMEOUT_S)
    except grpc.RpcError as error:
        if error.code() == grpc.StatusCode.INVALID_ARGUMENT:
            raise  # The request is wrong, not the service.
        return [], False
    return seen_items(response, items), response.complete


def main():
    parser = argparse.ArgumentParser(description="asks the service about items")
    parser.add_argument("--server", default="127.0.0.1:7700")
    parser.add_argument("--user", required=True)
    parser.add_argument("--record-served", action="store_true", help="report the items that are left as shown")
    parser.add_argument("items", nargs="+")
    options = parser.parse_args()
    # Spreads calls over all addresses of the server's name.
    channel = grpc.insecure_channel(options.server, options=[("grpc.lb_policy_name", "round_robin")])
    service = BloomringServiceStub(channel)
    seen, complete = ask(service, options.user, options.items)
    left = [item for item in options.items if item not in seen]
    if options.record_served and left:
        service.RecordServed(bloomring.RecordServedRequest(user=options.user, items=packed(left)), timeout=TIMEOUT_S)
    snapshot = service.GetSnapshot(bloomring.GetSnapshotRequest(user=options.user), timeout=TIMEOUT_S).snapshot
    print(json.dumps({"seen": seen, "left": left, "complete": complete, "snapshot_bytes": len(snapshot)}))


if __name__ == "__main__":
    main()
