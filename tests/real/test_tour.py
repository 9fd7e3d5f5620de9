"""The first hour of a site with its own topic, field names and certificates, as an operator spends it: seven processes, five
codecs, mutual TLS, plays that do not count, refusals that are told, a check while all runs, and an orderly end.

Starts that fail are in test_start_failures.py, starts that wait in test_start_wait.py, the end under load in test_drain.py.
"""

import contextlib
import json
import time

import certificates
import chain
import heavy
import kafka_admin
import one_broker
import plays
import processes

TOPIC = "video-views"
PLAYS_PARTITIONS = 4
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
USERS = 20
PROCESSES = ("merge", "window-0", "window-1", "serve-0", "serve-1", "ingest-0", "ingest-1")
BOUND_S = 60
SHARE_MIN = 0.25  # Of a video's length: less is no view.


class Site:
    """site.yaml as a site would write it, what it sends, and the processes of it."""

    def __init__(self, folder, bootstrap):
        self.folder = folder
        self.bootstrap = bootstrap
        self.path = folder / "site.yaml"
        self.addresses = [f"127.0.0.1:{processes.free_port()}" for _ in range(2)]
        tls = certificates.Certificates(folder / "tls")
        tls.with_authority()
        self.ca = ["--tls-ca", tls.path("ca.pem")]
        self.tls = [*self.ca, "--tls-cert", tls.path("own.pem"), "--tls-key", tls.path("own.key")]
        settings = chain.config(folder, bootstrap, "state")
        settings["topics"]["plays"] = [TOPIC]
        settings["kafka"]["group_prefix"] = "feed"
        settings["events"] = {
            "user": "who.id",
            "item": "media.id",
            "time": "at",
            "time_unit": "s",
            "scene": "",
            "event": "what",
            "kinds": {"view": "play", "removed": "forget", "liked": "ignore"},
            "watched": "media.watched_ms",
            "duration": "media.length_ms",
            "view_share_min": SHARE_MIN,
        }
        settings["serve"].update(
            replica_count=2,
            replication_factor=2,
            peers=self.addresses,
            tls_certificate=tls.path("own.pem"),
            tls_key=tls.path("own.key"),
            tls_client_ca=tls.path("ca.pem"),
        )
        self.path.write_text(json.dumps(settings))  # JSON is YAML.

    def command(self, *words, check=True):
        return processes.run([plays.binary(), *words, "--config", self.path], check=check, bound_s=90)

    def process(self, name):
        stage, _, number = name.partition("-")
        changes = [f"instance={name}", f"state.path={self.folder / name}"]
        if stage == "serve":
            changes += [f"serve.replica_index={number}", f"serve.listen={self.addresses[int(number)]}"]
        options = [word for change in changes for word in ("--set", change)]
        command = [plays.binary(), "run", "--config", self.path, "--stages", stage, *options]
        return processes.Process(name, command, self.folder)

    def event(self, user, item, what="view", watched_ms=9_000, ago_s=0):
        media = {"id": item, "watched_ms": watched_ms, "length_ms": 10_000, "encoding": {"name": "av1"}}
        at = int(time.time()) - ago_s
        return json.dumps({"what": what, "who": {"id": user, "device": "tv"}, "media": media, "at": at})

    def send(self, events, codec="none"):
        processes.kcat_produce(self.bootstrap, TOPIC, events, [f"compression.codec={codec}"])

    def ask(self, replica, user, items, options=None, check=True):
        options = self.tls if options is None else options
        words = ["query", "--server", self.addresses[replica], *options, "--user", user, *items]
        return processes.run([plays.binary(), *words], check=check)

    def reasons(self, replica, user, items):
        """Why each is seen, None for what is not; nothing when the answer is not complete."""
        answer = json.loads(self.ask(replica, user, items)[1])
        return [verdict.get("reason") for verdict in answer["items"]] if answer["complete"] else []


