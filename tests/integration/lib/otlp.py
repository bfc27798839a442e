# SPDX-License-Identifier: BSD-2-Clause
"""A receiver of OTLP for tests, which can misbehave, and a strict decoder of its requests: a field
that gpuprobe should not write is an error. The numbers are those of opentelemetry-proto; the same
schema is in otlp.proto."""
import gzip
import http.server
import ssl
import struct
import threading
import time
from dataclasses import dataclass, field

# Field numbers: (name, kind); kinds: t text, m message, r repeated message, u varint, i int64,
# f fixed64, d double, s sfixed64, p packed fixed64.
ANY = {1: ("string", "t", None), 3: ("int", "i", None)}
PAIR = {1: ("key", "t", None), 2: ("value", "m", ANY)}
RESOURCE = {1: ("attributes", "r", PAIR)}
SCOPE = {1: ("name", "t", None), 2: ("version", "t", None)}
NUMBER = {2: ("start", "f", None), 3: ("time", "f", None), 4: ("double", "d", None),
          6: ("int", "s", None), 7: ("attributes", "r", PAIR), 8: ("flags", "u", None)}
HISTOGRAM_POINT = {2: ("start", "f", None), 3: ("time", "f", None), 4: ("count", "f", None),
                   5: ("sum", "d", None), 6: ("buckets", "p", None), 9: ("attributes", "r", PAIR),
                   10: ("flags", "u", None)}
GAUGE = {1: ("points", "r", NUMBER)}
SUM = {1: ("points", "r", NUMBER), 2: ("temporality", "u", None), 3: ("monotonic", "u", None)}
HISTOGRAM = {1: ("points", "r", HISTOGRAM_POINT), 2: ("temporality", "u", None)}
METRIC = {1: ("name", "t", None), 2: ("description", "t", None), 3: ("unit", "t", None),
          5: ("gauge", "m", GAUGE), 7: ("sum", "m", SUM), 9: ("histogram", "m", HISTOGRAM)}
SCOPE_METRICS = {1: ("scope", "m", SCOPE), 2: ("metrics", "r", METRIC)}
RESOURCE_METRICS = {1: ("resource", "m", RESOURCE), 2: ("scopes", "r", SCOPE_METRICS)}
METRICS = {1: ("resources", "r", RESOURCE_METRICS)}
LOG = {1: ("time", "f", None), 2: ("severity", "u", None), 3: ("severity_text", "t", None),
       5: ("body", "m", ANY), 6: ("attributes", "r", PAIR), 11: ("observed", "f", None),
       12: ("event", "t", None)}
SCOPE_LOGS = {1: ("scope", "m", SCOPE), 2: ("logs", "r", LOG)}
RESOURCE_LOGS = {1: ("resource", "m", RESOURCE), 2: ("scopes", "r", SCOPE_LOGS)}
LOGS = {1: ("resources", "r", RESOURCE_LOGS)}

WIRE = {"t": 2, "m": 2, "r": 2, "p": 2, "u": 0, "i": 0, "f": 1, "d": 1, "s": 1}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return value, at


def scalar(kind, raw):
    if kind == "t":
        return raw.decode("utf-8")
    if kind == "i":
        return raw - (1 << 64) if raw >> 63 else raw
    if kind == "p":
        return list(struct.unpack(f"<{len(raw) // 8}Q", raw))
    if kind in "fds":
        return struct.unpack({"f": "<Q", "d": "<d", "s": "<q"}[kind], raw)[0]
    return raw


def decode(data, schema):
    """A message as a dictionary; a message of a KeyValue list is one of names."""
    found, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        name, kind, inner = schema[tag >> 3]
        assert tag & 7 == WIRE[kind], (name, tag & 7)
        if tag & 7 == 0:
            raw, at = varint(data, at)
        else:
            length = 8
            if tag & 7 == 2:
                length, at = varint(data, at)
            raw, at = data[at:at + length], at + length
            assert len(raw) == length, f"{name} is cut"
        if inner:
            raw = decode(raw, inner)
        else:
            raw = scalar(kind, raw)
        if kind == "r":
            found.setdefault(name, []).append(raw)
        else:
            assert name not in found, f"{name} twice"
            found[name] = raw
    return found


def attributes(of):
    pairs = [(pair["key"], next(iter(pair["value"].values()))) for pair in of.get("attributes", [])]
    assert len(dict(pairs)) == len(pairs), pairs
    return dict(pairs)


