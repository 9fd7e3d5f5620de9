"""A process that has lost its disk reads the log again, and tells how far it is."""

import contextlib
import shutil

import chain
import heavy
import installation
import kafka_server
import law
import processes


class Rebuild(law.LawCase):
    def test_without_disk(self):
        """rebuild: without its disk the window stage reads again exactly what is not merged, and nothing before it; then filters
        answer for all of it, of light users and of heavy ones"""
        with (
            processes.temp_folder("rebuild") as folder,
            kafka_server.KafkaServer(kafka_server.VERSIONS[0], folder / "kafka") as server,
            contextlib.ExitStack() as stack,
        ):
            # Long enough for a busy machine: who is taken for dead by the group reads again, too.
            session = {"session.timeout.ms": 60_000, "heartbeat.interval.ms": 500}
            site = installation.Installation(
                folder, server.bootstrap, "rebuild", log={"level": "debug"}, kafka={"properties": session}
            )
            ingest, merge, window = (
                stack.enter_context(site.process(stage)) for stage in ("ingest", "merge", "window")
            )
            ready = ingest.ready_line(60)
            merge.ready_line(60)
            admin = window.ready_line(60)["admin"]
            before, after = {"heavy-5000": 5_000}, {"heavy-20000": 20_000}  # The loss.
            merged_plays, lost_plays = 300 + 5_000, 200 + 20_000
            oracle = site.play_heavily(before)
            site.play(["a", "b", "c"], users=100)
            site.wait_until_ingested(ingest, ready, merged_plays)

            def merged():
                """{partition: merged offset}"""
                return {
                    int(dict(labels)["partition"]): int(offset)
                    for (name, labels), offset in processes.metrics(admin).items()
                    if name == "bloomring_merged_offset"
                }

            def everything_merged():
                ends = site.ends()
                return all(merged().get(p, 0) >= end for p, end in ends.items())

            window.wait_until(everything_merged, 90, "everything to be merged")
            drains = processes.values(processes.metrics(admin), "bloomring_drains_total", attempt="first")
            self.assertGreater(sum(drains), 0)
            self.assertEqual(merge.term(), 0)
            oracle |= site.play_heavily(after)
            site.play(["d", "e"], users=100)
            site.wait_until_ingested(ingest, ready, merged_plays + lost_plays)
            ends = site.ends()

            window.wait_until(
                lambda: processes.window_has_read(admin, merged_plays + lost_plays), 30, "everything to be applied"
            )
            below = merged()
            window.kill9()
            shutil.rmtree(site.folder / "state")

            admin = window.start().ready_line(60)["admin"]
            window.wait_until(
                lambda: processes.window_has_read(admin, lost_plays), 60, "what is not merged to be read again"
            )
            blocks = sum(processes.values(processes.metrics(admin), "bloomring_window_records_total"))
            self.assertEqual(blocks, sum(end - below.get(p, 0) for p, end in ends.items()))
            self.assertEqual(window.err.read_text().count("no local state: reads from offset"), 2 * chain.PARTITIONS)
            merge.start().ready_line(60)
            window.wait_until(everything_merged, 90, "what was read again to be merged")
            found = processes.metrics(admin)
            self.assertEqual(processes.values(found, "bloomring_rebuild_events_left", stage="window"), [0])

            with site.process("serve") as serve:
                ready = serve.ready_line(60)
                site.wait_until_lap_over(serve, ready["admin"])
                report = heavy.check(ready["grpc"], oracle | {"u7": {"a", "b", "c", "d", "e"}})
                self.assertEqual(report.wrong(), [])
