"""The operations page of a running process: HTML, JSON, text and the terminal show the same as /metrics."""

import contextlib
import http.client
import json
import pathlib
import re
import shutil
import time
import zlib

import law
import plays
import processes

PLAYS = 40
USER = "user-of-the-page"
SECRET = "hunter2-of-the-page"
GROUNDS = {"light": (0xFF, 0xFF, 0xFF), "dark": (0x14, 0x17, 0x1B)}  # Of pipeline/page/palette.h.


def get(admin, path):
    """(status, headers, text)"""
    connection = http.client.HTTPConnection(admin, timeout=10 * processes.PATIENCE)
    with contextlib.closing(connection):
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()


def pixels(path):
    """(width, height, the RGB of each pixel of the left column) of a PNG of 8 bits a channel without interlace."""
    data = path.read_bytes()
    width, height, depth, kind = int.from_bytes(data[16:20]), int.from_bytes(data[20:24]), data[24], data[25]
    channels = {2: 3, 6: 4}[kind]
    assert depth == 8
    at, packed = 8, b""
    while at < len(data):
        size = int.from_bytes(data[at : at + 4])
        if data[at + 4 : at + 8] == b"IDAT":
            packed += data[at + 8 : at + 8 + size]
        at += 12 + size
    raw, row, column = zlib.decompress(packed), bytearray(width * channels), []
    for y in range(height):
        begin = y * (width * channels + 1)
        how, line = raw[begin], bytearray(raw[begin + 1 : begin + 1 + width * channels])
        for i in range(channels):  # The first pixel has nothing on its left.
            line[i] = (line[i] + (row[i] if how in (2, 4) else row[i] // 2 if how == 3 else 0)) & 255
        column.append(tuple(line[:3]))
        row = line
    return width, height, column


class Page(law.LawCase):
    """One process with every stage, that has read some plays."""

    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        cls.folder = cls.stack.enter_context(processes.temp_folder("page"))
        path = cls.folder / "site.yaml"
        path.write_text(f"kafka:\n  properties:\n    sasl.password: {SECRET}\ninstance: site-of-the-page\n")
        path.chmod(0o600)
        command = [plays.binary(), "dev", "--config", path, "--data", cls.folder / "data", "--slot-seconds", "20"]
        cls.process = cls.stack.enter_context(processes.Process("dev", command, cls.folder))
        cls.ready = cls.process.ready_line()
        cls.admin = cls.ready["admin"]
        now_ms = int(time.time() * 1000)
        lines = [json.dumps({"user": f"{USER}-{n % 9}", "item": f"item-{n}", "time": now_ms}) for n in range(PLAYS)]
        processes.kcat_produce(cls.ready["kafka"], "plays", [*lines, "no play"])
        cls.process.wait_until(cls.all_is_on_the_page, 60, "the page to show every play")

    @classmethod
    def tearDownClass(cls):
        cls.stack.close()

    @classmethod
    def json_page(cls):
        return json.loads(get(cls.admin, "/?format=json")[2])

    @classmethod
    def stages(cls):
        return {stage["stage"]: stage for stage in cls.json_page()["stages"]}

    @classmethod
    def all_is_on_the_page(cls):
        """Ingest has read every record, and the stages behind it are at the ends of their logs."""
        stages = cls.stages()
        read = sum(one.get("applied", 0) for one in stages.get("ingest", {}).get("partitions", []))
        return read == PLAYS + 1 and all(stages[name].get("lag_records") == 0 for name in ("window", "serve"))

    def test_values(self):
        """page: each partition has the offsets, the ring and the store of /status, and those of /metrics"""

        def same():
            before, page, found = processes.metrics(self.admin), self.stages(), processes.metrics(self.admin)
            if before.keys() != found.keys():
                return False
            for name, stage in page.items():
                for one in stage["partitions"]:
                    at = {"stage": name, "topic": one["topic"], "partition": one["partition"]}
                    for field, metric in (("applied", "applied_offset"), ("committed", "committed_offset")):
                        if ([one[field]] if field in one else []) != processes.values(found, f"bloomring_{metric}", **at):
                            return False
            slots = [state for one in page["window"]["partitions"] for state in one["ring"]["slot_states"]]
            for state in ("filling", "sealed", "draining", "merged", "free"):
                if [slots.count(state)] != processes.values(found, "bloomring_slots", state=state):
                    return False
            return len(slots) > 0 and page["merge"]["store"]["bytes_on_disk"] > 0

        # The page is as of at most two seconds ago, and slots turn meanwhile.
        self.process.wait_until(same, 60, "the page to agree with /metrics")
        self.assertEqual(set(self.stages()), {"ingest", "window", "merge", "serve"})

    def test_forms(self):
        """page: HTML and text show what the JSON says, and each form has its type and its guards"""
        for path, kind in (("/", "text/html"), ("/?format=html", "text/html"), ("/?format=text", "text/plain"), ("/?format=json", "application/json")):
            status, headers, text = get(self.admin, path)
            self.assertEqual(status, 200)
            self.assertTrue(headers["Content-Type"].startswith(kind), path)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Cache-Control"], "no-store")
            self.assertRegex(headers["Content-Security-Policy"], r"^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; ")
            self.assertIn("site-of-the-page", text)
            self.assertNotIn(USER, text)
            self.assertNotIn(SECRET, text)
            self.assertLess(len(text), 100_000)
        page, html, text = self.json_page(), get(self.admin, "/")[2], get(self.admin, "/?format=text")[2]
        self.assertEqual(page["verdict"], "READY" if page["ready"] else "NOT READY")
        self.assertIn("sasl.password", page["configuration"])
        self.assertIn("bloomring dev sets the brokers", page["configuration"])
        partitions = len(page["stages"][1]["partitions"])
        for stage in ("ingest", "window", "merge", "serve"):
            self.assertRegex(text, rf"(?m)^  {stage} +\d+ +[\d.,-]+ +[\d,-]+ +[\d.,]+")
            self.assertIn(f'<th scope="row">{stage}</th>', html)
        self.assertEqual(html.count(">Ring of partition "), partitions)
        self.assertIn(self.ready["grpc"], html)
        self.assertIn(self.ready["grpc"], text)

    def test_warning(self):
        """page: the play that was refused is among the last warnings, in each form"""
        self.process.wait_until(
            lambda: any("play records were refused" in line["message"] for line in self.json_page()["recent"]), 90, "the warning"
        )
        for path in ("/", "/?format=text"):
            self.assertIn("play records were refused", get(self.admin, path)[2])

    def test_command(self):
        """page: `bloomring status` shows the page as text and JSON, and says where none answers"""
        _, text, _ = processes.run([plays.binary(), "status", "--admin", self.admin])
        self.assertTrue(text.startswith("bloomring site-of-the-page: "), text)
        self.assertIn("\nSTAGES\n", text)
        _, page, _ = processes.run([plays.binary(), "status", "--set", f"admin.listen={self.admin}", "--output", "json"])
        self.assertEqual(json.loads(page)["instance"], "site-of-the-page")
        nobody = f"127.0.0.1:{processes.free_port()}"
        code, out, err = processes.run([plays.binary(), "status", "--admin", nobody], check=False)
        self.assertEqual((code, out), (1, ""))
        self.assertIn(f"the process at {nobody} (--admin HOST:PORT, its admin.listen) does not answer with its page", err)
        code, _, err = processes.run([plays.binary(), "status", "--admin", self.ready["grpc"]], check=False)
        self.assertEqual(code, 1)
        self.assertIn("a gRPC port answers there (serve.listen?), and it has no pages: ask at admin.listen", err)
        code, _, err = processes.run([plays.binary(), "status", "--every", "3"], check=False)
        self.assertEqual(code, 2, err)

    def test_watch(self):
        """page: `bloomring status --watch` shows it again and again, also where nobody answers, and ends by a signal"""
        for name, admin, words in (("watch", self.admin, "bloomring site-of-the-page: "), ("none", f"127.0.0.1:{processes.free_port()}", "does not answer with its page")):
            command = [plays.binary(), "status", "--admin", admin, "--watch", "--every", "1"]
            with processes.Process(name, command, self.folder) as watch:
                shown = watch.wait_until(
                    lambda watch=watch, words=words: watch.out.read_text().count(words) >= 3 and watch.out.read_text(), 60, "three pages"
                )
                self.assertNotIn("\x1b", shown)  # It is no terminal.
                watch.ask_to_end()
                self.assertEqual(watch.wait(), 0)

    def test_browser(self):
        """page: a browser draws it with its own stylesheet, light and dark, and calls nothing else"""
        browser = shutil.which("chromium")
        if browser is None:
            print("\nno chromium on this machine: no browser has drawn the page", flush=True)
            return
        for scheme, number in (("light", 1), ("dark", 0)):
            picture = self.folder / f"{scheme}.png"
            flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1200,900", f"--user-data-dir={self.folder / scheme}"]
            flags += [f"--blink-settings=preferredColorScheme={number}", f"--screenshot={picture}", "--enable-logging=stderr"]
            _, _, err = processes.run([browser, *flags, f"http://{self.admin}/"], bound_s=120)
            self.assertNotRegex(err, r"CONSOLE.*(Refused|Content Security Policy)")
            width, height, column = pixels(picture)
            self.assertEqual((width, height), (1200, 900))
            # Where the policy refused the stylesheet, the ground of the dark page would be the browser's own.
            self.assertEqual(set(column), {GROUNDS[scheme]})

    def test_palette(self):
        """page: the grounds that the test of the browser looks for are those of the palette"""
        source = (pathlib.Path(processes.ROOT) / "pipeline/page/palette.h").read_text()
        for name, scheme in (("kLight", "light"), ("kDark", "dark")):
            ground = re.search(rf"{name} = \{{0x([0-9a-f]{{6}}),", source)[1]
            self.assertEqual(tuple(bytes.fromhex(ground)), GROUNDS[scheme])