@dataclass
class Point:
    resource: dict
    name: str
    unit: str
    kind: str  # gauge, sum, up_down, histogram
    attributes: dict
    value: object  # of a histogram (count, sum); None: the series ends here
    start: int
    time: int


def points_of(data):
    """All data points of a request."""
    found = []
    for resource in decode(data, METRICS)["resources"]:
        for scope in resource["scopes"]:
            assert scope["scope"]["name"] == "gpuprobe"
            for metric in scope["metrics"]:
                found += points_of_metric(attributes(resource["resource"]), metric)
    return found


def points_of_metric(resource, metric):
    kind = next(kind for kind in ("gauge", "sum", "histogram") if kind in metric)
    data = metric[kind]
    if kind != "gauge":
        assert data["temporality"] == 2
    if kind == "sum" and not data.get("monotonic"):
        kind = "up_down"
    for point in data["points"]:
        if "flags" in point:
            assert point["flags"] == 1 and not {"int", "double", "count", "sum"} & {*point}
            value = None
        elif kind == "histogram":
            assert point["buckets"] == [point["count"]]
            value = point["count"], point["sum"]
        else:
            value = point["int"] if "int" in point else point["double"]
        yield Point(resource, metric["name"], metric.get("unit", ""), kind, attributes(point),
                    value, point.get("start"), point["time"])


@dataclass
class Log:
    resource: dict
    severity: int
    body: str
    attributes: dict
    event: str
    time: int


def logs_of(data):
    """All log records of a request."""
    return [Log(attributes(resource["resource"]), log["severity"], log["body"]["string"],
                attributes(log), log["event"], log["time"])
            for resource in decode(data, LOGS)["resources"]
            for scope in resource["scopes"] for log in scope["logs"]]


def partial(rejected, message):
    """An Export...ServiceResponse whose partial_success says so."""
    text = message.encode()
    inner = b"\x08" + bytes([rejected]) + b"\x12" + bytes([len(text)]) + text
    return b"\x0a" + bytes([len(inner)]) + inner


@dataclass
class Answer:
    """What the receiver does with one request."""
    status: int = 200
    headers: dict = field(default_factory=dict)
    body: bytes = b""
    hang: bool = False    # no answer until the end
    close: bool = False   # the connection is closed instead
    cut: bool = False     # half of the answer's head
    noise: bool = False   # something that is no HTTP


@dataclass
class Request:
    path: str
    headers: dict
    data: bytes  # decompressed
    answer: Answer
    time: float

    @property
    def points(self):
        return points_of(self.data)

    @property
    def logs(self):
        return logs_of(self.data)


class Receiver:
    """Answers requests by `answers`, one after another, then with 200. `tls`: a certificate."""

    def __init__(self, *answers, tls=None):
        self.answers, self.requests = list(answers), []
        self.lock, self.ended = threading.Lock(), threading.Event()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                receiver.take(self)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(tls)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            self.url = f"https://localhost:{self.port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *args):
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()

    def take(self, handler):
        data = handler.rfile.read(int(handler.headers["Content-Length"]))
        if handler.headers.get("Content-Encoding") == "gzip":
            data = gzip.decompress(data)
        with self.lock:
            answer = self.answers.pop(0) if self.answers else Answer()
            self.requests.append(Request(handler.path, dict(handler.headers), data, answer,
                                         time.monotonic()))
        self.give(handler, answer)

    def give(self, handler, answer):
        if answer.hang:
            self.ended.wait(60)
        if answer.cut:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-")
        if answer.noise:
            handler.wfile.write(b"\x00\x01\x02 this is no HTTP\r\n\r\n")
        if answer.hang or answer.close or answer.cut or answer.noise:
            handler.close_connection = True
            return
        handler.send_response(answer.status)
        for name, value in {"Content-Type": "application/x-protobuf", **answer.headers}.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(answer.body)))
        handler.end_headers()
        handler.wfile.write(answer.body)

    def got(self, path="/v1/metrics", status=200):
        """The requests that were answered so, in order."""
        with self.lock:
            return [request for request in self.requests
                    if request.path == path and request.answer.status == status
                    and not (request.answer.hang or request.answer.close or request.answer.cut
                             or request.answer.noise)]

    def latest(self):
        """The points of the latest metrics that were accepted."""
        requests = self.got()
        return requests[-1].points if requests else []
