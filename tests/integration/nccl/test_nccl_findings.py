# SPDX-License-Identifier: BSD-2-Clause
"""What diagnose, the monitor and recordings say about the ranks of NCCL: the rank and the process
that `gpuprobe nccl` names, and nothing of sound jobs."""
import json
import subprocess
import urllib.request

import pytest

from lib import paths
from lib.nccl import Watched, blamed
from lib.probe import environment, is_report, kill_tree
from lib.variants import some_of

pytestmark = pytest.mark.usefixtures("nothing_left")

PROGRAM = paths.ROOT / "tests/integration/programs/nccl_calls.py"
CRITICAL = ("nccl-hang", "nccl-mismatch", "nccl-error")
HANG = ("--steps", 1000, "--at", 20, "--fault", "host", "--rank", 1, "--block")
SKIP = ("--ranks", 2, "--steps", 60, "--at", 20, "--fault", "skip", "--rank", 1)
FAST = ("--max-overhead", "off", "--host", "off", "--interval", 0)


def diagnose(*arguments, ranks):
    return Watched(*FAST, *arguments, ranks=ranks, command="diagnose")


def check_rank_that_hangs(finding):
    assert (finding["severity"], finding["comm"]) == ("critical", "ranks")
    details = finding["details"]
    assert (details["cause"], blamed(details)) == ("rank-missing", [1])
    assert details["ranks"][0]["pid"] == finding["pid"]
    assert finding["subject"].startswith(f"comm {details['hash']}, collective ")
    assert "2 of 3 ranks have been in it for " in finding["evidence"]
    assert f"rank 1 (pid {finding['pid']}, GPU 0) never came" in finding["evidence"]
    assert "rank 1 is in stuck_in_host_code (ranks.c:" in finding["evidence"]


@pytest.mark.waits("a hang of a second, by blocked ranks")
def test_diagnose_names_the_rank_that_hangs():
    """Also when the job has been killed: the finding is over then."""
    with diagnose("--interval", 0.5, "--threshold", "nccl-hang=1s",
                  ranks=("--ranks", 3, *HANG)) as watched:
        check_rank_that_hangs(watched.wait_for("nccl-hang"))
        watched.end()
    found = watched.findings("nccl-hang")[-1]
    check_rank_that_hangs(found)
    assert found in watched.last["findings"] and found["evidence"].endswith("; this is over")


@pytest.mark.slow
@pytest.mark.parametrize("rank", (0, 1, 2))
def test_diagnose_names_the_rank_that_differs(rank):
    ranks = ("--ranks", 3, "--steps", 60, "--at", 20, "--fault", "type", "--rank", rank)
    with diagnose(ranks=ranks) as watched:
        watched.finish()
    found, = watched.findings("nccl-mismatch")
    details = found["details"]
    assert (details["cause"], blamed(details)) == ("different", [rank])
    assert details["sequence"] == found["numbers"]["sequence"]["value"] == 62
    assert details["ranks"][0]["pid"] == found["pid"]


@pytest.mark.slow
def test_diagnose_names_the_rank_that_is_late():
    with diagnose(ranks=("--ranks", 3, "--steps", 120, "--fault", "slow", "--rank", 2, "--slow",
                         0.05, "--block")) as watched:
        watched.finish()
    found = watched.findings("nccl-straggler")
    assert found and 2 in blamed(found[-1]["details"])
    assert f"rank 2 (pid {found[-1]['details']['ranks'][0]['pid']}, GPU " in found[-1]["evidence"]


@pytest.mark.waits("a rank that sleeps, for seconds")
def test_diagnose_says_what_the_late_rank_does():
    with Watched("--max-overhead", "off", ranks=(PROGRAM, "late"), command="diagnose",
                 program=paths.PYTHON, settings={"CUDA_SIM_DIRECTORY": paths.SIM,
                                                 "LD_LIBRARY_PATH": paths.SIM}) as watched:
        watched.finish()
    found = watched.findings("nccl-straggler")[-1]
    rank, = found["details"]["ranks"]
    assert rank["rank"] == 1 and rank["where"].startswith("load_batch (nccl_calls.py:")
    assert 0 < rank["looks_there"] <= rank["looks"]
    assert "rank 1 was in load_batch (nccl_calls.py:" in found["evidence"]
    process = next(process for process in watched.last["processes"]
                   if process["pid"] == found["pid"])
    asleep = next(reason for reason in process["reasons"] if reason["kind"] == "sleep")
    assert "load_batch" in [frame["function"] for frame in asleep["stack"]["frames"]]


@pytest.mark.slow
@pytest.mark.parametrize("shape", ("ddp", "split", "pipeline", "alltoall", "group", "capture",
                                   "several"))
