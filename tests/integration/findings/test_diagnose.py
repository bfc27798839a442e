# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe diagnose as a command: its text and JSON, its explanations, and how it ends."""
import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import termios
import time

import pytest

from lib import paths
from lib.probe import Background, environment, kill_tree, wait_for_file, wait_until_watching
from lib.script import script
from lib.undisturbed import undisturbed
from test_stack_modes import FRAMES, PATHS, build

# Allocations and frees that take nearly all of the time.
CHURN = {"CUDA_SIM_LATENCY": "cuMemAlloc_v2=400us,cuMemFree_v2=100us"}
CHURNING = ["memory", "--pairs", 800, "--size", "64K"]


# All launches are watched, however much time each takes on a busy machine.
EXACT = ("--max-overhead", "off")


def diagnose(*args, env=None):
    return subprocess.run([paths.GPUPROBE, "diagnose", *EXACT, *map(str, args)],
                          env=environment(**(env or {})), text=True,
                          capture_output=True, timeout=60, check=False)


def churning(*args):
    workload, *rest = CHURNING
    return diagnose(*args, "--", paths.workload(workload), *rest, env=CHURN)


def report_of(done):
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"schema"')]
    assert len(lines) == 1
    return json.loads(lines[0])


def listed():
    lines = diagnose("--list").stdout.splitlines()
    return [line.split()[0] for line in lines[1:] if not line.startswith(" ")]


def test_words():
    done = churning()
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    first = lines.index("findings: 1 warning")
    assert (lines[first + 2]
            == "warning  alloc-churn: the same memory is allocated and freed again and again")
    assert re.fullmatch(r" {8}process \d+ \(memory\): cudaMalloc of 64\.0 KiB", lines[first + 3])
    rest = "\n".join(lines[first + 4:])
    assert re.search(
        r"^ {8}cost: [\d.]+ m?s, \d+\.\d % of the process's watched time, in allocations", rest,
        re.M)
    assert re.search(r"^ {8}saving: about [\d.]+ m?s, if ", rest, re.M)
    # Where: this program has frame pointers, libc has not.
    assert re.search(r"^ {8}at:\n {16}cudaMalloc\+0x0 \[libcudart\.so\.13\].*\n"
                     r" {16}run_thread\+0x\w+ \[memory\]", rest, re.M)
    assert lines[-2] == "gpuprobe diagnose --explain alloc-churn explains what to do"
    assert "some stacks break off at memory: use --stack auto" in done.stderr
    assert max(map(len, lines)) <= 100


ALIKE = """
import threading
start()
_, (kernel,) = module("kernel")
context = made(driver.cuCtxGetCurrent)
need(driver.cuCtxSetFlags(4))  # waits sleep: three threads that spin would keep both CPUs
def wait_each():
    need(driver.cuCtxSetCurrent(context))
    stream = made(driver.cuStreamCreate, 1)
    for _ in range(3000):
        need(launch(kernel, stream))
        need(driver.cuStreamSynchronize(stream))
for _ in range(3):
    threading.Thread(target=wait_each).start()
"""


def test_threads_that_do_the_same():
    """They are told once, with who they are; --json has a finding of each."""
    command = undisturbed(*script(ALIKE))
    clock = {"CUDA_SIM_CLOCK": "kernel=300us"}
    lines = diagnose("--", *command, env=clock).stdout.splitlines()
    assert "findings: 1 warning" in lines
    assert sum(line.startswith("warning  sync-after-every-launch") for line in lines) == 1
    same = [re.fullmatch(r" {8}the same in 2 other threads \((\d+), (\d+)\): [\d.]+ m?s", line)
            for line in lines]
    assert len([match for match in same if match]) == 1
    assert "more finding" not in diagnose("--top", 1, "--", *command, env=clock).stdout
    report = report_of(diagnose("--json", "--", *command, env=clock))
    assert len({finding["tid"] for finding in report["findings"]}) == len(report["findings"]) == 3


def test_json():
    report = report_of(churning("--json", "--threshold", "alloc-churn.pairs=20"))
    assert (report["schema"], report["final"]) == ("gpuprobe.stat/1", True)
    assert report["thresholds"]["alloc-churn"]["pairs"] == 20
    assert set(report["thresholds"]) == set(listed())
    [finding] = report["findings"]
    [process] = report["processes"]
    calls = [function for function in process["functions"]
             if function["function"] in ("cudaMalloc", "cudaFree")]
    assert (finding["id"], finding["severity"], finding["pid"], finding["tid"],
            finding["comm"]) == ("alloc-churn", "warning", process["pid"], None, "memory")
    cost = finding["cost_seconds"]
    # A call that belongs to no pair, such as the first of all, may be the one that a busy machine
    # kept for long.
    assert 0 <= sum(call["total_ns"] for call in calls) / 1e9 - cost <= sum(
        call["max_ns"] for call in calls) / 1e9 + 0.01 * cost
    watched = (process["ended_ns"] - max(process["start_ns"], report["began_ns"])) / 1e9
    assert finding["cost_share"] == pytest.approx(cost / watched, rel=0.02)
    assert 0 < finding["saving_seconds"] < finding["cost_seconds"] and finding["assumption"]
    assert finding["stack"]["frames"][0]["function"] == "cudaMalloc"
    assert all(set(number) == {"value", "unit"} for number in finding["numbers"].values())


