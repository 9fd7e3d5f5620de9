"""Test cases that share a folder and a broker: starting one takes longer than many a test."""

import contextlib

import kafka_server
import law
import processes


class OneBrokerCase(law.LawCase):
    """cls.folder and cls.server are there from the first test of a class to its last; topics and folders of its tests
    must differ."""

    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        cls.folder = cls.stack.enter_context(processes.temp_folder(cls.__name__.lower()))
        cls.server = cls.stack.enter_context(kafka_server.KafkaServer(kafka_server.VERSIONS[0], cls.folder / "kafka"))

    @classmethod
    def tearDownClass(cls):
        cls.stack.close()
