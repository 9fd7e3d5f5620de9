"""The queries of the Grafana dashboard, asked of a real Prometheus that scrapes a live `bloomring dev`."""

import datetime
import json
import urllib.parse

import dashboard
import law
import plays
import processes

SLOT_SECONDS = 2
BOUND_S = 60
BATCHES = 3
PLAYS_PER_BATCH = 200
# Of these there is nothing to see while all is well, and before the first backup.
MAY_BE_EMPTY = {
    "Oldest unmerged slot": "every slot is merged",
    "Age of the newest backup": "no backup was taken",
    "Dead letters": "no record was refused",
}


class Prometheus(processes.Process):
    """Scrapes an admin port each second."""

    def __init__(self, folder, target):
        self.address = f"127.0.0.1:{processes.free_port()}"
        configuration = folder / "prometheus.yaml"
        scrape = {"job_name": "bloomring", "scrape_interval": "1s", "static_configs": [{"targets": [target]}]}
        configuration.write_text(json.dumps({"scrape_configs": [scrape]}), encoding="utf-8")
        command = [
            "prometheus",
            f"--config.file={configuration}",
            f"--storage.tsdb.path={folder / 'prometheus'}",
            f"--web.listen-address={self.address}",
        ]
        super().__init__("prometheus", command, folder)

    def ask(self, query):
        """The samples of an answer that are numbers."""
        code, text = processes.http_get(self.address, "/api/v1/query?" + urllib.parse.urlencode({"query": query}))
        answer = json.loads(text)
        if code != 200 or answer["status"] != "success":
            raise processes.Failed(f"{query}: {text}")
        return [sample for sample in answer["data"]["result"] if sample["value"][1] != "NaN"]


class Dashboard(law.LawCase):
    def test_no_query_is_empty(self):
        """dashboard: each query shows something of a live installation, but for those of what is not well"""
        with processes.temp_folder("dashboard") as folder:
            command = [plays.binary(), "dev", "--slot-seconds", str(SLOT_SECONDS), "--data", folder / "data"]
            command += ["--set", "canary.interval_seconds=1"]
            with processes.Process("dev", command, folder) as dev:
                ready = dev.ready_line()
                with Prometheus(folder, ready["admin"]) as prometheus:
                    self.use(ready, dev, prometheus)
                    missing = []

                    def all_answered():
                        missing[:] = self.empty_queries(prometheus)
                        return not missing

                    try:
                        prometheus.wait_until(all_answered, BOUND_S, "every query shows something")
                    except processes.Failed as failure:
                        self.fail(f"{missing}\n{failure}")
                    self.assertEqual(dev.term(), 0)

    def use(self, ready, dev, prometheus):
        """Plays and questions, so that there is something to see."""
        up = 'up{job="bloomring"} == 1'
        prometheus.wait_until(lambda: reachable(prometheus) and prometheus.ask(up), BOUND_S, "the first scrape")
        for batch in range(1, BATCHES + 1):  # The first block is the measure of the delays of the others.
            self.produce(ready, dev, batch)
        for user in ("u1", "u2", "nobody"):
            processes.run([plays.binary(), "query", "--server", ready["grpc"], "--user", user, "v1", "v2"])

    def produce(self, ready, dev, batch):
        """Plays of a batch, until they are merged."""
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        lines = [
            json.dumps({"user": f"u{number}", "item": f"v{batch}", "time": now}) for number in range(PLAYS_PER_BATCH)
        ]
        processes.kcat_produce(ready["kafka"], "plays", lines)

        def merged():
            found = processes.values(processes.metrics(ready["admin"]), "bloomring_merged_plays_total")
            return sum(found) >= batch * PLAYS_PER_BATCH

        dev.wait_until(merged, BOUND_S, "the plays are merged")

    def empty_queries(self, prometheus):
        return [
            (title, query)
            for title, query in dashboard.queries()
            if title not in MAY_BE_EMPTY and not prometheus.ask(dashboard.without_variables(query, "5m"))
        ]


def reachable(prometheus):
    """True when it answers at all."""
    try:
        return processes.http_get(prometheus.address, "/-/ready")[0] == 200
    except OSError:
        return False
