"""Dead letters are listed, shown and put back, on a real broker: after the mending, the plays are seen."""

import collections
import json
import os
import stat
import time

import heavy
import installation
import kafka_admin
import one_broker
import plays
import processes

BOUND_S = 90
WRONG = 2  # the command line or the set-up
FOUND = 3  # done, with differences
LETTERS = 400  # Of the test that kills.
BIG = 1_200_000  # Bytes of a play that a dead letter cannot hold.
# Of docs/how-to/dead-letters.md.
PAGE = [
    "bloomring dlq list --config site.yaml --since 7d --output text",
    "bloomring dlq show --config site.yaml --reason missing_field --newest 3 --output text",
    "bloomring dlq show --config site.yaml --at 0:4711 --raw 4711.json",
    "bloomring dlq replay --config site.yaml --name nov-2 --reason missing_field --output text",
    "bloomring dlq replay --config site.yaml --name nov-2 --reason missing_field --rate 1000 --execute",
]
ESCAPES = "\x1b]0;owned\x07\x1b[2J"


def play(item, user="u7", **fields):
    """As the site's producers write it, with the item under a name that the configuration does not know at first."""
    return json.dumps({"user": user, "video": item, "time": int(time.time() * 1000), **fields})


class DeadLetters(one_broker.OneBrokerCase):
    def install(self, name, **events):
        """With a topic of plays whose records may be large, and a mapping that takes `item` for the field `video`."""
        kafka_admin.create_topic(self.server.bootstrap, f"plays-{name}", 2, max_message_bytes=4_000_000)
        return installation.Installation(
            self.folder, self.server.bootstrap, name, slot_seconds=5, events={"item": "item", **events}
        )

    def mend(self, site, **events):
        settings = json.loads(site.path.read_text())
        settings["events"].update({"item": "video", **events})
        site.path.write_text(json.dumps(settings))

    def produce(self, site, lines, *options):
        limits = ["message.max.bytes=4000000", *options]
        processes.kcat_produce(self.server.bootstrap, f"plays-{site.name}", lines, limits)

    def letters(self, site):
        return processes.kcat_consume(self.server.bootstrap, f"dead-{site.name}")

    def refuse(self, site, lines):
        """Until each of them is a dead letter."""
        before = len(self.letters(site))
        with site.process("ingest") as process:
            process.ready_line(BOUND_S)
            self.produce(site, lines)
            process.wait_until(lambda: len(self.letters(site)) == before + len(lines), BOUND_S, "the dead letters")
            self.assertEqual(process.term(), 0)

    def dlq(self, site, *words, code=0):
        got, out, err = site.command("dlq", *words, check=False)
        self.assertEqual(got, code, (words, out, err))
        return json.loads(out)

    def replay(self, site, *words, code=0):
        return self.dlq(site, "replay", "--unwatched", *words, code=code)

    def counts(self, report):
        """By name, the reasons of each added up."""
        counts = report["counts"].items()
        return collections.Counter({name: sum(n.values()) if isinstance(n, dict) else n for name, n in counts})

    def put_back(self, site):
        """[(letter's place, value)] of the records that were put back, in any order."""
        records = processes.kcat_consume(self.server.bootstrap, f"plays-{site.name}")
        return [record for record in records if "bloomring.replay.count=" in (record.get("headers") or "")]

    def test_list_and_show(self):
        """dlq: letters are counted by reason and shown, whatever their bytes are; foreign records are told"""
        site = self.install("shown")
        self.refuse(site, [play("v1"), play("v2"), "{" + ESCAPES, play("big", comment="x" * BIG)])
        processes.kcat_produce(self.server.bootstrap, f"dead-{site.name}", ["of another program"])
        listed = self.dlq(site, "list")
        self.assertEqual((listed["letters"], listed["foreign"]), (4, 1))
        rows = {row["reason"]: row for row in listed["reasons"]}
        self.assertEqual({reason: row["letters"] for reason, row in rows.items()}, {
            "missing_field": 2, "malformed_json": 1, "too_large": 1})
        self.assertEqual(rows["too_large"]["cut"], 1)
        self.assertEqual(rows["missing_field"]["sources"][0]["topic"], "plays-shown")
        self.assertLessEqual(rows["missing_field"]["first_ms"], rows["missing_field"]["last_ms"])
        self.assertEqual(self.dlq(site, "list", "--until", "1h")["letters"], 0)
        self.assertEqual(self.dlq(site, "list", "--since", "1h")["letters"], 4)
        self.assertEqual(self.dlq(site, "list", "--reason", "too_large")["letters"], 1)
        text = site.command("dlq", "list", "--output", "text")[1]
        self.assertIn("missing_field", text)
        self.assertIn("plays-shown (", text)
        self.check_shown(site)
        self.check_raw(site)

    def check_shown(self, site):
        newest = self.dlq(site, "show", "--newest", "2")["letters"]
        self.assertTrue(newest[0]["foreign"])
        shown = {letter["value"]: letter for letter in self.dlq(site, "show", "--reason", "malformed_json")["letters"]}
        self.assertEqual(list(shown), ["{" + ESCAPES])
        for form in ("json", "text"):
            out = site.command("dlq", "show", "--output", form)[1]
            self.assertEqual([c for c in out if ord(c) < 32 and c != "\n" or ord(c) == 127], [], form)
        self.mend(site)
        letters = self.dlq(site, "show", "--reason", "missing_field")["letters"]
        (letter,) = [one for one in letters if "v1" in one["value"]]
        self.assertEqual((letter["now"], letter["play"]["user"], letter["play"]["item"]), ("accepted", "u7", "v1"))
        self.assertEqual(letter["source"]["topic"], "plays-shown")

    def check_raw(self, site):
        (big,) = self.dlq(site, "show", "--reason", "too_large")["letters"]
        self.assertTrue(big["cut"])
        self.assertGreater(big["value_bytes"], BIG)
        file = self.folder / "raw.json"
        written = self.dlq(site, "show", "--at", big["at"], "--raw", file)
        self.assertEqual(written["bytes"], os.path.getsize(file))
        self.assertTrue(written["cut"])
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        again = self.dlq(site, "show", "--at", big["at"], "--raw", file, code=WRONG)
        self.assertIn("cannot be written", again["error"])
        self.assertIn("holds the offsets 0 to 4", self.dlq(site, "show", "--at", "0:99", code=WRONG)["error"])

    def test_mended(self):
        """dlq: after the mapping is mended the letters are put back, large ones whole, and all plays of a heavy user are seen"""
        site = self.install("mended")
        many = [play(one.item, one.user) for one in heavy.heavy_plays(0, heavy.ONE)]
        items = [f"v{n}" for n in range(20)]
        others = [play("big", comment="x" * BIG), '{"user":"u7"}', play("gone", event="dance")]
        self.refuse(site, [play(item) for item in items] + many + others)
        self.mend(site, record_bytes_max=2_000_000, kinds={"view": "play", "": "play", "dance": "ignore"})
        plan = self.replay(site, "--name", "mended")
        self.assertIn(f"{20 + len(many)} to plays-mended", json.dumps(plan))
        self.assertIn("1 cut, to be read whole", json.dumps(plan))
        self.assertEqual(self.put_back(site), [])
        report = self.replay(site, "--name", "mended", "--execute", code=FOUND)
        counts = self.counts(report)
        self.assertEqual((counts["put_back"], counts["read_whole"]), (21 + len(many), 1))
        self.assertEqual((counts["refused_again"], counts["ignored"]), (1, 1))
        self.assertEqual(len(self.put_back(site)), 21 + len(many))
        with site.process("ingest,window,merge,serve") as process:
            ready = process.ready_line(BOUND_S)
            site.wait_until_answered(process, ready["grpc"], [*items, "big"], heavy.MERGED_OR_NOT)
            site.wait_until_merged(process, 21 + len(many))
            oracle = {user: {heavy.item(user, n) for n in range(count)} for user, count in heavy.ONE.items()}
            self.assertEqual(heavy.check(ready["grpc"], oracle, heavy.MERGED_OR_NOT).wrong(), [])
            self.assertEqual(process.term(), 0)
        self.assertEqual(self.counts(self.replay(site, "--name", "mended", "--execute", code=FOUND)), counts)
        self.assertEqual(len(self.put_back(site)), 21 + len(many))

    def written_again(self, site):
        """Records of the topic of plays after the first LETTERS. (kcat ends no sooner than a writer of it.)"""
        return sum(processes.end_offsets(self.server.bootstrap, f"plays-{site.name}", 2).values()) - LETTERS

    def test_killed(self):
        """dlq: a replay that is killed goes on, and repeats little; other parameters are refused with a way out"""
        site = self.install("killed")
        self.refuse(site, [play(f"v{n}") for n in range(LETTERS)])
        self.mend(site)
        words = [plays.binary(), "dlq", "replay", "--config", site.path, "--name", "killed", "--execute", "--unwatched"]
        with processes.Process("replay", [*words, "--rate", "40"], self.folder) as replay:
            replay.wait_until(lambda: self.written_again(site) >= 100, BOUND_S, "some of the letters to be back")
            replay.kill9()
        put_back = len(self.put_back(site))
        self.assertLess(put_back, LETTERS)
        error = self.replay(site, "--name", "killed", "--execute", "--reason", "too_large", code=WRONG)["error"]
        for word in ("reason", "--name", "jobs remove killed"):
            self.assertIn(word, error)
        with processes.Process("replay", [*words, "--rate", "40"], self.folder) as replay:
            replay.wait_until(lambda: self.written_again(site) >= put_back + 20, BOUND_S, "it to go on")
            self.assertEqual(replay.term(), 1)
        self.assertLess(len(self.put_back(site)), LETTERS)
        report = self.replay(site, "--name", "killed", "--execute", "--rate", "1000")
        self.assertGreaterEqual(self.counts(report)["put_back"], LETTERS)
        times = collections.Counter(record["payload"] for record in self.put_back(site))
        self.assertEqual(len(times), LETTERS)
        self.assertLessEqual(max(times.values()), 2)
        # A position is saved every 2 s, and after a kill what came since then is done again.
        self.assertLess(sum(times.values()), LETTERS + 200)

    def test_again_and_again(self):
        """dlq: a letter that fails again is put back three times and then stays, also when everything is selected"""
        site = self.install("again")
        self.refuse(site, [play("v1")])
        with site.process("ingest") as process:  # With the mapping that nobody has mended.
            process.ready_line(BOUND_S)
            self.mend(site)
            for attempt in range(1, 4):
                report = self.replay(site, "--name", f"again-{attempt}", "--execute")
                self.assertEqual(self.counts(report)["put_back"], 1, attempt)
                process.wait_until(lambda: len(self.letters(site)) == 1 + attempt, BOUND_S, "the letter to be back")
            self.assertEqual(process.term(), 0)
        report = self.replay(site, "--name", "again-4", "--execute", code=FOUND)
        self.assertEqual(self.counts(report), {"superseded": 3, "too_often": 1})
        self.assertEqual(self.dlq(site, "list")["reasons"][0]["replayed"], 3)

    def test_errors(self):
        """dlq: a broker that is away, a topic that is missing and a target of our own are told with the way out"""
        site = self.install("errors")
        kafka_admin.delete_topic(self.server.bootstrap, f"dead-{site.name}")
        processes.wait_for(
            lambda: "does not exist" in site.command("dlq", "list", check=False)[1], BOUND_S, "the topic to be gone"
        )
        self.assertIn("bloomring topics", self.dlq(site, "list", code=WRONG)["error"])
        away = ("--set", f"kafka.bootstrap=127.0.0.1:{processes.free_port()}")
        for words in (("list",), ("show",), ("replay", "--name", "away")):
            self.assertIn("no broker answered", self.dlq(site, *words, *away, code=1)["error"])
        error = self.replay(site, "--name", "own", "--to", site.events, code=WRONG)["error"]
        self.assertIn("--to", error)
        self.assertIn(site.events, error)

    def test_page(self):
        """dlq: what docs/how-to/dead-letters.md says to type works in its order"""
        site = self.install("page")
        self.refuse(site, [play(f"v{n}") for n in range(9)])
        said = [self.typed(site, PAGE[0]), self.typed(site, PAGE[1]), self.typed(site, PAGE[2])]
        self.mend(site)
        said += [self.typed(site, command, "--unwatched") for command in PAGE[3:]]
        self.assertRegex(said[0], r"missing_field +9 ")
        # Of each letter twice: why it was refused, and what ingest would do now.
        self.assertEqual(said[1].count("events.item 'item': field missing"), 6)
        self.assertIn('"video"', (self.folder / "4711.json").read_text())
        self.assertIn("9 to plays-page", said[3])
        self.assertEqual(json.loads(said[4])["counts"]["put_back"], {"missing_field": 9})

    def typed(self, site, command, *flags):
        (letter, *_) = (f"{one['partition']}:{one['offset']}" for one in self.letters(site))
        places = {"bloomring": plays.binary(), "site.yaml": site.path, "0:4711": letter}
        places["4711.json"] = self.folder / "4711.json"
        return processes.run([*(str(places.get(word, word)) for word in command.split()), *flags], bound_s=BOUND_S)[1]
