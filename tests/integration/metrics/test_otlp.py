# SPDX-License-Identifier: BSD-2-Clause
"""Metrics and findings by OTLP: what arrives equals the metrics page, whatever the receiver does,
and what does not arrive is counted."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lib import paths
from lib.otlp import Answer, Receiver, partial
from lib.probe import wait_until
from lib.scrape import Endpoint

PROTO = Path(__file__).parents[1] / "lib/otlp.proto"
LIBRARIES = [paths.LIBCUDA, paths.LIBCUDART]
# Two programs, so that there are two resources.
WORK = r"""
"{sim}/memory" --pairs 20 >/dev/null
"{sim}/mix" --seed 7 --threads 4 --seconds 0.2 >/dev/null
"""
CHURN = f"'{paths.SIM}/memory' --pairs 20 >/dev/null"
STORM = f"'{paths.SIM}/faults' error-storm >/dev/null || :"


class Sent:
    """A gpuprobe that sends to the receiver while COMMAND runs, and serves its metrics page."""

    def __init__(self, probe, receiver, place, command, env=None, interval="200"):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        self.endpoint, self.place = Endpoint(), place
        body = (f'cd "{place}"\n{command.strip()}\ntouch done; '
                'while ! [ -e go ]; do sleep 0.05; done')
        settings = {"OTEL_METRIC_EXPORT_INTERVAL": interval, **(env or {})}
        url = receiver if isinstance(receiver, str) else receiver.url
        self.running = probe.start("sh", "-c", body, base=["--json", *self.endpoint.option],
                                   args=["--otlp-endpoint", url], interval=0, libraries=LIBRARIES,
                                   env=settings)

    def __enter__(self):
        self.running.__enter__()
        self.endpoint.wait()
        return self

    def __exit__(self, *exc):
        (self.place / "go").touch()  # the program holds standard error open
        self.running.__exit__(*exc)

    def done(self):
        wait_until((self.place / "done").exists, lambda: self.running.stderr, 120)

    def scrape(self):
        return self.endpoint.scrape()

    def finish(self):
        (self.place / "go").touch()
        return self.running.finish()


@pytest.fixture
def send(gpuprobe, tmp_path):
    def start(receiver, command="true", **options):
        return Sent(gpuprobe, receiver, tmp_path / "meet", command, **options)
    return start


def series(points):
    """The points that the page has too, as its samples: {(name, labels): value}."""
    found = {}
    for point in points:
        if not point.name.startswith("gpuprobe.") or point.name.startswith("gpuprobe.otlp"):
            continue
        name = point.name.replace(".", "_", 1) + ("_total" if point.kind == "sum" else "")
        labels = {key: str(value) for key, value in point.attributes.items()}
        if "process.pid" in point.resource:
            labels["pid"] = str(point.resource["process.pid"])
        key = name, frozenset(labels.items())
        assert key not in found, key
        found[key] = point.value
    return found


def of_page(page):
    """The page's samples in the same form: without comm, empty labels, infos and own figures."""
    return {(name, frozenset((key, value) for key, value in labels if value and key != "comm")):
            value for (name, labels), value in page.samples.items()
            if not name.endswith("_info") and not name.startswith(("process_", "gpuprobe_otlp"))}


CHANGING = re.compile("gpuprobe_(probes_attached|step_|overhead|sampling|gpu_memory|"
                      "process_gpu_memory|device_memory_untracked|account_)")


def steady(samples):
    return {key: value for key, value in samples.items() if not CHANGING.match(key[0])}


def agree(points, shown):
    sent = series(points)
    assert set(sent) == set(shown)
    sent, shown = steady(sent), steady(shown)
    assert {key: (sent[key], shown[key]) for key in sent
            if abs(sent[key] - shown[key]) > 1e-9 * abs(shown[key])} == {}


def next_points(receiver):
    """The points of the next metrics: all programs have ended, so they equal an earlier page."""
    before = len(receiver.got())
    return wait_until(lambda: receiver.latest() if len(receiver.got()) > before + 1 else None,
                      "no metrics arrive")


def between_equal_pages(sent, receiver):
    """
    Points that were read between two equal pages, and the samples of these. gpuprobe learns about
    the end of a program a moment later, and pages differ until then.
    """
    def found():
        before = of_page(sent.scrape())
        points = next_points(receiver)
        after = of_page(sent.scrape())
        return (points, after) if steady(before) == steady(after) else None
    return wait_until(found, "the pages still change")


