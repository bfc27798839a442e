# SPDX-License-Identifier: BSD-2-Clause
"""Debug files requested from a debuginfod server, the test's own: only if the user wants it."""
import http.server
import json
import re
import socket
import struct
import subprocess
import threading
import time

import pytest

from lib import paths
from lib.probe import environment, kill_tree
from lib.script import PROGRAMS

pytestmark = pytest.mark.plain(
    "libcurl, which libdebuginfod brings, keeps memory after it is closed")

SOURCE = PROGRAMS / "early_late.c"
WAIT_S = 5  # DEBUGINFOD_FILE_MS


class Server:
    """Serves files by build id, 404 for others; notes what it is asked."""

    def __init__(self):
        self.files, self.held = {}, {}
        self.errors = {}  # instead of 404; None: the connection is reset
        self.asked = []
        self.sent = threading.Event()
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                server.answer(self)

            def log_message(self, *args):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.02,))
        self.thread.start()

    def answer(self, request):
        self.asked.append(request.path)
        found = re.fullmatch(r"/buildid/([0-9a-f]+)/debuginfo", request.path)
        build_id = found and found[1]
        if build_id in self.held:
            self.held[build_id].wait(600)
        if build_id in self.errors and self.errors[build_id] is None:
            request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                          struct.pack("ii", 1, 0))
            request.rfile.close()
            request.wfile.close()
            request.connection.close()
            return
        content = self.files[build_id].read_bytes() if build_id in self.files else b""
        try:
            request.send_response(200 if content else self.errors.get(build_id, 404))
            request.send_header("Content-Length", str(len(content)))
            request.end_headers()
            request.wfile.write(content)
        except OSError:
            pass
        if content:
            self.sent.set()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.http.server_address[1]}"

    def times_asked(self, build_id):
        return self.asked.count(f"/buildid/{build_id}/debuginfo")

    def close(self):
        for held in self.held.values():
            held.set()
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


@pytest.fixture
def make_server():
    servers = []

    def make():
        servers.append(Server())
        return servers[-1]

    yield make
    for server in servers:
        server.close()


@pytest.fixture
def server(make_server):
    return make_server()


def build_id(path):
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True,
                           check=True).stdout
    return re.search(r"Build ID: ([0-9a-f]+)", notes)[1]


class Program:
    """early_late in three forms: whole, stripped and its separate debug information."""

    def __init__(self, directory, *options):
        self.whole, self.stripped = directory / "whole", directory / "early_late"
        self.debug = directory / "only.debug"
        subprocess.run(["gcc", "-g", "-O1", "-fno-omit-frame-pointer",
                        "-fno-optimize-sibling-calls", *options, "-Wl,--build-id=sha1",
                        "-o", self.whole, SOURCE, f"-L{paths.SIM}", "-l:libcudart.so.13",
                        f"-Wl,-rpath,{paths.SIM}"], check=True)
        subprocess.run(["objcopy", "--only-keep-debug", self.whole, self.debug], check=True)
        subprocess.run(["strip", "-o", self.stripped, self.whole], check=True)
        self.id = build_id(self.whole)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return Program(tmp_path_factory.mktemp("program"))


