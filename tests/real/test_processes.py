"""The helpers themselves: a test that leaves processes behind, or reads metrics wrongly, proves nothing."""

import os
import sys

import law
import plays
import processes


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def python(name, program, folder):
    return processes.Process(name, [sys.executable, "-u", "-c", program], folder)


class Processes(law.LawCase):
    def test_group_ends(self):
        """process: leaving the block ends the child and what it has started"""
        program = "import subprocess; c = subprocess.Popen(['sleep', '600']); print(c.pid); c.wait()"
        with processes.temp_folder("processes") as folder:
            with python("parent", program, folder) as parent:
                grandchild = int(processes.wait_for(parent.output, 30, "the pid of the grandchild"))
                self.assertTrue(alive(grandchild))
            processes.wait_for(lambda: not alive(grandchild), 10, "the grandchild to end")
            self.assertFalse(parent.running())

    def test_ready_line(self):
        """process: the ready line is found among others, and again after kill -9 and a start"""
        program = (
            "import sys, json; print('{}'); print(json.dumps({'ready': True, 'grpc': '127.0.0.1:1'})); sys.stdin.read(); "
            "import signal; signal.pause()"
        )
        with processes.temp_folder("processes") as folder, python("child", program, folder) as child:
            self.assertEqual(child.ready_line()["grpc"], "127.0.0.1:1")
            child.kill9()
            self.assertFalse(child.running())
            child.start()
            self.assertEqual(child.ready_line()["grpc"], "127.0.0.1:1")
            self.assertEqual(child.out.read_text().count("ready"), 2)
            self.assertEqual(child.term(), -15)

    def test_early_end(self):
        """process: one that ends before it is ready fails at once, with its last words"""
        with (
            processes.temp_folder("processes") as folder,
            python("child", "import sys; sys.exit('no such broker')", folder) as child,
        ):
            with self.assertRaisesRegex(processes.Failed, r"ended before its ready line[^$]*no such broker"):
                child.ready_line(bound_s=60)

    def test_command_bound(self):
        """command: one that does not end within its bound is killed with what it has started"""
        with processes.temp_folder("processes") as folder:
            pid = folder / "pid"
            with self.assertRaisesRegex(processes.Failed, "did not end within 3 s"):
                processes.run(["bash", "-c", f"tail -f /dev/null & echo $! >{pid}; wait"], bound_s=3)
            processes.wait_for(lambda: not alive(int(pid.read_text())), 10, "the grandchild to end")

    def test_command_of_the_killed(self):
        """command: one that a thread waits for dies with the program, also when that is killed"""
        with processes.temp_folder("processes") as folder:
            pid = folder / "pid"
            command = ["bash", "-c", f"echo $$ >{pid}.part; mv {pid}.part {pid}; exec sleep 600"]
            program = (
                f"import sys, threading; sys.path.insert(0, {str(processes.ROOT / 'tests' / 'real')!r}); import processes; "
                f"threading.Thread(target=processes.run, args=({command!r}, 600)).start()"
            )
            with python("parent", program, folder) as parent:
                parent.wait_until(pid.exists, 20, "its command to run")
                child = int(pid.read_text())
                self.assertTrue(alive(child))
                parent.kill9()
                processes.wait_for(lambda: not alive(child), 10, "the command to end")

    def test_metrics(self):
        """metrics: labels, escapes and plain series of a Prometheus page are read"""
        page = (
            '# HELP x y\n# TYPE x counter\nx_total{reason="a, b",topic="q\\"{}\\\\"} 12 1700000000\nx_total{reason="c"} 1e3\n'
            "plain 0.5\n"
        )
        found = processes.parse_metrics(page)
        self.assertEqual(found[("x_total", (("reason", "a, b"), ("topic", 'q"{}\\')))], 12)
        self.assertEqual(processes.values(found, "x_total", reason="c"), [1000])
        self.assertEqual(sum(processes.values(found, "x_total")), 1012)
        self.assertEqual(found[("plain", ())], 0.5)


class Plays(law.LawCase):
    def test_file(self):
        """plays: the file has the rows and users that its description promises"""
        rows = plays.read()
        self.assertEqual(len(rows), 41828)
        oracle = plays.by_user(rows)
        self.assertEqual(len(oracle), 664)
        self.assertEqual(sum(map(len, oracle.values())), 41828 - 433)

    def test_shift(self):
        """plays: moved in time they keep their distances and end at the given moment"""
        rows, moved = plays.read(), plays.read(last_play_ms=1_800_000_000_000)
        self.assertEqual(max(play.time_ms for play in moved), 1_800_000_000_000)
        self.assertEqual(
            {b.time_ms - a.time_ms for a, b in zip(rows, moved, strict=True)},
            {1_800_000_000_000 - max(play.time_ms for play in rows)},
        )