def test_what_arrives_equals_the_page(send):
    with Receiver() as receiver:
        with send(receiver, WORK.format(sim=paths.SIM)) as sent:
            sent.done()
            sent.endpoint.until(lambda page: len(page.find("gpuprobe_process_info")) >= 2)
            agree(*between_equal_pages(sent, receiver))
            sent.finish()
    points = receiver.latest()
    processes = {point.resource["process.pid"]: point.resource for point in points
                 if "process.pid" in point.resource}
    assert "memory" in {resource["process.executable.name"] for resource in processes.values()}
    assert len(processes) > 1
    # One resource for each process in a request, and each with an instance of its own.
    assert len({resource["service.instance.id"] for resource in processes.values()}) == len(
        processes)
    # Sums start once, and never fall.
    starts, values = {}, {}
    for request in receiver.got():
        for point in request.points:
            key = (point.name, point.resource.get("process.pid"),
                   frozenset(point.attributes.items()))
            if point.kind in ("sum", "histogram"):
                assert starts.setdefault(key, point.start) == point.start <= point.time, key
                assert values.get(key, point.value) <= point.value, key
                values[key] = point.value


@pytest.mark.slow
def test_names_of_conventions(send):
    program = f"'{paths.SIM}/copy' --count 3 >/dev/null\n'{paths.SIM}/launch' >/dev/null"
    with Receiver() as receiver:
        with send(receiver, program) as sent:
            sent.done()
            sent.endpoint.until(lambda page: page.sum("gpuprobe_device_launches_total"))
            points, _ = between_equal_pages(sent, receiver)
            page = sent.scrape()
            sent.finish()
    by_name = {}
    for point in points:
        by_name.setdefault(point.name, []).append(point)
    launches = by_name["gpu.cuda.kernel.launch.calls"]
    assert sum(point.value for point in launches) == page.sum("gpuprobe_device_launches_total")
    for point in launches:
        assert point.kind == "sum" and point.unit == ""
        assert isinstance(point.attributes["cuda.device.index"], int)
        assert not point.attributes.get("cuda.device.uuid", "").startswith("GPU-")
    copies = by_name.get("gpu.cuda.memory.copies", [])
    for point in copies:
        assert point.kind == "histogram" and point.unit == "By"
        assert point.attributes["cuda.memcpy.kind"].startswith("Memcpy")
    shown = [(labels, value) for labels, value in page.find("gpuprobe_copies_total")
             if labels["kind"] != "set"]
    assert sum(point.value[0] for point in copies) == sum(value for _, value in shown)
    assert sum(point.value[1] for point in copies) == sum(
        value for labels, value in page.find("gpuprobe_copy_bytes_total")
        if labels["kind"] != "set")
    if not page.find("gpuprobe_gpu_memory_total_bytes"):
        return  # NVML has not answered; tests/unit/output/test_otlp_metrics.c has its figures
    limit = by_name["hw.gpu.memory.limit"][0]
    assert limit.unit == "By" and limit.kind == "up_down"
    assert limit.attributes["hw.id"].startswith("GPU-")
    assert limit.attributes["hw.vendor"] == "NVIDIA"
    assert limit.value == page.value("gpuprobe_gpu_memory_total_bytes", gpu=0)


def test_a_receiver_that_misbehaves(send):
    """Each fault once; then everything arrives, and the losses are those that were final."""
    faults = [Answer(close=True), Answer(status=503), Answer(cut=True), Answer(noise=True),
              Answer(status=429, headers={"Retry-After": "1"})]
    final = [Answer(status=400, body=b"\x12\x03why"), Answer(body=partial(3, "three too many"))]
    with Receiver(*final, *faults[4:], *faults[:1]) as receiver:
        with send(receiver, CHURN,
                  env={"OTEL_LOGS_EXPORTER": "none"}) as sent:
            sent.done()
            page = sent.endpoint.until(
                lambda page: page.sum("gpuprobe_otlp_requests_total", result="failed") == 2
                and page.sum("gpuprobe_otlp_requests_total", result="accepted") > 2, timeout=60)
            refused = len(receiver.requests[0].points)
            assert page.sum("gpuprobe_otlp_lost_total", reason="refused") == refused
            assert page.sum("gpuprobe_otlp_lost_total", reason="rejected") == 3
            assert page.sum("gpuprobe_otlp_lost_total") == refused + 3
            finished = sent.finish()
    paused = [request for request in receiver.requests if request.answer.status == 429][0]
    after = receiver.requests[receiver.requests.index(paused) + 1]
    assert after.time - paused.time >= 1
    assert after.data == paused.data, "the same request is sent again"
    text = sent.running.stderr
    assert "status 400 Bad Request: why" in text and "three too many" in text
    told = finished.final["otlp"]
    assert told["metrics"]["delivered"] > 0 and not any(told["logs"]["lost"].values())
    lost = told["metrics"]["lost"]
    assert (lost["refused"], lost["rejected"], sum(lost.values())) == (refused, 3, refused + 3)


