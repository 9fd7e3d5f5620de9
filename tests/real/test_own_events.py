"""A site's own events: nested fields, kinds of their own, short views, scenes. A refusal is noticed."""

import json
import random
import time

import heavy
import installation
import law
import one_broker
import plays
import processes

BOUND_S = 90
WRONG = 2  # something is set up wrongly
FOUND = 3  # done, and found what must not be

EVENTS = {
    "user": "user.id",
    "item": "video.id",
    "time": "at",
    "time_unit": "s",
    "event": "action",
    "kinds": {"view": "play", "hide": "forget", "*": "ignore"},
    "watched": "video.watched",
    "duration": "video.length",
    "watched_unit": "s",
    "view_share_min": 0.5,
    "scene": "shown.scene",
}
HEAVY = {"heavy-5000": 5_000}
PUT_BACK = [
    "bloomring dlq replay --config site.yaml --name mended --reason missing_field --output text",
    "bloomring dlq replay --config site.yaml --name mended --reason missing_field --execute",
]


def event(user, item, scene=None, action="view", watched=9):
    """As the site's producers write it: more than is wanted, in objects."""
    record = {
        "action": action,
        "user": {"id": user, "device": "phone"},
        "video": {"id": item, "watched": watched, "length": 10},
        "at": int(time.time()),
    }
    return json.dumps({**record, "shown": {"scene": scene}} if scene is not None else record)


