"""Child processes of the tests that use real parts: started in their own process group, always ended.

Nothing here waits by sleeping a guessed time: wait_for() asks again until a condition holds, within a bound.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
POLL_S = 0.05
PATIENCE = float(os.environ.get("BLOOMRING_PATIENCE") or 1)  # of every bound: sanitized processes are slow
BROKER_BOUND_S = 30  # of what kcat asks a broker once; by itself it gives up after 5 s
_ports_taken = []


class Failed(AssertionError):
    """Something outside did not do what the test needs; the message says what, and where its output lies."""


def wait_for(condition, bound_s, what):
    """The first true value of condition(), asked every POLL_S; Failed when bound_s have passed without one."""
    bound_s *= PATIENCE
    end = time.monotonic() + bound_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= end:
            raise Failed(f"not within {bound_s} s: {what() if callable(what) else what}")
        time.sleep(POLL_S)


def quiet_slot_seconds():
    """The length of slots of about an hour of which none ends soon: slots begin at multiples of their length."""
    return max(range(3000, 3601, 100), key=lambda seconds: seconds - time.time() % seconds)


def free_port():
    """A port of the loopback address that nobody listens on, below the range from which the kernel gives outgoing
    connections theirs, so that a server that is killed finds it free again. As long as this program runs, no other one that
    calls this gets it: modules run side by side, and a server takes its port seconds later."""
    for _ in range(200):
        port = random.SystemRandom().randrange(10000, 32000)
        taken = socket.socket(socket.AF_UNIX)
        try:
            taken.bind(f"\0bloomring-test-port-{port}")  # A name that goes with the program.
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            taken.close()
            continue
        _ports_taken.append(taken)
        return port
    raise Failed("no free port between 10000 and 32000")


@contextlib.contextmanager
def temp_folder(name):
    """An own folder under $TMPDIR: removed after success; kept, and its path printed, after a failure or when
    BLOOMRING_KEEP is set."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"bloomring-{name}-"))
    try:
        yield folder
    except BaseException:
        print(f"kept for a look: {folder}", file=sys.stderr, flush=True)
        raise
    if os.environ.get("BLOOMRING_KEEP"):
        print(f"kept: {folder}", file=sys.stderr, flush=True)
    else:
        shutil.rmtree(folder, ignore_errors=True)


