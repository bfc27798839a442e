# SPDX-License-Identifier: BSD-2-Clause
"""Fixtures of the integration tests: the real gpuprobe with real probes, so they need root."""
import atexit
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

BUILD = Path(os.environ.get("GPUPROBE_BUILD", Path(__file__).resolve().parents[2] / "build"))
# All processes of a run collect all tests. The first one keeps the compiled modules for the others:
# pytest needs eight seconds to compile them, because it rewrites each assertion.
sys.pycache_prefix = str(BUILD / "pycache")
sys.dont_write_bytecode = False

pytest.register_assert_rewrite("lib.profile_runs", "lib.check", "lib.cli", "lib.dump", "lib.exact",
                               "lib.gpu_queue", "lib.probe", "lib.trace")


from lib import surroundings  # noqa: E402

surroundings.settle()


def copy_build():
    """
    A copy of the program and libraries under test for this process's tests. Probes belong to files:
    a gpuprobe that watches all users of the simulated libraries does not see the programs of
    concurrent tests, since their files are different.
    """
    copy = Path(tempfile.mkdtemp(prefix="gpuprobe-tests-"))
    atexit.register(shutil.rmtree, copy, ignore_errors=True)
    copy.chmod(0o755)
    shutil.copy(os.environ.get("GPUPROBE_PROGRAM", BUILD / "gpuprobe"), copy)
    for library in ("libgpuprobe-times.so", "libgpuprobe-nvtx.so"):
        shutil.copy(BUILD / library, copy)
    shutil.copytree(BUILD / "sim", copy / "sim")
    shutil.copytree(BUILD / "bpf", copy / "bpf")
    shutil.copytree(BUILD / "completions", copy / "completions")
    os.environ["CUDA_SIM_MACHINE"] = copy.name
    os.environ["GPUPROBE_BUILD"] = str(copy)
    os.environ["GPUPROBE_PROGRAM"] = str(copy / "gpuprobe")


if "PYTEST_XDIST_WORKER" in os.environ:
    copy_build()

from lib import (  # noqa: E402
    certain, dump, folders, leftovers, paths, results, sanitizer, scrape, steady)
from lib.probe import Probe, environment  # noqa: E402
from lib.trace import Tracer  # noqa: E402

# GPUPROBE_TEST_LINKS=session,multi leaves a kind out.
LINKS = tuple(os.environ.get("GPUPROBE_TEST_LINKS", "session,multi,perf").split(","))


def pytest_configure(config):
    # A shell ignores these signals for what it starts in the background,
    # and the programs started here would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        surroundings.catch_ignored_signals()
    config.addinivalue_line("markers", "slow: takes long; part of `make test-full` only")
    config.addinivalue_line(
        "markers", "alone(why): fails where another test runs beside it, or makes that fail")
    config.addinivalue_line(
        "markers", "plain(why): not with sanitizers, which change what it measures or rests on")
    config.addinivalue_line("markers", "alone_by_perf(why): the same, with tracefs links only")
    config.addinivalue_line(
        "markers", "waits(why): holds no CPU for most of its time; runs on workers of its own")
    results.register(config)


def pytest_itemcollected(item):
    """
    Keeps tests that share a module's fixture on one worker,
    and adds the marks for tracefs links to the test.
    """
    by_perf = item.get_closest_marker("alone_by_perf")
    if by_perf and item.callspec.params["links"] == "perf":
        item.add_marker(pytest.mark.alone(*by_perf.args))
    shared = {definition.scope for definitions in item._fixtureinfo.name2fixturedefs.values()
              for definition in definitions}
    if "module" in shared:
        item.add_marker(pytest.mark.xdist_group(item.module.__name__))


@pytest.fixture(scope="session", autouse=True)
def built():
    """Fails early and clearly where there is nothing to test or no right to."""
    if os.geteuid() != 0:
        pytest.exit("the integration tests need root: sudo make test", returncode=1)
    for path in (paths.GPUPROBE, paths.LIBCUDA, paths.LIBCUDART):
        if not path.exists():
            pytest.exit(f"{path} is missing: run make first", returncode=1)
    sanitizer.directory()


@pytest.fixture(autouse=True)
def no_sanitizer_report(built):
    """A sanitizer's report fails the test that ran gpuprobe, whatever that test checks itself."""
    yield
    reports = sanitizer.take_reports()
    if reports:
        raise certain.Report("\n".join(reports))


@pytest.fixture(scope="session")
def missing_links():
    """Kinds of links that this kernel does not have."""
    missing = set()
    for kind in LINKS:
        if kind == "perf" and not leftovers.tracefs_answers():
            missing.add(kind)
            continue
        done = subprocess.run([paths.GPUPROBE, "--duration", "0.01", "--metrics-addr",
                               "none", "-q"], env=environment(GPUPROBE_LINKS=kind),
                              capture_output=True, text=True, check=False)
        if "this kernel has no such links" in done.stderr:
            missing.add(kind)
    return missing


