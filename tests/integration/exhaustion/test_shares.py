# SPDX-License-Identifier: BSD-2-Clause
"""Programs of one user that use up probed files, descriptors and time:
another user's program is counted exactly."""
import os
import re
import resource

import pytest

from lib import paths
from lib.hostile import (HONEST, HOSTILE, as_user, build_made_up, compile_c, copy_library, give,
                         resident_mb, shared_directory, write_large_library)
from lib.probe import Background, Running, environment, wait_until
from lib.scrape import Endpoint

LAUNCHES = 4000
LIBRARIES = 20
DESCRIPTORS = 520  # room for 66 files, half of it for one user
TWO_TURNS = 14  # files


@pytest.fixture(name="place")
def two_users():
    """A directory with a honest program and one that maps libraries."""
    with shared_directory() as directory:
        build_made_up(directory / "honest", HONEST)
        compile_c(directory / "map_libraries", "map_libraries.c")
        yield directory


def map_libraries(place, first, count):
    return Background(*as_user(HOSTILE), place / "map_libraries", place / "libraries", first, count)


def check_honest(running, place):
    """A first program brings the library, for the second all is there from its first call."""
    program = place / "honest" / "made_up"
    library = re.escape(str(program.parent))
    with Background(*as_user(HONEST), program, "usual", 1, "wait") as first:
        first.stdout.readline()
        running.wait_for(lambda r: re.search(f"{library}.* functions probed", running.stderr))
    with Background(*as_user(HONEST), program, "usual", LAUNCHES, "wait") as honest:
        process = running.find(lambda r: next((p for p in r["processes"] if p["pid"] == honest.pid
                                               and p["launches"] >= LAUNCHES), None))
        assert process["launches"] == LAUNCHES and not process["since_attach"], process


def open_files(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


@pytest.mark.plain("the sanitizers need descriptors of their own")
def test_one_user_leaves_room_for_others(place):
    """More libraries than there are descriptors for: the user has a share,
    and gpuprobe says what it leaves out."""
    copy_library(place / "honest" / "libcuda.so.1", place / "libraries", 2 * LIBRARIES, HOSTILE)
    limited = ["prlimit", f"--nofile={DESCRIPTORS}:{DESCRIPTORS}", "--", str(paths.GPUPROBE)]
    with Running([*limited, "-v", "--json", "--metrics-addr", "none", "--display-interval", "0.1"],
                 environment(), place, None) as running:
        running.report()
        with map_libraries(place, 0, LIBRARIES), map_libraries(place, LIBRARIES, LIBRARIES):
            running.wait_for(lambda r: ("programs of its user have too many CUDA libraries"
                                        in running.stderr))
            assert running.report()["lost"]["library_skipped"]
            check_honest(running, place)
            assert open_files(running.pid) < DESCRIPTORS


def test_many_files_are_looked_at_in_turns(gpuprobe, place):
    """More than one turn has time for: all of them get their probes, and the page is served."""
    copy_library(place / "honest" / "libcuda.so.1", place / "libraries", TWO_TURNS, HOSTILE)
    endpoint = Endpoint()
    with gpuprobe.start(args=["-v"], base=["--json", *endpoint.option]) as running:
        running.report()
        with map_libraries(place, 0, TWO_TURNS):
            name = re.escape(str(place / "libraries"))
            running.wait_for(lambda r: len(re.findall(f"{name}/.* functions probed",
                                                      running.stderr)) == TWO_TURNS)
            assert endpoint.request("/healthz")[0] == 200
            check_honest(running, place)


def test_symbols_without_end_are_not_read(gpuprobe, place):
    """Tables larger than any library's: they are left out, and that is told."""
    for number in range(4):
        (place / "libraries" / str(number)).mkdir(parents=True)
        write_large_library(place / "libraries" / str(number) / "libcuda.so.1", 8 << 20, 255 << 20)
    give(place / "libraries", HOSTILE)
    with gpuprobe.start(args=["-v"]) as running:
        running.report()
        with map_libraries(place, 0, 4):
            running.wait_for(lambda r: running.stderr.count("too many symbols") == 4)
            running.wait_for(lambda r: r["lost"]["library_skipped"] >= 4)
            check_honest(running, place)


@pytest.mark.slow
def test_large_symbols_are_read_by_their_path(gpuprobe, place):
    """Who names it knows what it is."""
    library = place / "libcuda.so.1"
    write_large_library(library, 8 << 20, 255 << 20)
    with gpuprobe.start(libraries=[library], args=["-v"]) as running:
        running.wait_for(lambda r: re.search(f"{re.escape(str(library))}: 2 functions probed",
                                             running.stderr))


@pytest.mark.slow
@pytest.mark.plain("it measures gpuprobe's memory")
def test_forty_large_libraries(gpuprobe, place):
    """As in the field: the largest tables that gpuprobe accepts, 960 KB on disk;
    it reads no more than it needs."""
    for number in range(40):
        (place / "libraries" / str(number)).mkdir(parents=True)
        size = (8 << 20, 255 << 20) if number % 2 else (2 << 20, 64 << 20)
        write_large_library(place / "libraries" / str(number) / "libcuda.so.1", *size)
    give(place / "libraries", HOSTILE)
    endpoint = Endpoint()
    with gpuprobe.start(args=["-v"], base=["--json", *endpoint.option]) as running:
        running.report()
        with map_libraries(place, 0, 40):
            check_honest(running, place)
            wait_until(lambda: running.stderr.count("functions probed") > 20,
                       lambda: running.stderr)
            assert resident_mb(running.pid) < 150


def test_command_has_its_own_limit(gpuprobe):
    """gpuprobe raises its own."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard))
    try:
        result = gpuprobe.run(
            "sh", "-c", "echo $(ulimit -Sn) $(ulimit -Hn); grep 'open files' /proc/$PPID/limits")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    lines = result.stdout.splitlines()
    assert lines[0] == f"512 {hard}"
    assert lines[1].split()[3:5] == [str(hard), str(hard)]