class Tour(one_broker.OneBrokerCase):
    def test_tour(self):
        """tour: nested fields, five codecs, mutual TLS, seven processes: what counts is seen, what does not is told"""
        kafka_admin.create_topic(self.server.bootstrap, TOPIC, PLAYS_PARTITIONS)
        self.site = site = Site(self.folder, self.server.bootstrap)
        code, out, _ = site.command("topics", check=False)
        self.assertEqual((code, json.loads(out)["executed"]), (3, False))  # 3: topics are missing.
        site.command("topics", "--execute")
        self.assertTrue(json.loads(site.command("check")[1])["ok"])
        with contextlib.ExitStack() as stack:
            self.run_ = {name: stack.enter_context(site.process(name)) for name in PROCESSES}
            self.ready = {name: process.ready_line(BOUND_S) for name, process in self.run_.items()}
            self.codecs()
            self.what_does_not_count()
            self.refusals()
            self.heavy_users()
            self.strangers()
            self.check_while_it_runs()
            for name in reversed(PROCESSES):
                self.assertEqual(self.run_[name].term(), 0, name)

    def wait(self, name, condition, what, bound_s=BOUND_S):
        return self.run_[name].wait_until(condition, bound_s, what)

    def codecs(self):
        site = self.site
        for codec in CODECS:
            site.send([site.event(f"u{n}", f"v-{codec}") for n in range(USERS)], codec)
        items = [*(f"v-{codec}" for codec in CODECS), "never"]
        # The first codec's plays may be in filters when the last one's are still recent.
        for reasons in ({"recent", "filter"}, {"filter"}):
            for replica in (0, 1):
                for user in ("u0", f"u{USERS - 1}"):

                    def answered(replica=replica, user=user, reasons=reasons):
                        *played, never = site.reasons(replica, user, items) or [None]
                        return len(played) == len(CODECS) and set(played) <= reasons and never is None

                    self.wait(f"serve-{replica}", answered, f"plays of every codec to be answered by {reasons}", 120)

    def what_does_not_count(self):
        """A view that was too short, and what the site ignores, are no plays; what the user has removed is none any more."""
        site = self.site
        site.send(
            [
                site.event("short", "v-short", watched_ms=1_000),
                site.event("short", "v-liked", "liked"),
                site.event("short", "v-removed", ago_s=1),  # Of one second with its removal it would stay seen.
                site.event("short", "v-long", watched_ms=2_500),
            ]
        )
        asked = ["v-short", "v-liked", "v-removed", "v-long"]
        seen = [[None, None, why, why] for why in ("recent", "filter")]
        self.wait("serve-0", lambda: site.reasons(0, "short", asked) in seen, "the long views to be seen")
        site.send([site.event("short", "v-removed", "removed")])
        left = [[None, None, None, why] for why in ("recent", "filter")]
        self.wait("serve-1", lambda: site.reasons(1, "short", asked) in left, "the removed one to be unseen")
        self.wait("ingest-0", lambda: sum(self.of_ingest("bloomring_ingest_skipped_total")) == 2, "two to be skipped")

    def without_user(self):
        return json.dumps({"what": "view", "who": {"name": "no id"}, "media": {"id": "v"}, "at": int(time.time())})

    def of_ingest(self, name, **labels):
        both = [processes.metrics(self.ready[one]["admin"]) for one in ("ingest-0", "ingest-1")]
        return [number for found in both for number in processes.values(found, name, **labels)]

    def refusals(self):
        """One bad record: told in the log of the process that read it with its place and the reason, counted, and kept."""
        site = self.site
        site.send([self.without_user()])

        def told():
            return [
                line
                for one in ("ingest-0", "ingest-1")
                for line in self.run_[one].err.read_text().splitlines()
                if "missing_field" in line and TOPIC in line
            ]

        (line,) = self.wait("ingest-0", told, "the refusal to be told")
        self.assertIn("who.id", line)
        self.assertEqual(sum(self.of_ingest("bloomring_ingest_refused_total")), 1)
        letters = self.wait("ingest-0", lambda: processes.kcat_consume(site.bootstrap, "plays-dead"), "the dead letter")
        (letter,) = letters
        self.assertIn("no id", letter["payload"])

    def heavy_users(self):
        site = self.site
        played = plays.by_user(heavy.heavy_plays(0))
        site.send([site.event(user, item) for user, items in played.items() for item in items], "zstd")
        for user, items in played.items():
            for replica in (0, 1):
                self.wait(
                    f"serve-{replica}",
                    lambda r=replica, u=user, i=sorted(items): None not in (site.reasons(r, u, i) or [None]),
                    f"the plays of {user} to be seen",
                )
        for address in site.addresses:
            report = heavy.check(address, played, ("filter", "recent"), site.tls)
            self.assertEqual(report.wrong(), [], address)

    def strangers(self):
        """Without a certificate, or without TLS, nothing is answered, and the message names the address."""
        for options in ([], self.site.ca):
            code, out, told = self.site.ask(0, "u0", ["v-none"], options, check=False)
            self.assertEqual((code, list(json.loads(out))), (1, ["error"]))
            self.assertIn(self.site.addresses[0], told)

    def check_while_it_runs(self):
        """It may run at any time: what the processes hold is no error, and a bad play is a warning with its reason."""
        self.site.send([self.without_user()])
        code, out, told = self.site.command("check", check=False)
        found = json.loads(out)
        self.assertEqual((code, found["ok"]), (0, True), told)
        self.assertIn("missing_field", json.dumps(found["findings"]))
