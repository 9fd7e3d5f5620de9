"""`bloomring run` under a supervisor that listens as systemd does: a Unix datagram socket in NOTIFY_SOCKET."""

import contextlib
import re
import socket

import installation
import one_broker
import processes

STALL_S = 2
WATCHDOG_S = 2  # A sign of life each second.


class Supervisor:
    """The socket, and what came: a list of {NAME: value}."""

    def __init__(self, name):
        self.name = name
        self.heard = []
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(name.replace("@", "\0", 1) if name.startswith("@") else name)
        self.socket.setblocking(False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def listen(self):
        with contextlib.suppress(BlockingIOError):
            while True:
                lines = self.socket.recv(4096).decode().splitlines()
                self.heard.append(dict(line.split("=", 1) for line in lines))
        return self.heard

    def count(self, name):
        return sum(name in one for one in self.listen())


class UnderASupervisor(one_broker.OneBrokerCase):
    def site(self, name, **process):
        admin = f"127.0.0.1:{processes.free_port()}"
        return installation.Installation(
            self.folder, self.server.bootstrap, name, admin={"listen": admin}, process=process
        ), admin

    def run_under(self, name, socket_name):
        """Waits for a topic first, then is ready, then ends: what a supervisor hears meanwhile."""
        site, admin = self.site(name, start_seconds=0)
        with Supervisor(socket_name) as supervisor:
            run = site.process("merge", env={"NOTIFY_SOCKET": socket_name})
            run.command += ["--set", "topics.user_batches=later-" + name]
            with run:
                run.wait_until(lambda: "does not exist" in run.err.read_text(), 60, "it to wait for its topic")
                self.assertEqual(processes.http_get(admin, "/readyz")[0], 503)
                self.assertEqual(supervisor.listen(), [])
                site.command("topics", "--execute", "--set", "topics.user_batches=later-" + name)
                run.wait_until(lambda: supervisor.count("READY"), 60, "READY=1")
                self.assertEqual(processes.http_get(admin, "/readyz")[0], 200)
                run.ready_line(60)
                self.assertEqual(supervisor.count("STOPPING"), 0)
                self.assertEqual(run.term(), 0)
            return supervisor.listen()

    def check_heard(self, heard):
        self.assertEqual([{**one, "STATUS": ""} for one in heard], [{"READY": "1", "STATUS": ""}, {"STOPPING": "1", "STATUS": ""}])
        self.assertRegex(heard[0]["STATUS"], r"^ready; admin 127\.0\.0\.1:\d+$")

    def test_path(self):
        """supervisor: a socket of a path hears READY=1 when the process is ready and no sooner, and STOPPING=1 before its end"""
        self.check_heard(self.run_under("path", str(self.folder / "notify")))

    def test_abstract(self):
        """supervisor: so does a socket of the abstract namespace"""
        self.check_heard(self.run_under("abstract", f"@bloomring-test-{processes.free_port()}"))

    def test_watchdog(self):
        """supervisor: signs of life come while the process is alive, and none while a task stands still"""
        site, admin = self.site("beats", stall_seconds=STALL_S)
        name = f"@bloomring-test-{processes.free_port()}"
        stalls = f"window.staged:1=stall:{8 * STALL_S * 1000}"
        with Supervisor(name) as supervisor:
            beats = {"NOTIFY_SOCKET": name, "WATCHDOG_USEC": str(WATCHDOG_S * 1_000_000), "BLOOMRING_FAULT_POINT": stalls}
            with site.process("ingest,window,merge,serve", env=beats) as run:
                run.ready_line(60)
                run.wait_until(lambda: supervisor.count("WATCHDOG") >= 2, 60, "two signs of life")
                site.play(["v1"])
                run.wait_until(lambda: processes.http_get(admin, "/healthz")[0] == 503, 60, "a task to stand still")
                supervisor.listen()
                before = supervisor.count("WATCHDOG")
                run.wait_until(lambda: processes.http_get(admin, "/healthz")[0] == 200, 60, "the task to go on")
                # One may have been on its way on either side of the 12 seconds for which the process was not alive.
                self.assertLessEqual(supervisor.count("WATCHDOG") - before, 2)
                run.wait_until(lambda: supervisor.count("WATCHDOG") >= before + 4, 60, "signs of life again")
                self.assertEqual(run.term(), 0)

    def test_deaf(self):
        """supervisor: one that is not there is a warning, and the process runs"""
        site, _ = self.site("deaf")
        with site.process("merge", env={"NOTIFY_SOCKET": str(self.folder / "nobody")}) as run:
            run.ready_line(60)
            run.wait_until(lambda: re.search(r"warning the supervisor at \S+ takes nothing", run.err.read_text()), 30, "a warning")
            self.assertEqual(run.term(), 0)
