"""Asks the service without any file of ours: services and messages come from server reflection, as grpcurl does it.

    /usr/bin/python3 tests/real/ask_by_reflection.py ADDRESS USER ITEM...

Prints one line of JSON: the services that the server lists and those of them that it describes, what the health service
says of the service, and the items that the user has seen. Debian has no package of the reflection
service's own messages for Python, so the few fields that are needed are declared here (grpc.reflection.v1alpha).
"""

import json
import sys

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

REFLECTION = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
SERVICE = "bloomring.v1.BloomringService"
HEALTH = "grpc.health.v1.Health"
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
    pool = descriptor_pool.DescriptorPool()
    classes = message_factory.MessageFactory(pool)
    with grpc.insecure_channel(address) as channel:

        def reflect(**request):
            stream = channel.stream_stream(REFLECTION, request_class.SerializeToString, response_class.FromString)
            return next(stream(iter([request_class(**request)]), timeout=10))

        def describe(service):
            files = reflect(file_containing_symbol=service).files.descriptors
            for descriptor in files:
                pool.AddSerializedFile(descriptor)
            return len(files) > 0

        def call(service, name):
            """A method as its description has it: the class of its question, and the call."""
            method = pool.FindServiceByName(service).FindMethodByName(name)
            question, answer = classes.GetPrototype(method.input_type), classes.GetPrototype(method.output_type)
            return question, channel.unary_unary(
                f"/{service}/{name}", question.SerializeToString, answer.FromString
            )

        services = [service.name for service in reflect(list_services="*").services.service]
        described = [service for service in services if describe(service)]
        question_class, ask = call(SERVICE, "Filter")
        question = question_class(user=user)
        question.candidates.text.extend(items)
        answer = ask(question, timeout=10)
        health = None
        if HEALTH in described:
            health_class, check = call(HEALTH, "Check")
            health = check(health_class(service=SERVICE), timeout=10)
            health = health.DESCRIPTOR.fields_by_name["status"].enum_type.values_by_number[health.status].name
    seen = [item for i, item in enumerate(items) if answer.seen[i // 8] >> (i % 8) & 1]
    print(json.dumps({"services": services, "described": described, "health": health, "seen": seen}))


if __name__ == "__main__":
    main(*sys.argv[1:])