def told_by(logs):
    """The findings that began: (id, severity, pid)."""
    return {(log.attributes["gpuprobe.finding.id"], log.attributes["gpuprobe.finding.severity"],
             log.resource["process.pid"]) for log in logs
            if log.attributes["gpuprobe.event"] == "new"}


def test_findings_are_logs(send):
    def logs():
        return [log for request in receiver.got("/v1/logs") for log in request.logs]

    with Receiver() as receiver:
        with send(receiver, STORM) as sent:
            sent.done()
            page = sent.endpoint.until(lambda page: page.sum("gpuprobe_finding_active"))
            shown = {(labels["id"], labels["severity"], int(labels["pid"]))
                     for labels, value in page.find("gpuprobe_finding_active")
                     if value and labels["pid"]}
            wait_until(lambda: shown <= told_by(logs()), lambda: f"{shown} {told_by(logs())}")
            sent.finish()
    assert shown
    for log in logs():
        assert log.event == "gpuprobe.finding"
        assert log.attributes["gpuprobe.finding.id"] in log.body
        if log.attributes["gpuprobe.event"] != "ended":
            assert log.severity == {"info": 10, "warning": 13, "critical": 17}[
                log.attributes["gpuprobe.finding.severity"]]


@pytest.mark.slow
def test_protoc_reads_requests(send, tmp_path):
    protoc = shutil.which("protoc")
    if not protoc:
        pytest.skip("protoc is missing: apt-get install protobuf-compiler")
    with Receiver() as receiver:
        with send(receiver, STORM) as sent:
            sent.done()
            wait_until(lambda: receiver.got("/v1/logs"), lambda: sent.running.stderr)
            sent.finish()
    for path, message in (("/v1/metrics", "otlp.MetricsRequest"), ("/v1/logs", "otlp.LogsRequest")):
        request = receiver.got(path)[-1]
        text = subprocess.run([protoc, f"--decode={message}", f"-I{PROTO.parent}", PROTO],
                              input=request.data, capture_output=True, check=True).stdout.decode()
        # A field that the schema does not have is printed by its number.
        assert not re.search(r"^\s*\d+[:{ ]", text, re.MULTILINE)
        if path == "/v1/metrics":
            assert text.count("data_points {") == len(request.points)
        else:
            assert text.count("log_records {") == len(request.logs)


def test_headers_are_secret(send):
    with Receiver(Answer(status=401)) as receiver:
        with send(receiver, env={"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20s3cr3t",
                                 "OTEL_EXPORTER_OTLP_COMPRESSION": "none"}) as sent:
            sent.done()
            wait_until(lambda: receiver.got(), "nothing arrived")
            command = Path(f"/proc/{sent.running.process.pid}/cmdline").read_bytes()
            finished = sent.finish()
    headers = receiver.requests[0].headers
    assert headers["authorization"] == "Bearer s3cr3t"
    assert "Content-Encoding" not in headers
    assert "s3cr3t" not in sent.running.stderr and b"s3cr3t" not in command
    assert finished is not None


def test_hostile_names(send, tmp_path):
    """Names that are no UTF-8 must not make a receiver refuse the request."""
    program = tmp_path / os.fsdecode(b"\xff\x1b[31m")
    shutil.copy(f"{paths.SIM}/memory", program)
    with Receiver() as receiver:
        command = f"LD_LIBRARY_PATH='{paths.SIM}' '{program}' --pairs 2 >/dev/null"
        with send(receiver, command) as sent:
            sent.done()
            sent.endpoint.until(lambda page: page.find("gpuprobe_process_info"))
            points = next_points(receiver)
            sent.finish()
    names = {point.resource.get("process.executable.name") for point in points}
    assert r"\xff\x1b[31m" in names