class OwnEvents(one_broker.OneBrokerCase):
    def install(self, name, **events):
        return installation.Installation(
            self.folder,
            self.server.bootstrap,
            name,
            slot_seconds=5,
            topics={"plays_partitions": 1},
            events={**EVENTS, **events},
        )

    def produce(self, site, lines):
        processes.kcat_produce(self.server.bootstrap, f"plays-{site.name}", lines)

    def answer(self, grpc, user, items, *options):
        """The first complete one."""
        words = [plays.binary(), "query", "--server", grpc, "--user", user, *options, *items]
        return plays.first_complete(lambda: json.loads(processes.run(words, BOUND_S)[1]), user)

    def wait_until_seen(self, process, grpc, user, items, *options):
        def seen():
            answer = self.answer(grpc, user, items, *options)
            return answer["complete"] and all(item["seen"] for item in answer["items"])

        process.wait_until(seen, BOUND_S, f"{items[:3]} of {user} to be seen")

    def test_events(self):
        """own events: plays are found in nested fields, under the site's kinds and scenes, for heavy users, too"""
        site = self.install("own")
        lines = site.command("generate", "--plays", "5", "--users", "2")[1].splitlines()
        for generated in map(json.loads, lines):
            self.assertEqual(generated["action"], "view")
            self.assertGreaterEqual(generated["video"]["watched"], generated["video"]["length"])
        items = [heavy.item("heavy-5000", n) for n in range(HEAVY["heavy-5000"])]
        feed = [event("heavy-5000", item, "feed") for item in items]
        random.Random(1).shuffle(feed)
        light = [
            event(7, "v1", "search"),
            event(7, "v2"),
            event(7, "short", watched=4),
            event(7, "shown", action="impression"),
        ]
        with site.process("ingest,window,merge,serve") as process:
            ready = process.ready_line(BOUND_S)
            self.produce(site, light + feed)
            site.wait_until_ingested(process, ready, len(light) + len(feed))
            metrics = processes.metrics(ready["admin"])
            for why in ("ignored_kind", "short_view"):
                self.assertEqual(processes.values(metrics, "bloomring_ingest_skipped_total", why=why), [1])
            self.assertEqual(sum(processes.values(metrics, "bloomring_ingest_refused_total")), 0)
            self.check_light(process, ready["grpc"])
            site.wait_until_merged(process, len(items) + 2)
            site.wait_until_lap_over(process, ready["admin"])
            answer = self.answer(ready["grpc"], "heavy-5000", items, "--all-scenes")
            self.assertEqual((answer["complete"], answer["known_scenes"]), (True, ["feed"]))
            self.assertEqual({(item["seen"], item.get("reason")) for item in answer["items"]}, {(True, "filter")})
            self.check_scenes(site, process, ready)
            self.assertEqual(process.term(), 0)

    def check_light(self, process, grpc):
        """A user with two plays in two scenes; what was too short or no play is unseen."""
        self.wait_until_seen(process, grpc, "7", ["v1", "v2"], "--all-scenes")

        def all_known():
            return self.answer(grpc, "7", ["v1"], "--all-scenes")["scenes"] == ["", "feed", "search"]

        process.wait_until(all_known, BOUND_S, "every scene to be known")
        answer = self.answer(grpc, "7", ["v1", "v2", "short", "shown"], "--all-scenes")
        self.assertEqual([item["seen"] for item in answer["items"]], [True, True, False, False])
        alone = self.answer(grpc, "7", ["v1"], "--scene", "serach")
        self.assertEqual((alone["complete"], alone["user_known"]), (True, False))

    def check_scenes(self, site, process, ready):
        """A scene that is not merged is inspected; a forget in all scenes reaches what is merged and what is not."""
        self.produce(site, [event(7, "v3", "kids")])
        self.wait_until_seen(process, ready["grpc"], "7", ["v3"], "--scene", "kids")
        inspect = ["inspect", "user", "--user", "7", "--server", ready["grpc"]]
        shown = json.loads(site.command(*inspect)[1])
        self.assertEqual([one["scene"] for one in shown["other_scenes"]], ["kids", "search"])
        forget = [plays.binary(), "forget", "--server", ready["grpc"], "--user", "7", "--all-scenes", "--everything"]
        processes.run(forget, BOUND_S)
        answer = self.answer(ready["grpc"], "7", ["v1", "v2", "v3"], "--all-scenes")
        self.assertEqual([item["seen"] for item in answer["items"]], [False] * 3)

    def test_noticed(self):
        """own events: what a wrong mapping refuses is told by check beforehand, and by log, readiness and metrics"""
        site = self.install("wrong", item="video.uid")
        self.produce(site, [event(7, f"v{n}", "feed") for n in range(50)])
        code, out, err = site.command("check", check=False)
        self.assertEqual(code, WRONG)
        self.assertIn("of the newest 50 records 0 would be accepted and 50 refused as missing_field", err)
        fields = "(fields there: action, user.id, user.device, video.id"
        self.assertIn("offset 0: events.item 'video.uid': field missing", err)
        self.assertIn(fields, err)
        self.assertIn("; correct events.item, or the producer", err)
        found = [one for one in json.loads(out)["findings"] if one["key"] == "topic plays-wrong"]
        self.assertEqual([one["severity"] for one in found], ["error"])
        with site.process("ingest") as process:
            ready = process.ready_line(BOUND_S)

            def degraded():
                body = json.loads(processes.http_get(ready["admin"], "/readyz")[1])
                reason = body["parts"].get("ingest-plays", {}).get("reason", "")
                return body.get("degraded") and "events.item 'video.uid': field missing" in reason

            process.wait_until(degraded, BOUND_S, "readiness to say that all is refused")
            self.assertEqual(processes.http_get(ready["admin"], "/readyz")[0], 200)
            share = processes.values(processes.metrics(ready["admin"]), "bloomring_ingest_refused_share")
            self.assertEqual(share, [1])
            log = process.err.read_text()
            told = r'play records were refused.* refused=50 read=50 first="plays-wrong\[\d\] at offset \d+: '
            self.assertRegex(log, told)
            self.assertEqual(log.count("records were refused"), 1)
            self.assertEqual(process.term(), 0)
        self.give_back(site, 50)

    def give_back(self, site, records):
        """Types the commands of docs/operating.md for a mended mapping, after which every record is accepted."""
        settings = json.loads(site.path.read_text())
        settings["events"]["item"] = "video.id"
        site.path.write_text(json.dumps(settings))
        page = (processes.ROOT / "docs" / "operating.md").read_text()
        for command in PUT_BACK:
            self.assertIn(command, page)
            words = [plays.binary() if word == "bloomring" else word for word in command.split()]
            words = [site.path if word == "site.yaml" else word for word in words]
            said = processes.run([*words, "--unwatched"], bound_s=BOUND_S)[1]
        self.assertEqual(json.loads(said)["counts"]["put_back"], {"missing_field": records})
        with site.process("ingest") as process:
            ready = process.ready_line(BOUND_S)
            site.wait_until_ingested(process, ready, records)
            found = processes.metrics(ready["admin"])
            self.assertEqual(processes.values(found, "bloomring_ingest_records_total", result="accepted"), [records])
            self.assertEqual(sum(processes.values(found, "bloomring_ingest_refused_total")), 0)
            self.assertEqual(process.term(), 0)

    def test_some(self):
        """check: plays of which some would be refused, and scenes that nobody has chosen, are warned of"""
        site = self.install("some")
        self.produce(site, [event(7, "v1", "feed"), event(7, "v2", "search"), event("", "v3", "feed")])
        code, out, _ = site.command("check", check=False)
        verdict = json.loads(out)
        self.assertEqual((code, "plays" in verdict["checked"]), (0, True))
        warnings = " ".join(verdict["warnings"])
        self.assertIn("2 would be accepted and 1 refused as empty_id", warnings)
        self.assertIn("are of the scenes feed, search, whose filters never mix", warnings)
        (read,) = verdict["plays"]
        self.assertEqual((read["topic"], read["read"], read["plays"], read["refused"]), ("plays-some", 3, 2, 1))

    def test_limit(self):
        """check: more refused plays than ingest.refused_share_max is an error; of an empty topic nothing was read"""
        site = self.install("limit", item="video.uid")
        code, out, _ = site.command("check", "--output", "text", check=False)
        self.assertEqual((code, "plays: ok" in out), (0, False))
        self.assertIn("plays of topic plays-limit: nothing was read, it is empty", out)
        mixed = [json.dumps({"user": {"id": 7}}), *(event(7, f"v{n}", action="like") for n in range(29))]
        self.produce(site, mixed)
        for share, expected in ((0.02, WRONG), (0.1, 0)):
            with self.subTest(share):
                code, out, err = site.command("check", "--set", f"ingest.refused_share_max={share}", check=False)
                self.assertEqual(code, expected, err)
                words = " ".join(one["reason"] for one in json.loads(out)["findings"])
                self.assertIn("0 would be accepted and 1 refused as missing_field", words)
                self.assertIn("events.event 'action': field missing", words)

    def test_misspelt(self):
        """topics, check: a misspelt topic of plays is not made, and told by key, place and the topic that is meant"""
        site = self.install("right")
        settings = json.loads(site.path.read_text())
        settings["topics"]["plays"] = ["plays-rigth"]
        site.path.write_text(json.dumps(settings, indent=1))
        for command in (("topics", "--execute"), ("check",)):
            with self.subTest(command[0]):
                code, _, err = site.command(*command, check=False)
                self.assertEqual(code, WRONG, err)
                told = r"bloomring.yaml:\d+: topics\.plays is plays-rigth: no such topic .*did you mean plays-right"
                self.assertRegex(err, told)
        code, out, _ = site.command("topics", check=False)
        self.assertEqual(code, FOUND)
        shown = json.loads(out)["topics"]
        self.assertEqual([one["state"] for one in shown], ["missing", "exists", "exists", "exists"])
        site.command("topics", "--execute", "--create-plays")
        self.assertEqual(json.loads(site.command("topics")[1])["topics"][0]["state"], "exists")


class Dev(law.LawCase):
    def test_once(self):
        """dev --once: users are counted, and plays that were refused make exit code 3"""
        with processes.temp_folder("refused") as folder:
            for name, user, expected in (("fine", '"u1"', 0), ("refused", '""', FOUND)):
                with self.subTest(name):
                    play = f'{{"user":{user},"item":"v1","time":{int(time.time() * 1000)}}}\n'
                    (folder / "plays.jsonl").write_text(play)
                    words = [plays.binary(), "dev", "--plays", folder / "plays.jsonl", "--once", "--slot-seconds", "1"]
                    code, out, _ = processes.run(words, BOUND_S, check=False)
                    self.assertEqual(code, expected)
                    self.assertRegex(out, rf"\nusers +{0 if expected else 1}\n")