# Tests that also run with other kinds of links than sessions on each run, by module; None: all of
# them. They are about what is different: probes that come and go, threads and processes that end in
# the middle of a call, counted returns. Where a library lies and how it comes into a process is
# found out without regard to links. `make test-full` runs all tests with all kinds, and the old
# kernel's suite tests tracefs links with all families, processes and files.
COME_AND_GO = {"test_children_of_a_shell", "test_forks", "test_one_library_after_the_other",
               "test_libraries_while_parents_are_looked_after",
               "test_the_user_that_called_sudo_is_counted", "test_duration_ends_gpuprobe_only",
               "test_command_that_ends_at_once", "test_ends_at_once",
               "test_whole_machine_ends_at_once", "test_killed_at_random_moments"}
IN_CALLS = {"test_forks", "test_exec_makes_another_process_of_the_same_pid", "test_short_lives",
            "test_a_fork_after_cuda", "test_a_process_without_its_first_thread",
            "test_exec_by_another_thread", "test_many_short_threads",
            "test_counts_of_threads_that_end", "test_more_threads_than_count_for_themselves",
            "test_more_counters_than_a_thread_has", "test_calls_that_never_return",
            "test_a_free_that_is_left_when_its_address_is_anothers"}
FILES = {"test_two_overlay_mounts_of_one_file", "test_library_deleted_while_mapped",
         "test_stranger_with_an_unknown_library", "test_gpuprobe_in_a_pid_namespace"}
ON_EACH_RUN = {"perf": {"test_command": COME_AND_GO},
               "multi": {"test_command": COME_AND_GO, "test_processes": IN_CALLS,
                         "test_probed_files": FILES, "test_launches": None,
                         "test_trace_calls": None, "test_trace_losses": None}}


def runs_each_time(item, kind):
    """Whether `make test` runs the test with this kind of links."""
    modules = ON_EACH_RUN.get(kind, {})
    chosen = modules.get(item.module.__name__, ())
    return kind == "session" or chosen is None or item.originalname in chosen


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        kind = getattr(getattr(item, "callspec", None), "params", {}).get("links", "session")
        if not runs_each_time(item, kind):
            item.add_marker(pytest.mark.slow)
        if kind == "perf":
            item.add_marker(pytest.mark.waits("until the kernel has removed each event of tracefs"))


@pytest.fixture(params=LINKS)
def links(request, missing_links):
    """Each kind of links in turn."""
    if request.param in missing_links:
        pytest.skip(f"this kernel has no {request.param} links, "
                    "or its tracefs does not answer after a fault")
    return request.param


@pytest.fixture
def tracefs(missing_links):
    """For tests of tracefs links alone."""
    if "perf" in missing_links:
        pytest.skip("tracefs does not answer: this kernel has faulted and must be booted anew")


@pytest.fixture
def gpuprobe(tmp_path):
    """gpuprobe with the links it chooses by itself."""
    return Probe(tmp_path)


@pytest.fixture
def gpuprobe_by(tmp_path, links):
    """gpuprobe with each kind of links in turn."""
    return Probe(tmp_path, links)


@pytest.fixture
def tracer(tmp_path):
    """gpuprobe trace with the links it chooses by itself."""
    return Tracer(tmp_path)


@pytest.fixture
def tracer_by(tmp_path, links):
    """gpuprobe trace with each kind of links in turn."""
    return Tracer(tmp_path, links)


@pytest.fixture
def nothing_left():
    """After the test no program, map, link or tracefs event of an ended gpuprobe is left that was
    not there before."""
    leftovers.mount_tracefs()
    before = leftovers.present()
    yield
    leftovers.assert_none(before)


@pytest.fixture(scope="session")
def threads(tmp_path_factory):
    """programs/threads.c"""
    return steady.build(tmp_path_factory.mktemp("threads"), "threads")


@pytest.fixture(scope="session")
def imported(tmp_path_factory):
    """programs/imported.c"""
    return steady.build(tmp_path_factory.mktemp("imported"), "imported")


@pytest.fixture(scope="session")
def stuck(tmp_path_factory):
    """programs/stuck.c in its variants."""
    return dump.Builder(tmp_path_factory.mktemp("stuck"))


@pytest.fixture
def sleeper():
    """A process that uses no CUDA, for gpuprobe to watch or inspect; no other test uses it."""
    process = subprocess.Popen(["sleep", "3600"])
    yield process.pid
    process.kill()
    process.wait()


@pytest.fixture
def open_dir():
    """A directory that every user can read, with gpuprobe, the simulated libraries and two
    workloads in it."""
    with folders.private("launch", "idle-holder", gpuprobe=True) as directory:
        yield directory


@pytest.fixture
def free_port():
    """A TCP port of the loopback that nobody uses, nor gets as long as the test runs."""
    with scrape.hold_port() as held:
        yield held.getsockname()[1]


@pytest.fixture(params=["session", "multi"])
def gpuprobe_multi(request, gpuprobe, missing_links):
    """The links that can be taken out in time."""
    if request.param in missing_links:
        pytest.skip(f"this kernel has no {request.param} links")
    gpuprobe.links = request.param
    return gpuprobe
