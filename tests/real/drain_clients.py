"""Clients of a service that ends under them, and what they saw.

    PYTHONPATH=STUBS /usr/bin/python3 tests/real/drain_clients.py GRPC_ADDRESS ADMIN_ADDRESS

Prints {"asking": true} when every client was answered, and a line when the service is gone: how often each code came,
and when (on the monotonic clock) something came first or last. Each client asks without a pause over a connection of
its own, also when it is refused, until the admin port is gone.
"""

import collections
import json
import sys
import threading
import time
import urllib.error
import urllib.request

import grpc

from bloomring.v1 import bloomring_pb2 as bloomring
from bloomring.v1.bloomring_pb2_grpc import BloomringServiceStub

CLIENTS = 8
CANDIDATES = 5_000
POLL_S = 0.02
INTERVAL = threading.Event()  # Never set.
GONE = threading.Event()  # The service is.
NOT_SERVING = b"\x08\x02"  # grpc.health.v1.HealthCheckResponse


class Seen:
    """When something was seen first and last, and how often; thread safe."""

    def __init__(self):
        self.lock = threading.Lock()
        self.first, self.last, self.count = {}, {}, collections.Counter()

    def note(self, what):
        with self.lock:
            now = time.monotonic()
            self.first.setdefault(what, now)
            self.last[what] = now
            self.count[what] += 1


def own_channel(address):
    return grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])


def ask(address, seen, answered):
    ids = bloomring.Ids(integers=range(10**9, 10**9 + CANDIDATES))
    request = bloomring.FilterRequest(user="u1", candidates=ids)
    with own_channel(address) as channel:
        service = BloomringServiceStub(channel)
        while True:
            try:
                service.Filter(request, timeout=20)
            except grpc.RpcError as error:
                seen.note(error.code().name)
                if GONE.is_set():
                    return
            else:
                seen.note("OK")
                answered.set()


def watch_health(address, seen):
    with own_channel(address) as channel:
        check = channel.unary_unary("/grpc.health.v1.Health/Check")
        while True:
            try:
                seen.note("NOT_SERVING" if check(b"", timeout=20) == NOT_SERVING else "SERVING")
            except grpc.RpcError as error:
                return seen.note("health " + error.code().name)
            INTERVAL.wait(POLL_S)


def watch_admin(address, seen):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while True:
        try:
            with opener.open(f"http://{address}/readyz", timeout=20) as answer:
                seen.note(f"readyz {answer.status}")
        except urllib.error.HTTPError as error:
            seen.note(f"readyz {error.code}")
        except OSError:
            GONE.set()
            return seen.note("admin gone")
        INTERVAL.wait(POLL_S)


def main(address, admin):
    seen = Seen()
    answered = [threading.Event() for _ in range(CLIENTS)]
    threads = [threading.Thread(target=ask, args=(address, seen, one), daemon=True) for one in answered]
    for watch, at in ((watch_health, address), (watch_admin, admin)):
        threads.append(threading.Thread(target=watch, args=(at, seen), daemon=True))
    for thread in threads:
        thread.start()
    for one in answered:
        one.wait()
    print(json.dumps({"asking": True}), flush=True)
    for thread in threads:
        thread.join()
    print(json.dumps({"first": seen.first, "last": seen.last, "count": seen.count}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
