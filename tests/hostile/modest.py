"""A client that asks one small question after the other while others flood the service, and what became of each.

    /usr/bin/python3 tests/hostile/modest.py GRPC_ADDRESS ADMIN_ADDRESS QUESTIONS

Prints a JSON list with an object for each question: "end", OK or gRPC's code and text; "waiting", the calls that waited
for room when it was asked; "batches", the batches of others that were answered between the question and its answer. The
numbers come from /metrics, before and after.
"""

import json
import re
import sys
import urllib.request

import grpc

BOUND_S = 60
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
ANSWERED = r'^bloomring_query_seconds_count\{(?=.*code="OK")(?=.*method="FilterBatch").*\} (\S+)'
BATCHES = re.compile(ANSWERED, re.MULTILINE)
WAITING = re.compile(r"^bloomring_calls_waiting (\S+)", re.MULTILINE)


def text_field(number, text):
    return bytes((number << 3 | 2, len(text))) + text.encode()


def metrics(admin):
    """(calls that wait, batches that were answered)"""
    with OPENER.open(f"http://{admin}/metrics", timeout=BOUND_S) as answer:
        text = answer.read().decode()
    return [sum(float(number) for number in series.findall(text)) for series in (WAITING, BATCHES)]


def ask(call, number):
    try:
        call(text_field(1, f"modest-{number}") + bytes((3 << 3 | 2, 4)) + text_field(1, "v1"), timeout=BOUND_S)
    except grpc.RpcError as error:
        return f"{error.code().name}: {error.details()}"
    return "OK"


def main(address, admin, questions):
    asked = []
    with grpc.insecure_channel(address) as channel:
        call = channel.unary_unary("/bloomring.v1.BloomringService/Filter")
        for number in range(int(questions)):
            waiting, before = metrics(admin)
            end = ask(call, number)
            asked.append({"end": end, "waiting": waiting, "batches": metrics(admin)[1] - before})
    print(json.dumps(asked))


main(*sys.argv[1:])
