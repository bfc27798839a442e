# SPDX-License-Identifier: BSD-2-Clause
"""The metrics endpoint of a running gpuprobe, over real HTTP:
its formats, its conduct, its numbers."""
import contextlib
import gzip
import os
import re
import socket
import subprocess
import time
from pathlib import Path

import pytest

from lib import paths
from lib.probe import Background, environment, wait_until
from lib.scrape import OPENMETRICS, PROMETHEUS, PROMETHEUS_ACCEPT, Endpoint, Page

LIBRARIES = [paths.LIBCUDA, paths.LIBCUDART]
ON = {"device", "gpu", "uuid"}  # of what is told by device
# Name of the family in OpenMetrics -> type, labels besides pid and comm (None: not even these),
# section.
FAMILIES = {
    "gpuprobe_memory_live_bytes": ("gauge", {"kind"}, "memory"),
    "gpuprobe_memory_live_allocations": ("gauge", {"kind"}, "memory"),
    "gpuprobe_allocations": ("counter", set(), "memory"),
    "gpuprobe_allocation_failures": ("counter", set(), "memory"),
    "gpuprobe_out_of_memory": ("counter", set(), "memory"),
    "gpuprobe_frees": ("counter", set(), "memory"),
    "gpuprobe_free_failures": ("counter", set(), "memory"),
    "gpuprobe_allocation_seconds": ("counter", set(), "memory"),
    "gpuprobe_live_at_exit_bytes": ("counter", None, "memory"),
    "gpuprobe_virtual_reserved_bytes": ("gauge", set(), "memory"),
    "gpuprobe_virtual_mapped_bytes": ("gauge", set(), "memory"),
    "gpuprobe_pool_reserved_bytes": ("gauge", {"gpu", "uuid"}, "memory"),
    "gpuprobe_pool_used_bytes": ("gauge", {"gpu", "uuid"}, "memory"),
    "gpuprobe_allocations_ended_with_context": ("counter", {"kind"}, "memory"),
    "gpuprobe_double_frees": ("counter", set(), "memory"),
    "gpuprobe_kernel_launches": ("counter", {"kernel"}, "launches"),
    "gpuprobe_graph_launches": ("counter", set(), "launches"),
    "gpuprobe_graph_kernels": ("counter", set(), "launches"),
    "gpuprobe_graph_launches_unsized": ("counter", set(), "launches"),
    "gpuprobe_captured_launches": ("counter", set(), "launches"),
    "gpuprobe_host_functions": ("counter", set(), "launches"),
    "gpuprobe_step_seconds": ("gauge", {"percentile"}, "launches"),
    "gpuprobe_step_launches": ("gauge", set(), "launches"),
    "gpuprobe_first_launches": ("counter", set(), "launches"),
    "gpuprobe_first_launch_seconds": ("counter", set(), "launches"),
    "gpuprobe_copies": ("counter", {"kind", "mode"}, "copies"),
    "gpuprobe_copy_bytes": ("counter", {"kind", "mode"}, "copies"),
    "gpuprobe_copy_seconds": ("counter", {"kind", "mode"}, "copies"),
    "gpuprobe_copies_inflight": ("gauge", {"kind"}, "copies"),
    "gpuprobe_copies_inflight_bytes": ("gauge", {"kind"}, "copies"),
    "gpuprobe_copies_inflight_oldest_seconds": ("gauge", {"kind"}, "copies"),
    "gpuprobe_waits": ("counter", {"kind"} | ON, "copies"),
    "gpuprobe_wait_seconds": ("counter", {"kind"} | ON, "copies"),
    "gpuprobe_calls_in_progress": ("gauge", {"function"}, None),
    "gpuprobe_longest_call_in_progress_seconds": ("gauge", {"function"}, None),
    "gpuprobe_process_since_attach": ("gauge", set(), None),
    "gpuprobe_queries": ("counter", {"kind", "answer"}, "copies"),
    "gpuprobe_streams_live": ("gauge", ON, None),
    "gpuprobe_device_memory_live_bytes": ("gauge", ON, "memory"),
    "gpuprobe_device_launches": ("counter", ON, "launches"),
    "gpuprobe_device_copies": ("counter", ON, "copies"),
    "gpuprobe_device_copy_bytes": ("counter", ON, "copies"),
    "gpuprobe_events_live": ("gauge", ON, None),
    "gpuprobe_modules_live": ("gauge", ON, None),
    "gpuprobe_libraries_live": ("gauge", ON, None),
    "gpuprobe_contexts_live": ("gauge", ON, None),
    "gpuprobe_objects_live": ("gauge", {"kind"}, None),
    "gpuprobe_module_loads": ("counter", {"kind"}, None),
    "gpuprobe_module_load_seconds": ("counter", {"kind"}, None),
    "gpuprobe_process": ("info", {"ppid", "user", "ns_pid", "namespace", "pod", "container",
                                  "pod_uid", "container_id", "unit", "slurm_job_id", "slurm_step",
                                  "slurm_sluid", "pbs_job_id"}, None),
    "gpuprobe_account_gpu_seconds": ("counter", None, None),
    "gpuprobe_account_idle_proved_seconds": ("counter", None, None),
    "gpuprobe_account_memory_byte_seconds": ("counter", None, None),
    "gpuprobe_account_gpus": ("gauge", None, None),
    "gpuprobe_account_idle_gpus": ("gauge", None, None),
    "gpuprobe_account_last_call_timestamp_seconds": ("gauge", None, None),
    "gpuprobe_gpu_memory_used_bytes": ("gauge", None, None),
    "gpuprobe_gpu_memory_total_bytes": ("gauge", None, None),
    "gpuprobe_process_gpu_memory_bytes": ("gauge", {"gpu", "uuid"}, None),
    "gpuprobe_device_memory_untracked_bytes": ("gauge", {"gpu", "uuid"}, None),
    "gpuprobe_errors": ("counter", {"function", "error"}, None),
    "gpuprobe_finding_active": ("gauge", None, None),
    "gpuprobe_finding_cost_seconds": ("counter", None, None),
    "gpuprobe_events_lost": ("counter", None, None),
    "gpuprobe_probes_attached": ("gauge", None, None),
    "gpuprobe_build": ("info", None, None),
    "process_cpu_seconds": ("counter", None, None),
    "process_resident_memory_bytes": ("gauge", None, None),
    "process_virtual_memory_bytes": ("gauge", None, None),
    "process_open_fds": ("gauge", None, None),
    "process_max_fds": ("gauge", None, None),
    "process_start_time_seconds": ("gauge", None, None),
}
OWN_LABELS = {"gpuprobe_events_lost_total": {"reason"}, "gpuprobe_probes_attached": {"layer"},
              "gpuprobe_build_info": {"version"},
              "gpuprobe_gpu_memory_used_bytes": {"gpu", "uuid", "name"},
              "gpuprobe_gpu_memory_total_bytes": {"gpu", "uuid", "name"},
              "gpuprobe_finding_active": {"id", "pid", "severity"},
              "gpuprobe_finding_cost_seconds_total": {"id", "pid"},
              **dict.fromkeys((f"gpuprobe_account_{name}" for name in (
                  "gpu_seconds_total", "idle_proved_seconds_total", "memory_byte_seconds_total",
                  "gpus", "idle_gpus", "last_call_timestamp_seconds")),
                  {"user", "slurm_job_id", "pbs_job_id", "namespace", "pod", "pod_uid", "unit"})}


