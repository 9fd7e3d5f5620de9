"""Runs a test program on a real Apache Kafka, named to it in BLOOMRING_TEST_BOOTSTRAP.

    python3 tests/pipeline/kafka/run_on_real_broker.py VERSION PROGRAM [ARGUMENT...]

Exits with the program's code.
"""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "real"))

import kafka_server  # noqa: E402
import processes  # noqa: E402

BOUND_S = 240


def main(version, *command):
    with processes.temp_folder("kafka") as folder, kafka_server.KafkaServer(version, folder) as server:
        environment = {**os.environ, "BLOOMRING_TEST_BOOTSTRAP": server.bootstrap}
        return subprocess.run(command, env=environment, timeout=BOUND_S, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