def test_diagnose_finds_nothing_in_sound_jobs(shape):
    with diagnose(ranks=("--ranks", 3, "--steps", 20, "--shape", shape, "--jitter", 0.002)) \
            as watched:
        assert watched.finish() == 0, watched.stderr
    assert len(watched.last["processes"]) == 3
    assert [kind for kind in CRITICAL if watched.findings(kind)] == []
    assert not set(CRITICAL) & set(watched.last["not_looked_for"])


def monitor(*arguments, ranks):
    """Its process. The ranks' own lines are thrown away: they would come between the reports."""
    return subprocess.Popen(
        [paths.GPUPROBE, "--json", *map(str, arguments), "--", "sh", "-c",
         'exec "$0" "$@" >/dev/null', paths.SIM / "ranks", *map(str, ranks)],
        env=environment(CUDA_SIM_CLOCK="kernel=1us"), text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE)


def found_by(line, kind):
    findings = json.loads(line)["findings"] if is_report(line) else []
    return [finding for finding in findings if finding["id"] == kind]


@pytest.mark.slow
def test_monitor_names_the_rank_that_hangs(free_port):
    with monitor("--nccl", "--interval", 0.5, "--threshold", "nccl-hang=1s", "--metrics-addr",
                 f"127.0.0.1:{free_port}", ranks=("--ranks", 3, *HANG)) as process:
        try:
            found = []
            while not found:
                line = process.stdout.readline()
                assert line, process.stderr.read()
                found = found_by(line, "nccl-hang")
            with urllib.request.urlopen(f"http://127.0.0.1:{free_port}/metrics",
                                        timeout=60) as page:
                page = page.read().decode()
        finally:
            kill_tree(process.pid)
    check_rank_that_hangs(found[0])
    series = [line for line in page.splitlines()
              if line.startswith("gpuprobe_finding_active{") and 'id="nccl-hang"' in line]
    assert any(f'pid="{found[0]["pid"]}"' in line and line.endswith(" 1") for line in series)


@pytest.mark.parametrize("fault", some_of(("skip", "size", "none"), "skip", "none"))
def test_monitor_at_the_end(fault):
    """A sound job has no finding."""
    ranks = ("--ranks", 3, "--steps", 60, "--at", 20, "--rank", 1,
             *(("--fault", fault) if fault != "none" else ()))
    process = monitor("--nccl", "--interval", 0, "--metrics-addr", "none", ranks=ranks)
    out, err = process.communicate(timeout=60)
    assert fault != "none" or process.returncode == 0, err
    reports = [line for line in out.splitlines() if is_report(line)]
    found = found_by(reports[-1], "nccl-mismatch")
    assert [blamed(finding["details"]) for finding in found] == ([[1]] if fault != "none" else [])
    assert not found_by(reports[-1], "nccl-hang") and not found_by(reports[-1], "nccl-error")


def test_recording_has_the_findings(tmp_path):
    file = tmp_path / "ranks.gprec"
    subprocess.run([paths.GPUPROBE, "record", "--level", "summary", "--max-overhead", "off", "-O",
                    file, "--", paths.SIM / "ranks", *map(str, SKIP)], check=False, timeout=60,
                   env=environment(CUDA_SIM_CLOCK="kernel=1us"), stdout=subprocess.DEVNULL)
    shown = subprocess.run([paths.GPUPROBE, "diagnose", "--json", "-i", file], check=True,
                           timeout=60, stdout=subprocess.PIPE, text=True)
    found = found_by(shown.stdout, "nccl-mismatch")
    assert [blamed(finding["details"]) for finding in found] == [[1]]
    assert found[0]["pid"] == found[0]["details"]["ranks"][0]["pid"]


@pytest.mark.slow
def test_nothing_is_probed_twice_without_nccl():
    """The cost of a process that does not map NCCL is the same with --nccl."""
    probed = []
    for options in ((), ("--nccl",)):
        done = subprocess.run(
            [paths.GPUPROBE, "-v", "--metrics-addr", "none", "--interval", "0", *options, "--",
             paths.SIM / "launch"], env=environment(), timeout=60, check=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        probed.append(sorted(line.split(": ", 1)[1] for line in done.stderr.splitlines()
                             if "functions probed" in line))
    assert probed[0] and len(probed[0]) == len(probed[1])


@pytest.mark.parametrize("option", ("--memleak", "--no-return-probes"))
def test_options_that_exclude_each_other(option):
    done = subprocess.run([paths.GPUPROBE, "--nccl", option, "--duration", "0.1"], timeout=60,
                          check=False, capture_output=True, text=True)
    assert done.returncode == 2 and "--nccl" in done.stderr and "not go together" in done.stderr