def test_threshold():
    """What is below it is no finding."""
    assert "no findings" in churning("--threshold", "alloc-churn.pairs=801").stdout.splitlines()
    assert "no findings" in churning("--threshold", "alloc-churn=99.9%").stdout.splitlines()
    wrong = diagnose("--threshold", "alloc-churn.pears=1")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "it has share, pairs" in wrong.stderr


def test_without_stacks():
    report = report_of(churning("--json", "--stack", "off"))
    assert [finding["stack"] for finding in report["findings"]] == [None]
    assert "at:" not in churning("--stack", "off").stdout


def test_explain():
    ids = listed()
    assert len(ids) == len(set(ids)) >= 17
    done = diagnose("--explain", "all")
    assert done.returncode == 0
    for kind in ids:
        one = diagnose("--explain", kind)
        assert one.returncode == 0
        assert one.stdout.startswith(f"{kind} (") and one.stdout in done.stdout
        paragraph = one.stdout.split("\n\n")[1]
        assert len(paragraph) > 200, f"{kind} has no advice"
        assert max(map(len, paragraph.splitlines())) <= 80
        assert f"--threshold {kind}.NAME=VALUE" in one.stdout


def test_manual():
    """The manual page knows every kind."""
    text = (paths.ROOT / "man" / "gpuprobe-diagnose.8").read_text(encoding="utf-8")
    text = re.sub(r"\\f.", " ", text).replace("\\-", "-")
    section = text[text.index(".SH FINDINGS"):text.index(".SH OUTPUT")]
    assert set(re.findall(r"[a-z]+(?:-[a-z]+)+|\b(?:oom|fragmentation|stuck|xid)\b", " ".join(
        line for line in section.splitlines() if line.startswith(".B ")))) == set(listed())


def test_explain_unknown():
    done = diagnose("--explain", "alloc")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "gpuprobe: no finding is called 'alloc' (did you mean alloc-churn?): see gpuprobe diagnose "
        "--list\n")


@pytest.mark.parametrize("args, command, status", [
    (["--fail-on", "warning"], CHURNING, 4),
    (["--fail-on", "info"], CHURNING, 4),
    (["--fail-on", "critical"], CHURNING, 0),
    ([], CHURNING, 0),
    (["--fail-on", "info"], ["memory", "--pairs", 1], 0),
])
def test_status(args, command, status):
    workload, *rest = command
    assert diagnose("-q", *args, "--", paths.workload(workload), *rest,
                    env=CHURN).returncode == status


def test_status_of_command():
    """COMMAND's own failure is told first."""
    line = f"{paths.workload('memory')} --pairs 800 --size 64K; exit 7"
    assert diagnose("-q", "--fail-on", "info", "--", "sh", "-c", line, env=CHURN).returncode == 7
    assert diagnose("-q", "-p", 2 ** 22 - 3).returncode == 1


def watch(workload, *args):
    return subprocess.Popen([paths.GPUPROBE, "diagnose", *args, "-p", str(workload.pid)],
                            env=environment(), text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def does_more(tmp_path, call):
    """A program that repeats the call, and a function that waits until it has done so
    200 more times."""
    asked, done = tmp_path / "asked", tmp_path / "done"

    def wait():
        asked.touch()
        wait_for_file(done)
    return script(f"""
        start()
        _, (kernel,) = module("kernel")
        count = 0
        while True:
            {call}
            count += os.path.exists({str(asked)!r})
            if count == 200:
                touch({str(done)!r})
    """), wait


def test_pid_to_its_end(tmp_path):
    program, wait_for_more = does_more(tmp_path, "need(launch(kernel)); time.sleep(0.002)")
    with Background(*program) as workload:
        with watch(workload) as running:
            wait_until_watching(running)
            wait_for_more()
            workload.terminate()
            out, err = running.communicate(timeout=60)
    assert running.returncode == 0, err
    lines = out.splitlines()
    assert "no findings" in lines
    since = f"process {workload.pid} (python3) is watched since attach"
    assert f"{since}: its earlier calls are unknown" in lines


def test_pid_until_interrupted(tmp_path):
    program, wait_for_more = does_more(
        tmp_path, "need(driver.cuMemFree_v2(made(driver.cuMemAlloc_v2, 65536)))")
    with Background(*program, env=CHURN) as workload:
        with watch(workload, "--fail-on", "warning") as running:
            wait_until_watching(running)
            wait_for_more()
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=60)
        assert workload.poll() is None
    assert running.returncode == 4, err
    assert ("warning  alloc-churn: the same memory is allocated and freed again and again"
            in out.splitlines())