class Served:
    """A gpuprobe that serves while COMMAND runs; `place` is where COMMAND and the test meet."""

    def __init__(self, probe, place, command, args=()):
        self.endpoint = Endpoint()
        self.place = place
        # COMMAND does its work, says so, and stays until the test lets it go.
        body = (
            f'cd "{place}"\n{command.strip()}\ntouch done; while ! [ -e go ]; do sleep 0.05; done')
        self.running = probe.start("sh", "-c", body, base=["--json", *self.endpoint.option],
                                   interval=0, args=args, libraries=LIBRARIES)

    def __enter__(self):
        self.running.__enter__()
        self.endpoint.wait()
        return self

    def __exit__(self, *exc):
        self.running.__exit__(*exc)

    def done(self):
        """When COMMAND has done its work; the endpoint."""
        wait_until(
            lambda: (self.place / "done").exists() or self.running.process.poll() is not None,
            lambda: self.running.stderr, 120)
        assert self.running.process.poll() is None, self.running.stderr
        return self.endpoint

    def finish(self):
        (self.place / "go").touch()
        return self.running.finish()


@contextlib.contextmanager
def serving(endpoint, *args):
    """A gpuprobe that serves and tells nothing else."""
    process = subprocess.Popen([paths.GPUPROBE, "--display-interval", "0", *endpoint.option, *args],
                               stdout=subprocess.DEVNULL, env=environment())
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)