_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def _die_with_parent():
    """For a child before its program begins: the kernel kills it when the thread that has started it ends."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Process:
    """One child with its own process group, its output in NAME.out and NAME.err of a folder (appended to by a
    restart). A context manager: leaving it ends the whole group. Started from the main thread it also dies with us."""

    def __init__(self, name, command, folder, env=None):
        self.name = name
        self.command = [str(part) for part in command]
        self.folder = pathlib.Path(folder)
        self.out = self.folder / f"{name}.out"
        self.err = self.folder / f"{name}.err"
        self._env = {**os.environ, **(env or {})}
        self._child = None
        self._out_start = 0

    @property
    def pid(self):
        return self._child.pid

    def start(self, env=None):
        """env: more variables, for this start only."""
        assert not self.running(), f"{self.name} runs already"
        main = threading.current_thread() is threading.main_thread()
        with open(self.out, "ab") as out, open(self.err, "ab") as err:
            self._out_start = out.tell()
            self._child = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env={**self._env, **(env or {})},
                start_new_session=True,
                preexec_fn=_die_with_parent if main else None,
            )
        return self

    def running(self):
        return self._child is not None and self._child.poll() is None

    def output(self):
        """Its standard output since its last start."""
        with open(self.out, "rb") as out:
            out.seek(self._out_start)
            return out.read().decode(errors="replace")

    def tail(self, lines=15):
        text = self.err.read_text(errors="replace").splitlines() if self.err.exists() else []
        return "\n".join(text[-lines:])

    def log_size(self):
        return self.err.stat().st_size if self.err.exists() else 0

    def logged_since(self, size, words):
        """Whether its log says these words behind its first `size` bytes."""
        with open(self.err, "rb") as log:
            log.seek(size)
            return words.encode() in log.read()

    def describe(self, what):
        state = "runs" if self.running() else f"ended with {self._child.returncode if self._child else 'nothing'}"
        return f"{self.name}: {what} ({state}); the end of {self.err}:\n{self.tail()}"

    def wait_until(self, condition, bound_s, what):
        """wait_for() that gives up at once when the process has ended."""

        def check():
            value = condition()
            if not value and not self.running():
                raise Failed(self.describe(f"ended before {what}"))
            return value

        return wait_for(check, bound_s, lambda: self.describe(what))

    def ready(self):
        """The JSON line {"ready":true,...} that bloomring prints when it serves, or None."""
        for line in self.output().splitlines(keepends=True):
            if line.startswith("{") and line.endswith("\n"):
                with contextlib.suppress(json.JSONDecodeError):
                    fields = json.loads(line)
                    if fields.get("ready"):
                        return fields
        return None

    def ready_line(self, bound_s=60):
        return self.wait_until(self.ready, bound_s, "its ready line")

    def _signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._child.pid, number)

    def signal(self, name):
        """A signal by its name, "SIGSTOP", to the whole group."""
        self._signal(signal.Signals[name])

    def kill9(self):
        """kill -9 of the whole group, as a machine that loses power would."""
        assert self.running(), self.describe("should have been running when it was to be killed")
        self._signal(signal.SIGKILL)
        self._child.wait()

    def stall(self):
        """SIGSTOP: it keeps its sockets and files and does nothing, as on a machine that is swapped out."""
        self._signal(signal.SIGSTOP)

    def resume(self):
        self._signal(signal.SIGCONT)

    def ask_to_end(self):
        """SIGTERM, without waiting."""
        self._signal(signal.SIGTERM)

    def ask_to_leave(self):
        """SIGUSR1: it ends and does not come back."""
        self._signal(signal.SIGUSR1)

    def exit_code(self):
        """None while it runs; negative: the signal that ended it."""
        return self._child.poll() if self._child else None

    def term(self, bound_s=30):
        """SIGTERM; the exit code."""
        if self.running():
            self.ask_to_end()
        return self.wait(bound_s)

    def wait(self, bound_s=30):
        try:
            return self._child.wait(bound_s * PATIENCE)
        except subprocess.TimeoutExpired:
            raise Failed(self.describe(f"did not end within {bound_s} s")) from None

    def end(self):
        """Whatever it does: gone, with everything it started."""
        if self._child is not None:
            self._signal(signal.SIGKILL)
            self._child.wait()

    def __enter__(self):
        return self.start()

    def __exit__(self, failure, *_):
        self.end()
        if failure is None and self.logged_sanitizer():
            raise Failed(self.describe("a sanitizer has reported something"))

    def logged_sanitizer(self):
        """Whether a sanitizer of a build that has one says in the log that something is wrong."""
        words = [b"ERROR: AddressSanitizer", b"ERROR: LeakSanitizer", b"WARNING: ThreadSanitizer", b": runtime error: "]
        log = self.err.read_bytes() if self.err.exists() else b""
        return any(word in log for word in words)


def http_get(address, path, bound_s=10):
    """(status, text) of a loopback HTTP address."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://{address}{path}", timeout=bound_s * PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace")


def parse_metrics(text):
    """{(name, ((label, value), ...)): number} of a Prometheus text page; labels are sorted."""
    found = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        if "{" in line:
            name, _, rest = line.partition("{")
            inside, _, number = rest.rpartition("} ")
            labels, at = [], 0
            while at < len(inside):
                key, _, after = inside[at:].partition('="')
                value, i = "", 0
                while after[i] != '"':
                    if after[i] == "\\":
                        i += 1
                        value += {"n": "\n"}.get(after[i], after[i])
                    else:
                        value += after[i]
                    i += 1
                labels.append((key.strip(", "), value))
                at += len(key) + 2 + i + 1
            found[(name, tuple(sorted(labels)))] = float(number.split()[0])
        else:
            name, number = line.split()[:2]
            found[(name, ())] = float(number)
    return found