@pytest.mark.waits("the shortest window by default is 10 s")
def test_growth_within_the_duration():
    """A leak is found by default in the available time; if that is too short, gpuprobe says so."""
    with Background(*undisturbed(paths.workload("faults"), "leak-growing", "--seconds",
                                 120)) as workload:
        # gpuprobe may take five seconds on a busy machine until it follows the program.
        with watch(workload, "--duration", "20") as long, \
                watch(workload, "--json", "--duration", "3") as short:
            report = json.loads(short.communicate(timeout=60)[0])
            out, _ = long.communicate(timeout=60)
        assert workload.poll() is None
    [course] = report["not_judged"]
    assert course["id"] == "leak-growing"
    # If the program got through only a few rounds, its first allocations look as if they grew, too.
    assert course["places"] == course["of_places"] >= 1
    watched = (report["boot_ns"] - report["began_ns"]) / 1e9
    assert 0 < course["followed_seconds"] < watched
    assert course["needed_seconds"] == pytest.approx(10 * 5 / 6, rel=0.01)
    assert (report["findings"], report["not_looked_for"]) == (
        [], ["no-overlap", "small-kernels", "launch-latency", "chatty-getters", "xid"])
    assert "warning  leak-growing: live memory only grows" in out.splitlines()
    assert "not judged" not in out


def test_interval(gpuprobe):
    """A report in between has what was found by then."""
    costs = []

    def cost_told(report):
        costs.extend(finding["cost_seconds"] for finding in report["findings"])
        return len(costs) >= 2

    with gpuprobe.start(paths.workload("memory"), "--pairs", 1000000,
                        base=["diagnose", "--json", "--interval", "0.2"],
                        interval=None, env=CHURN) as running:
        report = running.wait_for(cost_told)
        assert not report["final"]
        os.kill(report["processes"][0]["pid"], signal.SIGTERM)
        costs += [finding["cost_seconds"] for finding in running.finish().final["findings"]]
    assert len(costs) >= 3 and costs == sorted(costs) and costs[0] < costs[-1]


def test_nobody_reads():
    """A reader that has gone ends nothing else: COMMAND goes on, and its status is told."""
    line = f"{paths.workload('memory')} --pairs 1 > /dev/null; exit 3"
    reading, writing = os.pipe()
    os.close(reading)
    with subprocess.Popen([paths.GPUPROBE, "diagnose", "-q", "--", "sh", "-c", line],
                          env=environment(), stdout=writing, stderr=subprocess.PIPE,
                          text=True) as running:
        os.close(writing)
        _, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (3, "")


def bytes_in(pipe):
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def read_until_found(pipe):
    """Reads reports up to the end of the first with a finding, and waits for the next."""
    text = b""
    while not (text.endswith(b"\n") and json.loads(text.splitlines()[-1])["findings"]):
        byte = os.read(pipe, 1)
        assert byte, text
        text += byte
    end = time.monotonic() + 60
    while not bytes_in(pipe):
        assert time.monotonic() < end, "no other report came"
        time.sleep(0.02)


def test_nobody_reads_any_more(tmp_path):
    """The reader leaves in the middle of a report, which is the last one:
    its findings outlast the stacks at which they were found."""
    faults, many_stacks = paths.workload("faults"), build(tmp_path, PATHS, *FRAMES)
    go, gone = tmp_path / "go", tmp_path / "gone"
    line = (f"{faults} oom --seconds 1 > /dev/null; until [ -e {go} ]; do sleep 0.05; done; "
            f"{many_stacks} 8 2 1000 && touch {gone}")
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    with subprocess.Popen([paths.GPUPROBE, "diagnose", "--json", "--top", "0", "--interval", "1",
                           "--stack-storage-size", "32", "--", "sh", "-c", line],
                          env=environment(CUDA_SIM_MEMORY="1G"), stdout=writing,
                          stderr=subprocess.PIPE, text=True) as running:
        os.close(writing)
        try:
            read_until_found(reading)
            # Of that there is more than the pipe takes.
            go.touch()
            wait_for_file(gone)
            os.close(reading)
            _, err = running.communicate(timeout=60)
        finally:
            if running.poll() is None:
                kill_tree(running.pid)
    assert running.returncode == 0
    assert err.count("OUT OF MEMORY: ") == 1 and "gpuprobe: " not in err
