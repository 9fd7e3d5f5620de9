"""A disk that is full: the process says so and ends, and with room again nothing is lost."""

import contextlib
import json
import subprocess
import time

import chain
import heavy
import kafka_server
import law
import plays
import processes

DISK_BYTES = 24 << 20


@contextlib.contextmanager
def small_disk(path):
    """A file system of its own, so that it can be filled without harm to the machine. Needs the right to mount."""
    path.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "bloomring-small", str(path)], check=True)
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


def fill(path):
    with contextlib.suppress(OSError), open(path, "wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 16))


class FullDisk(law.LawCase):
    def test_full_disk(self):
        """run: a full disk of the filter store ends the process with exit code 1 and a clear word, and loses nothing"""
        with (
            processes.temp_folder("full") as folder,
            small_disk(folder / "small") as disk,
            kafka_server.KafkaServer(kafka_server.VERSIONS[0], folder / "kafka") as server,
        ):
            settings = chain.config(folder, server.bootstrap, "all")
            settings["store"]["path"] = str(disk / "store")
            path = folder / "all.yaml"
            path.write_text(json.dumps(settings))
            processes.run([plays.binary(), "topics", "--execute", "--create-plays", "--config", path])
            now_ms = int(time.time() * 1000)
            some = [*plays.read(last_play_ms=now_ms), *heavy.heavy_plays(now_ms, heavy.ONE)]
            oracle = plays.by_user(some)
            with processes.Process("all", [plays.binary(), "run", "--config", path], folder) as run:
                run.ready_line(60)
                fill(disk / "filler")
                processes.kcat_produce(server.bootstrap, "plays", [play.json() for play in some])
                self.assertEqual(run.wait(90), 1)
                self.assertIn("No space left", run.tail(60))

                (disk / "filler").unlink()
                ready = run.start().ready_line(60)

                def all_filtered():
                    report = plays.check_all(ready["grpc"], oracle, probes_per_user=0)
                    return not report.unseen and report.reasons["filter"] == report.played

                run.wait_until(all_filtered, 120, "all plays are in the filter")
                self.assertEqual(heavy.check(ready["grpc"], {user: oracle[user] for user in heavy.ONE}).wrong(), [])
                self.assertEqual(run.term(), 0)