@pytest.mark.slow
def test_ended_processes_are_marked(send):
    """Two minutes after its end, each of its series gets a point without a value, once."""
    def marks():
        return [point for request in receiver.got() for point in request.points
                if point.value is None]

    with Receiver() as receiver:
        with send(receiver, CHURN, interval="2000") as sent:
            sent.done()
            wait_until(marks, "no end was marked", 300)
            before = len(receiver.got())
            wait_until(lambda: len(receiver.got()) > before + 1, "no metrics arrive")
            sent.finish()
    marked = [(point.name, frozenset(point.attributes.items())) for point in marks()]
    assert {point.resource["process.executable.name"] for point in marks()} == {"memory"}
    assert "gpuprobe.memory_live_bytes" in {name for name, _ in marked}
    assert len(set(marked)) == len(marked)
    pid = marks()[0].resource["process.pid"]
    valued = {(point.name, frozenset(point.attributes.items()))
              for request in receiver.got() for point in request.points
              if point.resource.get("process.pid") == pid and point.value is not None}
    assert set(marked) <= valued


@pytest.mark.slow
def test_nobody_answers(send):
    with send("http://127.0.0.1:1") as sent:
        sent.done()
        wait_until(lambda: sent.scrape().sum("gpuprobe_otlp_requests_total", result="failed"),
                   "no attempt was counted")
        sent.finish()
    assert "Connection refused; retrying" in sent.running.stderr
    assert re.search(r"[\d,]+ data points not delivered when gpuprobe ended", sent.running.stderr)


@pytest.mark.slow
def test_https(send, tmp_path):
    openssl = shutil.which("openssl")
    if not openssl:
        pytest.skip("openssl is missing")
    key, certificate, both = (tmp_path / name for name in ("key", "certificate", "both"))
    subprocess.run([openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", certificate,
                    "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    both.write_bytes(key.read_bytes() + certificate.read_bytes())
    with Receiver(Answer(status=503, headers={"Retry-After": "1"}), tls=both) as receiver:
        with send(receiver, env={"OTEL_EXPORTER_OTLP_CERTIFICATE": str(certificate)}) as sent:
            sent.done()
            wait_until(lambda: len(receiver.got()) >= 2, lambda: sent.running.stderr)
            sent.finish()
        assert receiver.requests[1].time - receiver.requests[0].time >= 1
        got = len(receiver.requests)
        with send(receiver) as sent:
            sent.done()
            wait_until(lambda: sent.scrape().sum("gpuprobe_otlp_requests_total", result="failed"),
                       "no attempt was counted")
            sent.finish()
        assert len(receiver.requests) == got, "sent to a server whose certificate is unknown"
    assert "certificate" in sent.running.stderr


@pytest.mark.parametrize("args,env,status,message", [
    (["--otlp-endpoint", "localhost:4318"], {}, 2, "not a URL of http"),
    (["--otlp-endpoint", "http://u:s3cr3t@h"], {}, 2, "a URL with a user"),
    (["--otlp-endpoint", "http://h"], {"OTEL_EXPORTER_OTLP_HEADERS": "s3cr3t"}, 2,
     "entry 1 of OTEL_EXPORTER_OTLP_HEADERS is not HEADER=VALUE"),
    (["--otlp-endpoint", "http://h"], {"OTEL_EXPORTER_OTLP_TIMEOUT": "soon"}, 2,
     "is not a number of milliseconds"),
    ([], {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, 0,
     "http/protobuf only"),
    (["--otlp-endpoint", "none"], {"OTEL_EXPORTER_OTLP_ENDPOINT": "no"}, 0, None),
    ([], {"OTEL_EXPORTER_OTLP_ENDPOINT": "no", "OTEL_SDK_DISABLED": "true"}, 0, None),
])
def test_settings(gpuprobe, args, env, status, message):
    run = gpuprobe.run("true", args=args, env=env, status=status, libraries=LIBRARIES)
    assert "s3cr3t" not in run.stderr
    if message:
        assert message in run.stderr
    else:
        assert "OTLP" not in run.stderr