@pytest.fixture
def serve(gpuprobe, tmp_path):
    def start(command, *args):
        place = tmp_path / "meet"
        place.mkdir()
        return Served(gpuprobe, place, command, args)
    return start


@pytest.fixture(scope="module")
def idle():
    """A gpuprobe with nothing to watch, for the tests of manners. A real one, and one for all."""
    endpoint = Endpoint()
    with Background("sleep", "3600") as sleeper, \
            serving(endpoint, "-p", str(sleeper.pid), "--libcuda-path", paths.LIBCUDA) as process:
        endpoint.wait()
        endpoint.pid = process.pid
        yield endpoint
        assert process.poll() is None, "gpuprobe ended while it was served"
        process.terminate()
        assert process.wait(60) == 0


# --- forms ---

@pytest.mark.parametrize("accept,content_type", [
    (None, PROMETHEUS),
    ("", PROMETHEUS),
    ("*/*", PROMETHEUS),
    ("text/plain", PROMETHEUS),
    ("text/html,application/xhtml+xml,*/*;q=0.8", PROMETHEUS),
    ("text/plain;version=0.0.4", PROMETHEUS),
    ("application/openmetrics-text", OPENMETRICS),
    ("application/openmetrics-text;version=1.0.0", OPENMETRICS),
    ("application/openmetrics-text; version=\"1.0.0\"; charset=utf-8", OPENMETRICS),
    ("application/openmetrics-text;q=0.4, text/plain;q=0.5", PROMETHEUS),
    ("application/openmetrics-text;q=0, */*", PROMETHEUS),
    ("application/openmetrics-text;version=9.0.0, text/plain;q=0.1", PROMETHEUS),
    (PROMETHEUS_ACCEPT, OPENMETRICS),
])
def test_form_by_accept(idle, accept, content_type):
    headers = {} if accept is None else {"Accept": accept}
    status, answer, body = idle.request("/metrics", headers=headers)
    assert (status, answer["Content-Type"]) == (200, content_type)
    assert int(answer["Content-Length"]) == len(body)
    Page(body.decode(), content_type == OPENMETRICS)


@pytest.mark.parametrize("encoding,compressed", [
    (None, False), ("gzip", True), ("gzip, deflate, br", True), ("deflate", False),
    ("identity", False), ("gzip;q=0", False), ("*", True), ("gzip;q=0.5, identity;q=0.6", False),
])
def test_gzip_when_asked(idle, encoding, compressed):
    status, answer, body = idle.request("/metrics",
                                        headers={"Accept-Encoding": encoding} if encoding else {})
    assert status == 200
    assert (answer["Content-Encoding"] == "gzip") is compressed
    text = gzip.decompress(body) if compressed else body
    Page(text.decode(), False)
    assert "Accept" in answer["Vary"] and "Accept-Encoding" in answer["Vary"]


def test_both_forms_tell_the_same(idle):
    openmetrics, prometheus = idle.scrape(True), idle.scrape(False)
    assert set(openmetrics.samples) == set(prometheus.samples)
    # 0.0.4 names a counter's family with its suffix.
    assert {name + {"counter": "_total", "info": "_info"}.get(kind, "")
            for name, kind in openmetrics.types.items()} == set(prometheus.types)


def test_head(idle):
    status, answer, body = idle.request("/metrics", "HEAD")
    assert (status, body) == (200, b"")
    assert int(answer["Content-Length"]) > 1000


# --- pages and manners ---

def test_page_for_a_person(idle):
    """test_web_page.py looks at it in a browser."""
    status, answer, body = idle.request("/")
    assert status == 200
    assert answer["Content-Type"].startswith("text/html")
    assert b'href="/metrics"' in body and b'src="/web/page.js"' in body


def test_health(idle):
    status, answer, body = idle.request("/healthz")
    assert (status, body) == (200, b"ok\n")
    assert answer["Content-Type"].startswith("text/plain")


