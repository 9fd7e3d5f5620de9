"""Asks the service without any file of ours: services and messages come from server reflection, as grpcurl does it.

    /usr/bin/python3 tests/real/ask_by_reflection.py ADDRESS USER ITEM...

Prints one line of JSON: the services, and the items that the user has seen. Debian has no package of the reflection
service's own messages for Python, so the few fields that are needed are declared here (grpc.reflection.v1alpha).
"""

import json
import sys

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

REFLECTION = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
SERVICE = "bloomring.v1.BloomringService"
STRING, BYTES, MESSAGE = 9, 12, 11
OPTIONAL, REPEATED = 1, 3


def declare(messages):
    """Message classes from {name: [(field, number, type, label, type name)]}."""
    file = descriptor_pb2.FileDescriptorProto(name="reflection.proto", package="r", syntax="proto3")
    for name, fields in messages.items():
        message = file.message_type.add(name=name)
        for field, number, kind, label, type_name in fields:
            message.field.add(name=field, number=number, type=kind, label=label, type_name=type_name or None)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return [
        message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName(f"r.{name}")) for name in messages
    ]


def main(address, user, *items):
    request_class, response_class, *_ = declare(
        {
            "Request": [
                ("file_containing_symbol", 4, STRING, OPTIONAL, ""),
                ("list_services", 7, STRING, OPTIONAL, ""),
            ],
            "Response": [
                ("files", 4, MESSAGE, OPTIONAL, ".r.Files"),
                ("services", 6, MESSAGE, OPTIONAL, ".r.Services"),
            ],
            "Files": [("descriptors", 1, BYTES, REPEATED, "")],
            "Services": [("service", 1, MESSAGE, REPEATED, ".r.Service")],
            "Service": [("name", 1, STRING, OPTIONAL, "")],
        }
    )
    with grpc.insecure_channel(address) as channel:
        reflect = channel.stream_stream(REFLECTION, request_class.SerializeToString, response_class.FromString)
        requests = [request_class(list_services="*"), request_class(file_containing_symbol=SERVICE)]
        listed, found = reflect(iter(requests), timeout=10)
        pool = descriptor_pool.DescriptorPool()
        for descriptor in found.files.descriptors:
            pool.AddSerializedFile(descriptor)
        classes = message_factory.MessageFactory(pool)
        method = pool.FindServiceByName(SERVICE).FindMethodByName("Filter")
        question_class, answer_class = classes.GetPrototype(method.input_type), classes.GetPrototype(method.output_type)
        question = question_class(user=user)
        question.candidates.text.extend(items)
        ask = channel.unary_unary(f"/{SERVICE}/Filter", question_class.SerializeToString, answer_class.FromString)
        answer = ask(question, timeout=10)
    seen = [item for i, item in enumerate(items) if answer.seen[i // 8] >> (i % 8) & 1]
    print(json.dumps({"services": [service.name for service in listed.services.service], "seen": seen}))


if __name__ == "__main__":
    main(*sys.argv[1:])
