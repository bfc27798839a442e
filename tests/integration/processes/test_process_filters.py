# SPDX-License-Identifier: BSD-2-Clause
"""--comm, --uid, --container and --pod: reports, metrics, dumps, ps and top without others."""
import json
import shutil
import subprocess
import uuid
from pathlib import Path

import pytest

from lib import paths
from lib.cli import run
from lib.paths import LIBCUDA, LIBCUDART, workload
from lib.probe import Background, wait_until
from lib.scrape import Endpoint
from lib.script import script

GIVEN = [LIBCUDA, LIBCUDART]
POD = "12345678-90ab-cdef-1234-567890abcdef"


@pytest.fixture
def both(tmp_path):
    """A command of two programs: "launch" makes 20 launches, and "elsewhere" 30."""
    renamed = tmp_path / "elsewhere"
    shutil.copy(workload("launch"), renamed)
    return ["sh", "-c", '"$0" --launches 20; "$1" --launches 30', workload("launch"), renamed]


def launches(report):
    return {process["comm"]: process["launches"] for process in report["processes"]}


def test_the_others_are_in_no_report(gpuprobe, both):
    options = {"env": {"LD_LIBRARY_PATH": paths.SIM}, "libraries": GIVEN}
    assert launches(gpuprobe.run(*both, **options).final) == {"launch": 20, "elsewhere": 30}
    some = gpuprobe.run(*both, args=["--comm", "elsewhere"], **options)
    assert launches(some.final) == {"elsewhere": 30} and "left out" not in some.stderr
    none = gpuprobe.run(*both, args=["--comm", "no-such", "--uid", "root"], **options)
    assert none.final["processes"] == []
    assert ("no process that uses CUDA matches --comm no-such --uid root; 2 others were left out"
            in none.stderr)


@pytest.mark.parametrize("command", ["stat", "diagnose"])
def test_profiles(gpuprobe, both, command):
    result = gpuprobe.run(*both, base=[command, "--json", "--comm", "elsewhere"],
                          env={"LD_LIBRARY_PATH": paths.SIM}, libraries=GIVEN)
    told = result.reports[-1]
    assert "elsewhere" in str(told) and "'comm': 'launch'" not in str(told)


def test_user(gpuprobe):
    """A process is judged again when it runs another program: by then it has another user."""
    command = script("""
        if not os.fork():
            made(runtime.cudaMalloc, 4096)
            os.environ.pop("CUDA_SIM_TRUTH")  # a file of the other user
            os.setuid(12345)
            os.execv(sys.executable, [sys.executable, "-c",
                     "from ctypes import *; CDLL(%r).cudaMalloc(byref(c_void_p()), 64)"
                     % (SIM + "/libcudart.so.13")])
        os.wait()
    """)
    for user in (0, 12345):
        result = gpuprobe.run(*command, args=["--uid", user], libraries=GIVEN)
        assert {process["uid"] for process in result.final["processes"]} == {user}


@pytest.fixture
def container():
    """The id of a container, and the directory of its control group, in a pod."""
    identifier = uuid.uuid4().hex * 2
    for root in map(Path, ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids")):
        if (root / "cgroup.procs").exists():
            break
    made = [root / "kubepods"]
    made += [made[0] / f"pod{POD}", made[0] / f"pod{POD}" / identifier]
    try:
        made[-1].mkdir(parents=True)
    except OSError as error:
        pytest.skip(f"no control group can be made: {error}")
    yield identifier, made[-1]

    def is_gone(group):
        try:
            group.rmdir()
        except OSError:
            return not group.exists()
        return True

    wait_until(lambda: is_gone(made[-1]), "the control group cannot be removed")
    for group in made[1::-1]:
        is_gone(group)


def inside(directory, *command):
    """The command, in the control group, until it is killed."""
    return Background("sh", "-c", f'echo $$ > {directory}/cgroup.procs && exec "$@" >/dev/null',
                      "sh", *map(str, command))


def test_container_and_pod(gpuprobe, container):
    """In reports and metrics, and a process outside is counted by neither."""
    identifier, directory = container
    endpoint = Endpoint()
    args = ["--container", identifier[:12], "--pod", POD, "--web", "off", *endpoint.option]
    with gpuprobe.start(libraries=GIVEN, base=["--json"], args=args) as running:
        running.wait_until_watching()
        with inside(directory, workload("launch"), "--launches", 5, "--hold", 600) as program:
            running.find(lambda report: launches(report) == {"launch": 5})
            subprocess.run([workload("launch"), "--launches", "7"], check=True,
                           stdout=subprocess.DEVNULL)
            assert launches(running.report()) == {"launch": 5}
            page = endpoint.scrape()
            assert [labels["pid"] for labels, _ in page.find("gpuprobe_process_info")] == [
                str(program.pid)]
            status, _, landing = endpoint.request("/")
            assert status == 200 and f">{program.pid}</td>" in landing.decode()
            assert f"only --container {identifier[:12]} --pod {POD}" in landing.decode()
            assert "Processes that use CUDA: 1<" in landing.decode()
            dumped = run("dump", "--pod", POD, "--json").stdout
            assert f'"pid":{program.pid},' in dumped.replace(" ", "")
            listed = json.loads(run("ps", "--pod", POD, "--json").stdout)
            assert [process["pid"] for process in listed["processes"]] == [program.pid]
            for command in ("dump", "ps"):
                other = run(command, "--container", "00000000")
                assert "no process that uses CUDA matches --container 00000000" in other.stderr
        result = running.stop()
    assert [process["pid"] for process in result.processes] == [program.pid]


def test_trace(tracer, container):
    identifier, directory = container
    running, path = tracer.start(args=["--container", identifier[:4], "-e", "launch", "--count",
                                       5], libraries=GIVEN, columns="time,pid,event")
    with running:
        running.wait_until_watching()
        subprocess.run([workload("launch"), "--launches", "7"], check=True,
                       stdout=subprocess.DEVNULL)
        with inside(directory, workload("launch"), "--launches", 5, "--hold", 600) as program:
            running.finish()
    calls = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [call["pid"] for call in calls if "event" in call] == [program.pid] * 5
