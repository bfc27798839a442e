# SPDX-License-Identifier: BSD-2-Clause
"""A client of gpuprobe's HTTP endpoint, and a strict parser of the two text formats."""
import gzip
import http.client
import re
import socket
import time

OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
# The headers that Prometheus 2.42 sends.
PROMETHEUS_ACCEPT = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1")

SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,(?=.)|$)')
SUFFIXES = {"counter": "_total", "info": "_info", "gauge": ""}


def hold_port(ports=(0,)):
    """
    A socket that reserves a loopback port, the first free one of `ports`, for a server that will be
    given that port. The kernel does not hand it out to anyone who asks for any port; the server can
    still bind it, because it names the port and sets SO_REUSEADDR.
    """
    for port in ports:
        held = socket.socket()
        try:
            held.bind(("127.0.0.1", port))
        except OSError:
            held.close()
            continue
        # Not before bind, so that the kernel looks for a port that nobody has at all.
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return held
    raise OSError(f"none of the ports {ports} is free")


class Page:
    """A metrics page, checked while parsed. Samples are in `samples`, by (name, labels)."""

    def __init__(self, text, openmetrics):
        self.openmetrics = openmetrics
        self.samples = {}
        self.types = {}
        self.helps = {}
        self.units = {}
        lines = text.split("\n")
        assert lines[-1] == "", "the last line has no end"
        lines.pop()
        if openmetrics:
            assert lines.pop() == "# EOF"
        self._family = None
        for line in lines:
            self._take(line)
        assert set(self.helps) == set(self.types)

    def _take(self, line):
        meta = re.fullmatch(r"# (TYPE|UNIT|HELP) (\S+) (.+)", line)
        if not meta:
            self._take_sample(line)
            return
        word, family, text = meta.groups()
        {"TYPE": self.types, "UNIT": self.units, "HELP": self.helps}[word].setdefault(family, text)
        assert word != "UNIT" or self.openmetrics
        if word == "TYPE":
            # Each family appears once, in one piece.
            assert family != self._family
            self._family = family
        assert family == self._family, line

    def _take_sample(self, line):
        match = SAMPLE.fullmatch(line)
        assert match, line
        name, text, value = match.groups()
        labels, end = [], 0
        for label in LABEL.finditer(text or ""):
            assert label.start() == end, line
            end = label.end()
            labels.append((label[1],
                           re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), label[2])))
        assert end == len(text or ""), line
        assert len(dict(labels)) == len(labels), line
        assert name.startswith(self._family), line
        assert name[len(self._family):] in self._suffixes(), line
        key = name, frozenset(labels)
        assert key not in self.samples, f"twice: {line}"
        self.samples[key] = float(value)

    def _suffixes(self):
        kind = self.types[self._family]
        if kind == "histogram":
            return "_bucket", "_sum", "_count"
        return (SUFFIXES[kind] if self.openmetrics else "",)

    def value(self, name, **labels):
        """The value of the only sample with this name whose labels include these."""
        found = self.find(name, **labels)
        assert len(found) == 1, f"{name} {labels}: {found}"
        return found[0][1]

    def find(self, name, **labels):
        """(labels, value) of the samples with this name whose labels include these."""
        wanted = {(key, str(value)) for key, value in labels.items()}
        return [(dict(key[1]), value) for key, value in self.samples.items()
                if key[0] == name and wanted <= key[1]]

    def sum(self, name, **labels):
        return sum(value for _, value in self.find(name, **labels))

    def counters(self):
        return {key: value for key, value in self.samples.items() if key[0].endswith("_total")}


class Endpoint:
    """The endpoint on its own loopback port; `option` makes gpuprobe serve there."""

    def __init__(self):
        self._held = hold_port()
        self.port = self._held.getsockname()[1]
        self.option = ["--metrics-addr", f"127.0.0.1:{self.port}"]

    def wait(self, timeout=60, host="127.0.0.1"):
        end = time.monotonic() + timeout
        while True:
            try:
                socket.create_connection((host, self.port), timeout).close()
                return
            except OSError:
                assert time.monotonic() < end, "gpuprobe does not serve"
                time.sleep(0.02)

    def request(self, path, method="GET", headers=None, body=None, timeout=60):
        """(status, headers, body) of one request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def scrape(self, openmetrics=True, compressed=False):
        """The page of /metrics in one of its formats."""
        headers = {"Accept": OPENMETRICS if openmetrics else PROMETHEUS}
        if compressed:
            headers["Accept-Encoding"] = "gzip"
        status, answer, body = self.request("/metrics", headers=headers)
        assert status == 200, body
        if compressed:
            body = gzip.decompress(body)
        assert answer["Content-Type"] == (OPENMETRICS if openmetrics else PROMETHEUS)
        return Page(body.decode(), openmetrics)

    def until(self, condition, timeout=60, **form):
        """The first page for which condition(page) is true."""
        end = time.monotonic() + timeout
        while True:
            page = self.scrape(**form)
            if condition(page):
                return page
            assert time.monotonic() < end, page.samples
            time.sleep(0.05)

    def talk(self, data, timeout=60):
        """Sends raw bytes and reads until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout) as client:
            client.sendall(data)
            received = b""
            while chunk := client.recv(65536):
                received += chunk
            return received