@pytest.mark.parametrize("path", ["/metric", "/metrics/", "/metrics/x", "//", "/index.html", "/..",
                                  "/%6detrics", "/healthz/../metrics"])
def test_other_paths(idle, path):
    assert idle.request(path)[0] == 404


def test_query_is_ignored(idle):
    assert idle.request("/metrics?name[]=x")[0] == 200


BROWSER = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:128.0)",
           "Accept-Language": "en-US,en;q=0.5"}


@pytest.mark.parametrize("headers, status", [
    ({"Host": "evil.example:9000"}, 403),
    ({"Host": "evil.example:9000", "Referer": "http://evil.example:9000/"}, 403),
    ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"},
     403),
    ({"Origin": "http://evil.example"}, 403),
    ({}, 200),
    ({"Host": "localhost:9000"}, 200),
    ({"Host": f"{os.uname().nodename}:9000"}, 200),
])
def test_browsers(idle, headers, status):
    """By a name that leads here for a moment, or for a page of another site, they get nothing."""
    answer, _, body = idle.request("/metrics", headers=BROWSER | headers)
    assert answer == status
    assert (b"gpuprobe_build" in body) == (status == 200)


def test_scraped_by_any_name(idle):
    headers = {"Host": "gpu7.example.com:9000", "User-Agent": "Prometheus/2.42.0",
               "Accept": PROMETHEUS_ACCEPT}
    assert idle.request("/metrics", headers=headers)[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW"])
def test_other_methods(idle, method):
    status, answer, _ = idle.request("/metrics", method)
    assert status == 405
    assert answer["Allow"] == "GET, HEAD"


def test_keep_alive(idle):
    with socket.create_connection(("127.0.0.1", idle.port), 60) as client:
        for _ in range(3):
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            received = b""
            while not received.endswith(b"ok\n"):
                received += client.recv(4096)
            assert received.startswith(b"HTTP/1.1 200 OK\r\n")


def test_pipelined_and_in_pieces(idle):
    data = (b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /nowhere HTTP/1.1\r\nHost: x\r\n"
            b"Connection: close\r\n\r\n")
    received = idle.talk(data)
    assert received.count(b"HTTP/1.1 200 OK") == 1 and received.count(b"HTTP/1.1 404 ") == 1
    with socket.create_connection(("127.0.0.1", idle.port), 60) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for i in range(0, len(data), 7):
            client.sendall(data[i:i + 7])
        pieces = b""
        while chunk := client.recv(4096):
            pieces += chunk
    assert re.sub(rb"Date: .*", b"", pieces) == re.sub(rb"Date: .*", b"", received)


@pytest.mark.parametrize("data,status", [
    (b"GET /metrics HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 9000 + b"\r\n\r\n", 431),
    (b"GET /metrics HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 3000 + b"\r\n", 431),
    (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414),
    (b"GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", 413),
    (b"GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n", 413),
    (b"GET /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
     b"\r\n5\r\nhello\r\n0\r\n\r\n", 413),
    (b"GET /metrics HTTP/1.1\r\n\r\n", 400),
    (b"GET /metrics\r\n\r\n", 400),
    (b"nonsense\r\n\r\n", 400),
    (b"GET /metrics HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400),
    (b"GET /metrics HTTP/1.1\r\nHost : x\r\n\r\n", 400),
    (b"GET /metrics HTTP/2.0\r\nHost: x\r\n\r\n", 505),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(256)) + b"\n", 400),
])
def test_refused(idle, data, status):
    """With a status, and the connection closed; gpuprobe serves on."""
    received = idle.talk(data)
    assert received.startswith(f"HTTP/1.1 {status} ".encode()), received[:100]
    assert b"Connection: close\r\n" in received
    assert idle.request("/healthz")[0] == 200


def test_old_http(idle):
    received = idle.talk(b"GET /healthz HTTP/1.0\r\n\r\n")
    assert received.startswith(b"HTTP/1.1 200 OK\r\n") and received.endswith(b"ok\n")


def test_client_that_goes_away(idle):
    for _ in range(50):
        with socket.create_connection(("127.0.0.1", idle.port), 60) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    assert idle.request("/healthz")[0] == 200


def has_closed(client):
    """Whether the server has, of a client to which it says nothing; waits a little for that."""
    client.settimeout(0.1)
    try:
        return not client.recv(4096)
    except TimeoutError:
        return False
    except OSError:
        return True


@pytest.mark.waits("until its clients are dropped, for ten seconds")
def test_stalled_clients_are_dropped(idle):
    """
    Clients that send nothing, half a request, or a byte now and then:
    they are closed not before their time, and others do not wait for that.
    """
    start = time.monotonic()
    clients = [socket.create_connection(("127.0.0.1", idle.port), 60) for _ in range(3)]
    clients[1].sendall(b"GET /metrics HTTP/1.1\r\nHo")
    gone, others = {}, 0
    while len(gone) < 3:
        assert time.monotonic() - start < 120, gone
        for i in {0, 1, 2} - set(gone):
            if i == 2:
                with contextlib.suppress(OSError):
                    clients[i].sendall(b"G")
            if has_closed(clients[i]):
                gone[i] = time.monotonic() - start
        assert idle.request("/healthz")[0] == 200
        others += not gone
        time.sleep(0.2)
    for client in clients:
        client.close()
    assert all(seconds > 5 for seconds in gone.values()), gone
    assert others > 1, "it served nobody else before it had dropped one"


def sockets_of(pid):
    count = 0
    for entry in os.scandir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            count += os.readlink(entry.path).startswith("socket:")
    return count


def test_64_connections(idle):
    """However many are open: gpuprobe holds 64 and serves the next."""
    idle_sockets = sockets_of(idle.pid)
    clients = [socket.create_connection(("127.0.0.1", idle.port), 60) for _ in range(64)]
    try:
        assert idle.request("/healthz")[0] == 200
        clients += [socket.create_connection(("127.0.0.1", idle.port), 60) for _ in range(100)]
        for _ in range(5):
            assert idle.request("/metrics")[0] == 200
        assert sockets_of(idle.pid) <= idle_sockets + 64
    finally:
        for client in clients:
            client.close()
    assert idle.request("/healthz")[0] == 200


def test_all_addresses_and_ipv6():
    """An empty host is every address; [::1] is the loopback of IPv6."""
    for host, urls in [("", ["127.0.0.1", "::1"]), ("[::1]", ["::1"]),
                       ("localhost", ["localhost"])]:
        endpoint = Endpoint()
        if "::1" in urls and not Path("/proc/net/if_inet6").exists():
            continue
        endpoint.option = ["--metrics-addr", f"{host}:{endpoint.port}"]
        with serving(endpoint):
            for url in urls:
                endpoint.wait(host=url)


# --- what is told ---

def test_families(idle):
    page = idle.scrape()
    assert {name: page.types[name] for name in FAMILIES} == {
        name: FAMILIES[name][0] for name in FAMILIES}
    assert set(page.types) == set(FAMILIES)
    for name in FAMILIES:
        assert re.fullmatch(r"[A-Z].*\.", page.helps[name]), page.helps[name]
        unit = name.rsplit("_", 1)[1]
        assert page.units.get(name) == (unit if unit in ("bytes", "seconds") else None)


@pytest.mark.parametrize("option,section", [("--memleak", "memory"), ("--cudatrace", "launches"),
                                            ("--bandwidth-util", "copies")])
def test_families_of_a_section(option, section):
    endpoint = Endpoint()
    with serving(endpoint, option):
        endpoint.wait()
        assert set(endpoint.scrape().types) == {name for name, f in FAMILIES.items()
                                                if f[2] in (None, section)}


TICK = 1 / os.sysconf("SC_CLK_TCK")


def boot_time():
    return int(re.search(r"^btime (\d+)$", Path("/proc/stat").read_text(encoding="ascii"),
                         re.MULTILINE)[1])


def own_times(pid):
    """CPU time of a process, and when it began after the machine: seconds."""
    words = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) * TICK, int(words[19]) * TICK


def test_of_gpuprobe_itself(idle):
    cpu_before = own_times(idle.pid)[0]
    # Connections come and go: the one of the page may be closed by now.
    page = idle.until(lambda page: page.value("process_open_fds")
                      - len(os.listdir(f"/proc/{idle.pid}/fd")) in (0, 1))
    assert abs(page.value("process_start_time_seconds")
               - (boot_time() + own_times(idle.pid)[1])) < 1
    # The kernel tells user and system time in whole ticks, each less than one too low.
    assert (0 < cpu_before - TICK <= page.value("process_cpu_seconds_total")
            <= own_times(idle.pid)[0] + 2 * TICK)
    assert 1e6 < page.value("process_resident_memory_bytes") < page.value(
        "process_virtual_memory_bytes")
    assert page.value("process_max_fds") > page.value("process_open_fds")
    version = subprocess.run([paths.GPUPROBE, "-V"], capture_output=True, text=True,
                             check=True).stdout.split()[1]
    assert page.find("gpuprobe_build_info") == [({"version": version}, 1)]
    assert page.value("gpuprobe_probes_attached", layer="driver") > 60
    assert {labels["layer"] for labels, _ in page.find("gpuprobe_probes_attached")} == {
        "driver", "runtime", "library"}
    assert page.sum("gpuprobe_events_lost_total") == 0
    assert len(page.find("gpuprobe_events_lost_total")) > 5


def mapped_maps(pid):
    """The BPF maps that it has mapped, as their sizes in bytes."""
    lines = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines()
    places = [line.split()[0].split("-") for line in lines if line.endswith("bpf-map")]
    return sorted(int(end, 16) - int(start, 16) for start, end in places)


@pytest.mark.plain("a sanitizer's own memory is resident too")
def test_resident_memory_after_readings(idle):
    """Memory that only a reading needs is mapped for its time, and no reading leaves more behind
    than the one before."""
    idle.scrape()
    first = idle.scrape().value("process_resident_memory_bytes")
    mapped = mapped_maps(idle.pid)
    for _ in range(20):
        page = idle.scrape()
    assert mapped and mapped_maps(idle.pid) == mapped
    # Its initial size depends on what else runs on the machine.
    # The counters, if they stayed mapped, are 1.4 MB.
    assert page.value("process_resident_memory_bytes") < first + 1e6, mapped


def check_labels(page):
    for (name, labels), _ in page.samples.items():
        family = re.sub(r"_(total|info)$", "", name)
        kind, own, _ = FAMILIES[family if family in FAMILIES else name]
        expected = {"pid", "comm"} | own if own is not None else OWN_LABELS.get(name, set())
        assert {key for key, _ in labels} == expected, name
        assert not any(re.search(r"0x[0-9a-f]{4}", value) for _, value in labels), labels


def test_out_of_memory(serve):
    """Its five failures within a second and a half are one each second, of one thread."""
    with serve(f"CUDA_SIM_MEMORY=1G '{paths.SIM}/faults' oom || :") as served:
        page = served.done().until(lambda page: page.sum("gpuprobe_out_of_memory_total"))
        served.finish()
    check_labels(page)
    assert page.sum("gpuprobe_out_of_memory_total") in (1, 2)


def test_memory_against_the_truth(serve):
    sim = paths.SIM
    with serve(f"""
        for kind in device managed host pool; do
            '{sim}/memory' --kind $kind --pairs 7 --keep 2 --size 8K
        done
        CUDA_SIM_FAIL=cuMemAlloc_v2:2 '{sim}/memory' --pairs 5 --fail-frees 3 || :
    """) as served:
        page = served.done().until(
            lambda page: page.sum("gpuprobe_live_at_exit_bytes_total") >= 3 * 2 * 8192)
        result = served.finish()
    check_labels(page)
    assert len(result.truths) == 5
    at_exit = 0
    for truth in result.truths:
        memory = truth.memory()
        assert page.value("gpuprobe_allocations_total", pid=truth.pid, comm="memory") == \
            sum(kind["allocations"] for kind in memory.values())
        assert page.value("gpuprobe_frees_total", pid=truth.pid) == sum(
            kind["frees"] for kind in memory.values())
        assert page.value("gpuprobe_allocation_failures_total",
                          pid=truth.pid) == truth.allocation_failures()
        assert page.value("gpuprobe_free_failures_total", pid=truth.pid) == truth.free_failures()
        assert page.value("gpuprobe_allocation_seconds_total", pid=truth.pid) > 0
        at_exit += sum(kind["live_bytes"] for name, kind in memory.items() if name != "host")
        errors = {(labels["function"], labels["error"]): value
                  for labels, value in page.find("gpuprobe_errors_total", pid=truth.pid)}
        assert sum(errors.values()) == sum(truth.errors().values())
    assert page.value("gpuprobe_live_at_exit_bytes_total") == at_exit == 3 * 2 * 8192
    assert page.value("gpuprobe_errors_total", function="cudaMalloc",
                      error="cudaErrorMemoryAllocation") == 1


def test_a_name_with_control_characters(serve, tmp_path):
    """The page has none, and a reader finds the process."""
    program = tmp_path / "\x1b]0;\a=\r1"
    program.symlink_to(paths.SIM / "memory")
    with serve(f"'{program}' --pairs 3") as served:
        page = served.done().until(lambda page: page.find("gpuprobe_allocations_total"))
        _, _, body = served.endpoint.request("/metrics")
        served.finish()
    assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", body)
    assert page.value("gpuprobe_allocations_total", comm=r"\x1b]0;\x07=\x0d1") == 3


def test_live_memory_by_kind(serve):
    sim = paths.SIM
    with serve("for kind in device managed host pool; "
               f"do '{sim}/memory' --kind $kind --pairs 1 --keep 3 --size 12K "
               "--hold 600 & done") as served:
        page = served.done().until(lambda page: page.sum("gpuprobe_memory_live_allocations") == 12)
        for kind in ("device", "managed", "host", "pool"):
            assert page.sum("gpuprobe_memory_live_allocations", kind=kind) == 3
            assert page.sum("gpuprobe_memory_live_bytes", kind=kind) == 3 * 12288
        check_labels(page)


def test_launches_and_copies_against_the_truth(serve):
    sim = paths.SIM
    with serve(f"""
        '{sim}/launch' --launches 1000 --kernels 7 --threads 2
        '{sim}/launch' --launches 11 --function graph
        '{sim}/copy' --count 3 --bytes 4K --api driver
        '{sim}/copy' --count 2 --bytes 64K
    """) as served:
        page = served.done().scrape()
        result = served.finish()
    check_labels(page)
    for truth in result.truths:
        told = {labels["kernel"]: value
                for labels, value in page.find("gpuprobe_kernel_launches_total", pid=truth.pid)
                if value}  # one that was only captured stands there with 0
        assert told == truth.launches()
        assert page.value("gpuprobe_graph_launches_total", pid=truth.pid) == truth.graph_launches()
        copies = {(labels["kind"], labels["mode"]): (value, page.value(
            "gpuprobe_copy_bytes_total", pid=truth.pid, kind=labels["kind"], mode=labels["mode"]))
            for labels, value in page.find("gpuprobe_copies_total", pid=truth.pid)}
        assert copies == truth.copies()
        for labels, value in page.find("gpuprobe_copy_seconds_total", pid=truth.pid):
            assert value > 0, labels


def test_series_of_an_ended_process_stay(serve):
    """Unchanged, so that a scraper gets the last values: the live memory is then none."""
    with serve(f"""
        '{paths.SIM}/memory' --pairs 5 --keep 4 --size 4K; '{paths.SIM}/launch' --launches 9
        while ! [ -e again ]; do sleep 0.05; done
        '{paths.SIM}/launch' --launches 4 --name-prefix later
    """) as served:
        first = served.endpoint.until(lambda page: page.sum("gpuprobe_live_at_exit_bytes_total")
                                      and page.sum("gpuprobe_kernel_launches_total") == 9
                                      and page.sum("gpuprobe_contexts_live") == 0)
        (served.place / "again").touch()
        second = served.done().until(lambda page: page.sum("gpuprobe_kernel_launches_total") == 13)
    assert first.sum("gpuprobe_allocations_total") == 9
    assert first.sum("gpuprobe_kernel_launches_total") == 9
    assert first.sum("gpuprobe_live_at_exit_bytes_total") == 4 * 4096
    mine = {key: value for key, value in first.samples.items() if key[0].startswith("gpuprobe_")
            and not key[0].startswith("gpuprobe_account_")}  # these go on with the user's next one
    assert {key: second.samples[key] for key in mine} == mine


@pytest.mark.slow
def test_series_of_an_ended_process_go_after_two_minutes(serve):
    with serve(f"'{paths.SIM}/memory' --pairs 5 --keep 4 --size 4K") as served:
        endpoint = served.done()
        time.sleep(110)
        assert endpoint.scrape().sum("gpuprobe_allocations_total") == 9
        time.sleep(20)
        page = endpoint.scrape()
        assert page.find("gpuprobe_allocations_total") == []
        assert page.value("gpuprobe_live_at_exit_bytes_total") == 4 * 4096


def test_names_are_cut_with_a_hash(serve):
    """Longer than 200 bytes, and alike for longer than that: still a series each."""
    with serve(f"'{paths.SIM}/launch' --launches 30 --kernels 3 --name-length 2000 "
               "--api driver") as served:
        page = served.done().scrape()
        truth = served.finish().truth
    told = {labels["kernel"]: value
            for labels, value in page.find("gpuprobe_kernel_launches_total")}
    assert sorted(told.values()) == sorted(truth.launches().values()) == [10, 10, 10]
    assert all(len(name.encode()) <= 200 for name in told)


def test_kernels_beyond_the_limit_are_other(serve):
    with serve(f"'{paths.SIM}/launch' --launches 1000 --kernels 20", "--metrics-kernels",
               "5") as served:
        page = served.done().scrape()
    told = {labels["kernel"]: value
            for labels, value in page.find("gpuprobe_kernel_launches_total")}
    assert len(told) == 6
    assert told.pop("other") == 750
    assert set(told.values()) == {50}


def test_no_kernel_of_its_own(serve):
    with serve(f"'{paths.SIM}/launch' --launches 100 --kernels 4", "--metrics-kernels",
               "0") as served:
        page = served.done().scrape()
    assert [(labels["kernel"], value)
            for labels, value in page.find("gpuprobe_kernel_launches_total")] == [("other", 100)]


@pytest.mark.parametrize("by", ["process", "user"])
def test_no_counter_goes_back(serve, by):
    """Under load, with more kernels than series, with processes that come and go, in all forms."""
    sim = paths.SIM
    with serve(f"""
        while '{sim}/launch' --seconds 4 --threads 2 --kernels 50 >/dev/null
              ! [ -e enough ]; do :; done &
        '{sim}/modules' --rounds 400 --launches 20 >/dev/null &
        '{sim}/forker' --processes 40 --short-lived 30 >/dev/null &
        '{sim}/memory' --threads 4 --pairs 100000 >/dev/null &
        '{sim}/copy' --count 2000 >/dev/null &
        wait
    """, "--metrics-kernels", "10", "--metrics-by", by) as served:
        last, pages = {}, 0
        while not (served.place / "done").exists():
            page = served.endpoint.scrape(openmetrics=pages % 2 == 0, compressed=pages % 3 == 0)
            counters = page.counters()
            back = {key: (value, counters.get(key)) for key, value in last.items()
                    if counters.get(key, -1) < value}
            assert back == {}
            last = counters
            pages += 1
            if pages > 20:
                (served.place / "enough").touch()
            time.sleep(0.02)
        page = served.endpoint.scrape()
        result = served.finish()
    assert pages > 20
    assert page.sum("gpuprobe_events_lost_total") == 0
    assert page.sum("gpuprobe_kernel_launches_total") == sum(
        sum(t.launches().values()) for t in result.truths)
    if by == "process":
        check_labels(page)


def test_process_names_are_escaped(gpuprobe, tmp_path):
    """A process may call itself anything."""
    name = 'a"b\\c\nd'
    program = tmp_path / name
    program.write_bytes((paths.SIM / "launch").read_bytes())
    program.chmod(0o755)
    place = tmp_path / "meet"
    place.mkdir()
    os.symlink(program, place / "program")
    (place / "run").write_text(
        f"import os\nos.execve({str(program)!r}, ['x', '--launches', '4'], os.environ)\n")
    with Served(gpuprobe, place,
                f"LD_LIBRARY_PATH='{paths.SIM}' /usr/bin/python3 '{place}/run'") as served:
        page = served.done().scrape()
        other = served.endpoint.scrape(openmetrics=False)
    assert page.value("gpuprobe_kernel_launches_total", comm=name) == 4
    assert other.value("gpuprobe_kernel_launches_total", comm=name) == 4
