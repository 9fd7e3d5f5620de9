"""Commands of people against a running installation: text and JSON, exit codes, and what is refused with a way out."""

import json
import os
import pty
import subprocess
import time

import law
import plays
import processes

BOUND_S = 60
PARTITIONS = 10  # those of dev
SITE = {
    "events": {"user": "uid", "item": "video_id", "time": "ts", "time_unit": "s"},
    "serve": {"listen": "127.0.0.1:0"},
    "admin": {"listen": "127.0.0.1:0"},
}


class Commands(law.LawCase):
    def setUp(self):
        self.folder = self.enterContext(processes.temp_folder("commands"))
        self.config = self.folder / "site.yaml"
        self.config.write_text(json.dumps(SITE))
        now_s = int(time.time())
        self.plays = self.write("plays.jsonl", [self.play(17, f"v{i}", now_s) for i in range(30)])
        self.others = self.write("others.jsonl", [self.play(18, f"v{i}", now_s) for i in range(30)])
        feed = [{**self.play(17, "v4711", now_s), "scene": "feed"}]
        self.write("feed.jsonl", feed)
        command = [plays.binary(), "dev", "--config", self.config, "--data", self.folder, "--plays", self.plays]
        self.dev = self.enterContext(processes.Process("dev", [*command, "--slot-seconds", "2"], self.folder))
        ready = self.dev.ready_line()
        self.server, self.bootstrap = ready["grpc"], ready["kafka"]
        processes.kcat_produce(self.bootstrap, "plays", [json.dumps(play) for play in feed])

    def play(self, user, item, at_s):
        return {"uid": user, "video_id": item, "ts": at_s}

    def write(self, name, events):
        path = self.folder / name
        path.write_text("".join(json.dumps(event) + "\n" for event in events))
        return path

    def typed(self, command, *words, code=0):
        """(standard output, standard error)."""
        ended, out, err = processes.run([plays.binary(), command, *words], BOUND_S, check=False)
        self.assertEqual(ended, code, err)
        return out, err

    def seen(self, user, item, *flags):
        out, _ = self.typed("query", "--server", self.server, "--user", user, *flags, item)
        return json.loads(out)["items"][0]["seen"]

    def test_commands(self):
        """commands: text is text, load reads a site's own fields, inspect shows every scene, a terminal gets no blob"""
        self.dev.wait_until(lambda: self.seen("17", "v29"), BOUND_S, "v29 seen")
        self.dev.wait_until(lambda: self.seen("17", "v4711", "--scene", "feed"), BOUND_S, "v4711 seen")
        for part in (self.text, self.load, self.inspect, self.terminal, self.refused):
            with self.subTest(part.__name__):
                part()

    def text(self):
        user = ["--server", self.server, "--user", "17", "--output", "text"]
        out, _ = self.typed("query", *user, "v1", "never")
        self.assertIn("user: 17\ncomplete: yes\n", out)
        self.assertRegex(out, r"\n  item +seen +reason")
        self.assertRegex(out, r"\n  v1 +yes +\w+")
        self.assertRegex(out, r"\n  never +no +-\n")
        self.assertEqual(self.typed("served", *user, "v90")[0], "user: 17\nrecorded: 1\n")
        self.assertEqual(self.typed("forget", *user, "v90")[0], "user: 17\nforgotten: v90\n")
        self.assertRegex(self.typed("snapshot", *user, "--test", "v1")[0], r"made at: 20\d\d-.*Z\n")

    def load(self):
        asked = ["--server", self.server, "--rate", "50", "--seconds", "1", "--warm-up-seconds", "0", "--served", "0"]
        asked += ["--candidates-min", "20", "--candidates-max", "20", "--config", self.config]
        out, _ = self.typed("load", *asked, "--plays-file", self.plays)
        self.assertEqual(json.loads(out)["candidates"]["played_unseen"], 0)
        out, err = self.typed("load", *asked, "--plays-file", self.others, code=3)
        self.assertGreater(json.loads(out)["candidates"]["played_unseen"], 0)
        self.assertIn("played items are unseen in complete answers; they must be 0", err)
        self.assertIn("whether their users have forgotten them", err)
        _, err = self.typed("load", *asked[:-2], "--plays-file", self.plays, code=2)
        self.assertIn("record 1 would be refused as missing_field", err)
        self.assertIn("with --config", err)

    def inspect(self):
        words = ["user", "--config", self.config, "--server", self.server, "--user", "17"]
        words += ["--set", f"store.path={self.folder / 'store'}", "--set", f"topics.partitions={PARTITIONS}"]
        self.typed("served", "--server", self.server, "--user", "17", "v91")

        def shown():
            # A play is recent for a lap, and what was typed before takes as long on a busy machine.
            fresh = json.dumps(self.play(17, f"v{time.monotonic_ns()}", int(time.time())))
            processes.kcat_produce(self.bootstrap, "plays", [fresh])
            found = json.loads(self.typed("inspect", *words)[0])
            self.assertEqual((found["user"], found["scene"]), ("17", ""))
            merged = found["filters"] and found["other_scenes"]
            return found if merged and found["served"] and found["recent"] else None

        found = self.dev.wait_until(shown, BOUND_S, "recent and served items, and filters of both scenes, to be shown")
        self.assertEqual([one["scene"] for one in found["other_scenes"]], ["feed"])
        out, _ = self.typed("inspect", *words, "--output", "text")
        self.assertIn("user: 17\n", out)
        self.assertIn("other scenes:\n  scene: feed\n", out)
        period = found["filters"][0]["period"]
        left_out = found["left_out"]["items"]
        self.assertEqual(found["left_out"]["filters"], [])
        # Known at once, and merged seconds later.
        self.typed("forget", "--server", self.server, "--user", "17", "v1")
        now_left_out = json.loads(self.typed("inspect", *words)[0])["left_out"]["items"]
        self.assertEqual([one["period"] for one in now_left_out], [period] * (len(left_out) + 1))
        self.typed("forget", "--server", self.server, "--user", "17", "--everything")
        forgotten = json.loads(self.typed("inspect", *words)[0])
        merged = "everything_until_ms" in forgotten["forgotten"]
        self.assertTrue(merged or forgotten["left_out"]["filters"] == [period], forgotten)
        _, err = self.typed("inspect", *words, "--scene", "feed", "--set", "events.scene=", code=2)
        self.assertIn('--scene is feed: events.scene is "", so scenes do not part filters', err)
        _, err = self.typed("inspect", "filter", *words[1:], "--period", "2026-13", code=2)
        self.assertRegex(err, r"--period is 2026-13: no filters are kept of it; name one from \d{4}-\d\d to \d{4}-\d\d")
        (self.folder / "empty").mkdir()
        ring = ["ring", *words[1:], "--set", f"state.path={self.folder / 'empty'}"]
        self.assertIn("has no state of these partitions", json.loads(self.typed("inspect", *ring)[0])["hint"])
        _, err = self.typed("inspect", *words, "--scene", "fed", code=2)
        self.assertIn("--scene is fed: nothing is known of this scene; did you mean feed? there are \"\", feed", err)
        self.inspect_declared(words)
        of_feed = json.loads(self.typed("inspect", *words, "--scene", "feed")[0])
        self.assertNotIn("other_scenes", of_feed)
        self.assertEqual(of_feed["scene"], "feed")

    def inspect_declared(self, words):
        """As a site asks that has declared its scenes, "" not among them, which is stored; and about nobody."""
        declared = [*words, "--set", "events.scenes=feed,kids"]
        shown = json.loads(self.typed("inspect", *declared)[0])
        self.assertEqual(list(shown), ["user", "other_scenes"])
        self.assertEqual([one["scene"] for one in shown["other_scenes"]], ["", "feed"])
        _, err = self.typed("inspect", *declared, "--scene", "kid", code=2)
        self.assertIn("nothing is known of this scene; did you mean kids? there are \"\", feed, kids", err)
        for asked in (words, declared):
            _, err = self.typed("inspect", *["nobody" if word == "17" else word for word in asked])
            self.assertIn("nothing is known of user nobody: no filter, no recent play, nothing served", err)

    def terminal(self):
        blob = self.folder / "17.snapshot"
        with open(blob, "wb") as out:
            asked = [plays.binary(), "snapshot", "--server", self.server, "--user", "17"]
            subprocess.run(asked, stdout=out, check=True)
        self.assertGreater(blob.stat().st_size, 0)
        master, terminal = pty.openpty()
        with os.fdopen(master), os.fdopen(terminal, "wb") as out:
            asked = [plays.binary(), "snapshot", "--from", blob]
            ended = subprocess.run(asked, stdout=out, stderr=subprocess.PIPE, check=False, timeout=60)
        self.assertEqual(ended.returncode, 2)
        self.assertIn(b"standard output is a terminal: send it to a file", ended.stderr)

    def refused(self):
        missing = ["--config", self.config, "--set", "state.path=/nonexistent/state"]
        missing += ["--set", f"store.path={self.folder / 'store'}", "--set", f"topics.partitions={PARTITIONS}"]
        _, err = self.typed("inspect", "ring", *missing, code=2)
        self.assertIn("state.path /nonexistent/state is not a folder on this machine; name the state.path of a", err)
        _, err = self.typed("inspect", "store", "--set", "store.path=/nonexistent", code=2)
        self.assertIn("store.path /nonexistent does not exist; name the folder of the filter store", err)
        _, err = self.typed("query", "--timeout-ms", "0", "--user", "17", "v1", code=2)
        self.assertIn("--timeout-ms: Value 0 not in range", err)
        for flag, *words in (("--config", "check"), ("--plays", "dev"), ("--plays-file", "load")):
            _, err = self.typed(*words, flag, "/nope", code=2)
            self.assertRegex(err, rf"{flag}: '?/nope'?:? cannot be read: No such file or directory; name a")
        _, err = self.typed("query", "--server", "127.0.0.1", "--user", "17", "v1", code=2)
        self.assertIn("--server: 127.0.0.1 must be HOST:PORT, as 127.0.0.1:7700", err)
        _, err = self.typed("query", "--server", "127.0.0.1:1", "--user", "17", "v1", code=1)
        self.assertIn("nothing listens there: --server must be the address", err)
        _, err = self.typed("served", "--server", self.server, "--user", "17", code=2)
        self.assertIn("there are no items to record", err)
