"""Actions on topics that kcat cannot take: cut a log at its start, remove a topic, make one,
write in a transaction. Runs KafkaAdmin.java with
the jars of a broker's version."""

import pathlib

import kafka_server
import processes

_PROGRAM = pathlib.Path(__file__).with_name("KafkaAdmin.java")


def _run(bootstrap, *words):
    jars = kafka_server.jars(kafka_server.VERSIONS[0])
    processes.run(
        [
            "java",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            f"{jars}/*",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
            _PROGRAM,
            bootstrap,
            *words,
        ],
        bound_s=240,
    )


def delete_records(bootstrap, topic, below):
    """below: {partition: offset}; everything before the offset is gone, as retention would have it."""
    _run(bootstrap, "delete-records", topic, *[word for pair in sorted(below.items()) for word in pair])


def delete_topic(bootstrap, topic):
    _run(bootstrap, "delete-topic", topic)


def add_partitions(bootstrap, topic, partitions):
    """partitions: how many it has then."""
    _run(bootstrap, "add-partitions", topic, partitions)


def allow(bootstrap, rights):
    """rights: [(principal as User:NAME, topic, group or cluster, its name, [operations])]."""
    _run(bootstrap, "allow", *[word for who, kind, name, may in rights for word in (who, kind, name, ",".join(may))])


def write_transaction(bootstrap, topic, partition, lines, commit=True):
    """One record a line in one transaction, then its marker, which takes an offset of its own."""
    _run(bootstrap, "write-transaction", topic, partition, "commit" if commit else "abort", *lines)


def create_topic(bootstrap, topic, partitions, **configs):
    """configs by their names with _ for the dots, and replication, which else is what the brokers have."""
    _run(
        bootstrap,
        "create-topic",
        topic,
        partitions,
        *[f"{key.replace('_', '.')}={value}" for key, value in configs.items()],
    )