def start(path, urls, cache, **changes):
    env = environment(DEBUGINFOD_URLS=urls, DEBUGINFOD_CACHE_PATH=cache, **changes)
    return subprocess.Popen([paths.GPUPROBE, "memleak", "--json", "--", path], env=env, text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(running):
    """What it tells of the frames below cudaMalloc, by size of the allocations, and its stderr."""
    try:
        out, err = running.communicate("x" if running.stdin else None, timeout=60)
    finally:
        if running.poll() is None:
            kill_tree(running.pid)
    assert running.returncode == 0, err
    process, = [process for line in out.splitlines() for process in json.loads(line)["processes"]
                if process["ended"]]
    frames = {}
    for site in process["sites"]:
        frame = site["stack"]["frames"][1]
        frames.setdefault(site["bytes"] // site["allocations"], []).append(
            (frame.get("function"), frame["object"], frame.get("file"), frame.get("line")))
    return {size: sorted(found, key=str) for size, found in frames.items()}, err


def run(path, urls, cache, **changes):
    return finish(start(path, urls, cache, **changes))


def expected(name, function=True, lines=True, path="early_late"):
    text = SOURCE.read_text(encoding="utf-8")
    line = text[:text.index(f"/* {name} */")].count("\n") + 1
    return [(name if function else None, path, str(SOURCE) if lines else None,
             line + i if lines else None) for i in range(2)]


NAMED = {512: expected("early"), 4096: expected("late")}
UNNAMED = {512: expected("early", False, False), 4096: expected("late", False, False)}


def test_names_and_lines(program, server, tmp_path):
    server.files[program.id] = program.debug
    assert run(program.stripped, server.url, tmp_path) == (NAMED, "")
    assert server.times_asked(program.id) == 1
    assert len(server.asked) == len(set(server.asked))
    # The next run finds it in the client's cache.
    assert run(program.stripped, "http://127.0.0.1:9", tmp_path) == (NAMED, "")
    assert server.times_asked(program.id) == 1


def test_not_asked_unless_wanted(program, server, tmp_path):
    server.files[program.id] = program.debug
    assert run(program.stripped, None, tmp_path) == (UNNAMED, "")
    assert server.asked == []
    assert list(tmp_path.iterdir()) == []


def test_not_asked_for_what_is_there(program, server, tmp_path):
    """A file with names and lines needs no other; one with names alone can gain lines."""
    server.files[program.id] = program.debug
    frames, _ = run(program.whole, server.url, tmp_path)
    assert frames == {512: expected("early", path="whole"), 4096: expected("late", path="whole")}
    assert server.times_asked(program.id) == 0
    names_only = tmp_path / "early_late"
    subprocess.run(["strip", "--strip-debug", "-o", names_only, program.whole], check=True)
    assert run(names_only, server.url, tmp_path / "cache")[0] == NAMED
    assert server.times_asked(program.id) == 1


def test_no_build_id(server, tmp_path, program):
    """There is nothing to ask for."""
    bare = tmp_path / "early_late"
    subprocess.run(["objcopy", "--remove-section", ".note.gnu.build-id", program.stripped, bare],
                   check=True)
    server.files[program.id] = program.debug
    assert run(bare, server.url, tmp_path / "cache") == (UNNAMED, "")
    assert server.times_asked(program.id) == 0


def test_another_file(program, server, tmp_path):
    """What has another build id is not believed."""
    (tmp_path / "other").mkdir()
    other = Program(tmp_path / "other", "-DOTHER=1", "-O0")
    assert other.id != program.id
    server.files[program.id] = other.debug
    assert run(program.stripped, server.url, tmp_path / "cache") == (UNNAMED, "")
    assert server.times_asked(program.id) == 1


# The client itself remembers the first for a while, and not the second, a connection that is reset.
@pytest.mark.parametrize("status", [404, None])
def test_errors_are_remembered(program, server, tmp_path, status):
    server.errors[program.id] = status
    assert run(program.stripped, server.url, tmp_path, DEBUGINFOD_RETRY_LIMIT=0) == (UNNAMED, "")
    assert server.times_asked(program.id) == 1


def test_no_library(program, server, tmp_path):
    for name in ("libdebuginfod.so.1", "libdebuginfod.so"):
        (tmp_path / name).write_text("this is no library, whatever its name says\n" * 100,
                                     encoding="utf-8")
    frames, err = run(program.stripped, server.url, tmp_path, LD_LIBRARY_PATH=tmp_path)
    assert frames == UNNAMED
    assert re.fullmatch(
        r"gpuprobe: warning: DEBUGINFOD_URLS is set, but no server can be asked for debug files: .*"
        r"libdebuginfod\.so.*\(Debian's package libdebuginfod1 has it\)\n", err)
    assert server.asked == []


def until_asked(server, program):
    end = time.monotonic() + 60
    while not server.times_asked(program.id):
        assert time.monotonic() < end
        time.sleep(0.01)
    return time.monotonic()


def test_slow_and_hanging_servers(program, make_server, tmp_path):
    """After a while frames are named without the server;
    a file that comes later serves frames named later."""
    slow, hanging = make_server(), make_server()
    running = []
    for server in (slow, hanging):
        server.files[program.id] = program.debug
        server.held[program.id] = threading.Event()
        running.append(start(program.stripped, server.url, tmp_path / f"{len(running)}"))
    asked = until_asked(slow, program)
    asked = max(asked, until_asked(hanging, program))
    time.sleep(max(0, WAIT_S + 0.5 - (time.monotonic() - asked)))
    slow.held[program.id].set()
    assert slow.sent.wait(60)
    time.sleep(0.3)
    assert finish(running[0]) == ({512: UNNAMED[512], 4096: NAMED[4096]}, "")
    # It ends while it has no answer.
    assert finish(running[1]) == (UNNAMED, "") and not hanging.sent.is_set()
    assert hanging.times_asked(program.id) == 1
    # What was stopped is not taken for something that does not exist, nor for all of it.
    hanging.held.clear()
    assert run(program.stripped, hanging.url, tmp_path / "1") == (NAMED, "")
