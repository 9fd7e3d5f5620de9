#!/usr/bin/env python3
"""Which of these items has the user seen? And: these were shown. And: tell me everything, I test by myself.

    examples/python/generate                                     # once: the stubs
    examples/python/ask.py --server 127.0.0.1:7700 --user u1 v1 v2 v3

Needs python3-grpcio and python3-protobuf. Prints one line of JSON.
"""

import argparse
import json
import sys

import grpc

from bloomring.v1 import bloomring_pb2 as bloomring
from bloomring.v1.bloomring_pb2_grpc import BloomringServiceStub

# Calls go in turn to all addresses of the server's name. What is UNAVAILABLE is tried again within the call's deadline:
# every call may be carried out twice (see Retries in the .proto file).
SERVICE_CONFIG = {
    "loadBalancingConfig": [{"round_robin": {}}],
    "methodConfig": [
        {
            "name": [{"service": "bloomring.v1.BloomringService"}],
            "retryPolicy": {
                "maxAttempts": 3,
                "initialBackoff": "0.02s",
                "maxBackoff": "0.5s",
                "backoffMultiplier": 2,
                "retryableStatusCodes": ["UNAVAILABLE"],
            },
        }
    ],
}
OPTIONS = [
    ("grpc.service_config", json.dumps(SERVICE_CONFIG)),
    ("grpc.max_receive_message_length", 64 << 20),
    ("grpc.keepalive_time_ms", 30_000),  # the service takes a ping in ten seconds
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),
]
NOT_ASKED = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.RESOURCE_EXHAUSTED}


def packed(items):
    """Ids end to end, with a byte for each length: no object for each of 10,000 candidates."""
    ids = [item.encode() for item in items]
    return bloomring.Ids(packed=bloomring.PackedIds(bytes=b"".join(ids), lengths=bytes(map(len, ids))))


def seen_items(response, items):
    """Bit i % 8 of byte i / 8 is candidate i."""
    return [item for i, item in enumerate(items) if response.seen[i // 8] >> (i % 8) & 1]


def ask(service, user, items, timeout_s):
    """The items that the user has seen, and whether the answer is complete. Fails open where the service could not be asked
    in time: a recommender prefers a doubtful answer to none. A request that is wrong is an error."""
    # Where scenes part filters: scene="feed" asks in one, all_scenes=True in all of them.
    request = bloomring.FilterRequest(user=user, candidates=packed(items))
    try:
        response = service.Filter(request, timeout=timeout_s)
    except grpc.RpcError as error:
        if error.code() not in NOT_ASKED:
            raise
        print(f"not asked: {error.details()}", file=sys.stderr)
        return [], False
    return seen_items(response, items), response.complete


def main():
    parser = argparse.ArgumentParser(description="asks the service about items")
    parser.add_argument("--server", default="127.0.0.1:7700")
    parser.add_argument("--user", required=True)
    parser.add_argument("--timeout-s", type=float, default=1.0, help="how long a query may take")
    parser.add_argument("--record-served", action="store_true", help="report the items that are left as shown")
    parser.add_argument("items", nargs="+")
    options = parser.parse_args()
    channel = grpc.insecure_channel(options.server, options=OPTIONS)
    service = BloomringServiceStub(channel)
    seen, complete = ask(service, options.user, options.items, options.timeout_s)
    left = [item for item in options.items if item not in seen]
    if options.record_served and left:
        served = bloomring.RecordServedRequest(user=options.user, items=packed(left))
        service.RecordServed(served, timeout=5 * options.timeout_s)  # it waits for the log
    wanted = bloomring.GetSnapshotRequest(user=options.user)
    snapshot = service.GetSnapshot(wanted, timeout=options.timeout_s).snapshot
    print(json.dumps({"seen": seen, "left": left, "complete": complete, "snapshot_bytes": len(snapshot)}))


if __name__ == "__main__":
    main()
