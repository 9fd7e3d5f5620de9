"""An installation of its own on a broker that several tests share: topics, groups and folders carry its name."""

import functools
import json
import time

import chain
import heavy
import plays
import processes


@functools.cache
def topic_keys():
    """The key under `topics` of each row of topics."""
    shown = json.loads(processes.run([plays.binary(), "topology"], bound_s=60)[1])
    return [topic["setting"].removeprefix("topics.") for topic in shown["topics"]]


class Installation:
    """stages run as processes that share the store; each keeps its state below the installation's folder."""

    def __init__(self, folder, bootstrap, name, slot_seconds=chain.SLOT_SECONDS, **sections):
        self.name = name
        self.bootstrap = bootstrap
        self.folder = folder / name
        self.folder.mkdir()
        settings = chain.config(self.folder, bootstrap, name)
        settings["topics"].update({key: f"{key.removeprefix('user_')}-{name}" for key in topic_keys()})
        settings["kafka"]["group_prefix"] = name
        settings["ring"]["slot_seconds"] = slot_seconds
        settings["state"]["path"] = str(self.folder / "state")
        for section, keys in sections.items():
            settings.setdefault(section, {}).update(keys)
        self.path = self.folder / "bloomring.yaml"
        self.path.write_text(json.dumps(settings))
        self.command("topics", "--execute", "--create-plays")

    @property
    def events(self):
        return f"events-{self.name}"

    def command(self, *words, check=True):
        """(exit code, standard output, standard error) of a bloomring command with this configuration."""
        return processes.run([plays.binary(), *words, "--config", self.path], check=check, bound_s=90)

    def process(self, stages, env=None):
        """A process with these stages, not started."""
        instance = stages.replace(",", "-")
        command = [plays.binary(), "run", "--config", self.path, "--stages", stages, "--set", f"instance={instance}"]
        return processes.Process(instance, command, self.folder, env)

    def play(self, items, users=30):
        now_ms = int(time.time() * 1000)
        lines = [json.dumps({"user": f"u{u}", "item": item, "time": now_ms}) for u in range(users) for item in items]
        processes.kcat_produce(self.bootstrap, f"plays-{self.name}", lines)

    def play_heavily(self, users=None):
        """Every play of these heavy users, or of all: {user: items}."""
        found = heavy.heavy_plays(int(time.time() * 1000), users)
        processes.kcat_produce(self.bootstrap, f"plays-{self.name}", [play.json() for play in found])
        return plays.by_user(found)

    def wait_until_lap_over(self, process, admin, bound_s=120):
        """Until a serve process has no recent play left, so that filters alone answer."""

        def recent():
            return sum(processes.values(processes.metrics(admin), "bloomring_recent_entries"))

        process.wait_until(lambda: recent() == 0, bound_s, "the lap to be over")

    def ends(self):
        return processes.end_offsets(self.bootstrap, self.events, chain.PARTITIONS)

    def wait_until_ingested(self, process, ready, plays_sent):
        """Until the process has read so many plays since its start, and committed them behind acknowledged blocks."""

        def numbers(name, **labels):
            return processes.values(processes.metrics(ready["admin"]), name, **labels)

        def committed():
            lags = numbers("bloomring_custody_lag_records", stage="ingest")
            return lags and sum(lags) == 0

        process.wait_until(
            lambda: sum(numbers("bloomring_ingest_records_total")) >= plays_sent, 120, "the plays to be ingested"
        )
        process.wait_until(committed, 120, "the plays to be committed")

    def wait_until_merged(self, process, items):
        """Until the filters of all users together hold so many items, and the store is sound. The last look at it. Filters
        count fingerprints, which two items of a heavy user may share: of a thousand items one may be missing."""
        checked = {}

        def merged():
            checked.update(json.loads(self.command("store", "check")[1]))
            return checked["items"] >= items - items / 1000

        process.wait_until(merged, 120, f"{items} items to be in the filters")
        return checked

    def wait_until_answered(self, process, grpc, items, reasons, user="u7", bound_s=120):
        """Until every item is seen in a complete answer, for one of the reasons."""

        def answered():
            answer = plays.query(grpc, user, items)
            return answer["complete"] and all(verdict.get("reason") in reasons for verdict in answer["items"])

        process.wait_until(answered, bound_s, f"{items} to be answered by {reasons}")