def metrics(address, bound_s=10):
    status, text = http_get(address, "/metrics", bound_s)
    if status != 200:
        raise Failed(f"/metrics of {address} answered {status}")
    return parse_metrics(text)


def values(found, name, **labels):
    """The numbers of every series of name that carries these labels."""
    return [
        number
        for (series, series_labels), number in found.items()
        if series == name and all((k, str(v)) in series_labels for k, v in labels.items())
    ]


def window_has_read(admin, events):
    """Whether the window stage has read so many events, and all that the log holds. Ingest asks the brokers' time with
    events of its own, so there may be more."""
    found = metrics(admin)
    read = sum(values(found, "bloomring_window_events_total"))
    return read >= events and sum(values(found, "bloomring_processing_lag_records", stage="window")) == 0


def resident_mib(pid, peak=False):
    """Resident memory of a process: now, or the most that it ever had."""
    name = "VmHWM:" if peak else "VmRSS:"
    for line in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith(name):
            return int(line.split()[1]) / 1024
    raise Failed(f"no {name} of process {pid}")


def run(command, bound_s=60, stdin=None, check=True, cwd=None):
    """A command to its end, (exit code, stdout, stderr); with check, a failure is Failed with its last words. Whatever
    thread calls waits here, so the command dies with us, also when we are killed."""
    words = [str(part) for part in command]
    with subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        text=True,
        errors="surrogateescape",
        start_new_session=True,
        preexec_fn=_die_with_parent,
    ) as child:
        try:
            out, err = child.communicate(stdin, timeout=bound_s * PATIENCE)
        except BaseException as failure:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)  # what it has started, too
            out, err = child.communicate()
            if isinstance(failure, subprocess.TimeoutExpired):
                raise Failed(f"{' '.join(words)} did not end within {bound_s} s:\n{err[-2000:]}") from None
            raise
    if check and child.returncode != 0:
        raise Failed(f"{' '.join(words)} ended with {child.returncode}:\n{err[-2000:]}")
    return child.returncode, out, err


def kcat_produce(bootstrap, topic, lines, properties=(), bound_s=120):
    """One record a line, acknowledged by every in-sync replica when this returns. Bytes that are not UTF-8 are written
    as Python's surrogate escapes, here and in what is consumed."""
    options = [part for name in ("acks=all", *properties) for part in ("-X", name)]
    run(["kcat", "-P", "-b", bootstrap, "-t", topic, *options], bound_s, stdin="".join(f"{line}\n" for line in lines))


def kcat_consume(bootstrap, topic, bound_s=60):
    """Every record of the topic from its beginning: dictionaries of partition, offset, headers (the text k=v,k=v) and
    payload. (kcat's own JSON form cannot carry bytes that are not UTF-8.)"""
    _, out, _ = run(
        [
            *("kcat", "-C", "-b", bootstrap, "-m", BROKER_BOUND_S, "-t", topic, "-o", "beginning", "-e", "-q"),
            *("-f", r"%p\x1f%o\x1f%h\x1f%s\x1e"),
        ],
        bound_s,
    )
    return [
        dict(zip(("partition", "offset", "headers", "payload"), record.split("\x1f"), strict=True))
        for record in out.split("\x1e")[:-1]
    ]


def end_offsets(bootstrap, topic, partitions, bound_s=BROKER_BOUND_S):
    """The log end of each partition, as the broker says it."""
    wanted = [part for i in range(partitions) for part in ("-t", f"{topic}:{i}:-1")]
    _, out, _ = run(["kcat", "-Q", "-b", bootstrap, "-m", bound_s, *wanted])
    found = {}
    for line in out.splitlines():  # plays [3] offset 17
        _, partition, _, offset = line.split()
        found[int(partition.strip("[]"))] = int(offset)
    return found
