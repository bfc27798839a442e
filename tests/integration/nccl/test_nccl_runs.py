# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe nccl` of sound jobs: communicators, ranks and counts are those of the simulated NCCL's
truth, and there is no finding."""
import re
import shutil
import subprocess
import urllib.error
import urllib.request

import pytest

from lib import paths
from lib.nccl import Watched, counted, true_counts, true_hashes
from lib.probe import environment, wait_until
from lib.variants import some_of

pytestmark = pytest.mark.usefixtures("nothing_left")

SHAPES = ("ddp", "split", "pipeline", "alltoall", "group", "capture", "several")
# Lateness and uneven times depend on how busy the machine is.
CRITICAL = ("nccl-hang", "nccl-mismatch", "nccl-error")


@pytest.mark.parametrize("shape", some_of(SHAPES, "split", "pipeline", "capture"))
def test_counts_are_true(shape, tmp_path):
    ranks = 3 if shape == "alltoall" else 4
    with Watched("--interval", 0, ranks=("--ranks", ranks, "--steps", 20, "--shape", shape,
                                         "--jitter", 0.002),
                 settings={"CUDA_SIM_NCCL_TRUTH": tmp_path / "%p"}) as watched:
        assert watched.finish() == 0, watched.stderr
    report = watched.last
    assert report["final"] and report["lost_calls"] == 0
    assert {name: count for name, count in report["lost"].items() if count} == {}
    assert [kind for kind in CRITICAL if watched.findings(kind)] == []
    assert counted(report) == true_counts(tmp_path)
    seen = {(comm["hash"], rank["rank"], comm["size"], rank["pid"])
            for comm in report["communicators"] for rank in comm["ranks"]}
    assert set(true_hashes(tmp_path)) <= seen


@pytest.mark.slow
def test_sixteen_ranks(tmp_path):
    with Watched("--interval", 0, ranks=("--ranks", 16, "--steps", 30, "--shape", "split",
                                         "--jitter", 0.005),
                 settings={"CUDA_SIM_NCCL_TRUTH": tmp_path / "%p"}) as watched:
        assert watched.finish() == 0, watched.stderr
    assert counted(watched.last) == true_counts(tmp_path)
    assert [kind for kind in CRITICAL if watched.findings(kind)] == []


def test_split_has_its_ranks(tmp_path):
    """Ranks of equal colour are numbered by their key, which falls in this program."""
    with Watched("--interval", 0, ranks=("--ranks", 4, "--steps", 3, "--shape", "split"),
                 settings={"CUDA_SIM_NCCL_TRUTH": tmp_path / "%p"}) as watched:
        assert watched.finish() == 0, watched.stderr
    comms = watched.last["communicators"]
    parent = next(comm for comm in comms if comm["size"] == 4)
    of_pid = {rank["pid"]: rank["rank"] for rank in parent["ranks"]}
    children = [comm for comm in comms if comm is not parent]
    assert [comm["size"] for comm in children] == [2, 2]
    for comm in children:
        assert [of_pid[rank["pid"]] for rank in comm["ranks"]] in ([2, 0], [3, 1])


def test_attached_in_the_middle(tmp_path):
    """Hash, rank and size come from the memory of the ranks. Nothing is judged from numbers of
    collectives that do not count from the start."""
    with subprocess.Popen([paths.SIM / "ranks", "--ranks", "2", "--steps", "100000", "--pause",
                           "0.01"], stdout=subprocess.PIPE, text=True,
                          env=environment(CUDA_SIM_CLOCK="kernel=1us",
                                          CUDA_SIM_NCCL_TRUTH=str(tmp_path / "%p"))) as program:
        try:
            pids = {int(program.stdout.readline().split()[3]) for _ in range(2)}
            wait_until(lambda: all((tmp_path / str(pid)).exists() and
                                   "AllReduce" in (tmp_path / str(pid)).read_text()
                                   for pid in pids), "no collective before the attach")
            with Watched("--interval", 0.5, "-p", program.pid) as watched:
                wait_until(lambda: watched.reports and pids == {
                    rank["pid"] for comm in watched.reports[-1]["communicators"]
                    for rank in comm["ranks"] if rank["sequence"]},
                    lambda: f"ranks of {pids}: {watched.reports[-1:]}")
                assert [(comm["hash"], rank["rank"], comm["size"], rank["pid"])
                        for comm in watched.last["communicators"]
                        for rank in comm["ranks"]] == true_hashes(tmp_path)
                assert [kind for kind in CRITICAL if watched.findings(kind)] == []
        finally:
            program.kill()
            for pid in pids:
                subprocess.run(["kill", "-9", str(pid)], check=False)


def scraped(port, accept):
    """The page; empty before there is a server."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers={"Accept": accept})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.read().decode()
    except urllib.error.URLError:
        return ""


def samples(text, name):
    return {labels: float(value) for labels, value in
            re.findall(rf"^{name}{{(.*)}} (\S+)$", text, re.M)}


def test_metrics(free_port):
    with Watched("--interval", 0, "--metrics-addr", f"127.0.0.1:{free_port}",
                 ranks=("--ranks", 2, "--steps", 4, "--block", "--fault", "stopped", "--rank", 1,
                        "--at", 3)) as watched:
        wait_until(lambda: 12 in samples(scraped(free_port, "*/*"),
                                         "gpuprobe_nccl_sequence").values(), "no 12 collectives")
        text = scraped(free_port, "*/*")
        assert sorted(samples(text, "gpuprobe_nccl_sequence").values()) == [9, 12]
        assert sorted(samples(text, "gpuprobe_nccl_collectives_total").values()) == [4, 4, 4]
        assert list(samples(text, "gpuprobe_nccl_ranks").values()) == [2]
        late = samples(text, "gpuprobe_nccl_lateness_seconds_bucket")
        assert {value for labels, value in late.items() if 'le="+Inf"' in labels} == {8}
        done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert scraped(free_port, "application/openmetrics-text").endswith("# EOF\n")
        watched.end()


def test_text():
    """The report that a person reads."""
    done = subprocess.run(
        [paths.GPUPROBE, "nccl", "--interval", "0", "--", paths.SIM / "ranks", "--ranks", "2",
         "--steps", "5"], env=environment(CUDA_SIM_CLOCK="kernel=1us"), text=True,
        capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    report = done.stdout[done.stdout.index("at the end, after "):].splitlines()
    assert "2 ranks, 2 seen here, ended" in report[1] and " issued" in report[1]
    assert len(report) == 2


def test_no_call_of_nccl():
    done = subprocess.run([paths.GPUPROBE, "nccl", "--", "sh", "-c", "exit 3"], env=environment(),
                          text=True, capture_output=True, check=False, timeout=60)
    assert done.returncode == 3
    assert "no call of NCCL seen since attach" in done.stdout


def old_ranks(folder, version):
    """The ranks with an NCCL whose ncclGetVersion is code that gives this constant."""
    shutil.copy(paths.SIM / "ranks", folder)
    (folder / "nccl").mkdir()
    library = folder / "nccl" / "libnccl.so.2"
    shutil.copy(paths.SIM / "nccl" / "libnccl.so.2", library)
    symbols = subprocess.run(["readelf", "-W", "--dyn-syms", library], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    address, length = re.search(r": (\w+) +(\d+) .* ncclGetVersion$", symbols, re.M).groups()
    address = int(address, 16)
    headers = subprocess.run(["readelf", "-W", "-l", library], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    offset, start = next((int(at, 16), int(start, 16)) for at, start, size in re.findall(
        r"LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+) .* R E ", headers)
        if int(start, 16) <= address < int(start, 16) + int(size, 16))
    with open(library, "r+b") as file:
        file.seek(address - start + offset)
        # movl $version,(%rdi); xor %eax,%eax; ret
        code = b"\xc7\x07" + version.to_bytes(4, "little") + b"\x31\xc0\xc3"
        file.write(code.ljust(int(length), b"\x90"))
    return folder / "ranks"


def test_an_older_version_has_the_other_hash(tmp_path):
    """NCCL before 2.26 computes another number from the id. The ranks live until it was seen."""
    (tmp_path / "truth").mkdir()
    with Watched("--interval", 0.2, "--hang", "600s", program=old_ranks(tmp_path, 22105),
                 ranks=("--ranks", 2, "--steps", 100, "--block", "--fault", "stopped", "--rank", 1,
                        "--at", 20),
                 settings={"CUDA_SIM_NCCL_TRUTH": tmp_path / "truth" / "%p",
                           "CUDA_SIM_NCCL_VERSION": 22105,
                           "LD_LIBRARY_PATH": paths.SIM}) as watched:
        wait_until(lambda: watched.reports and any(
            len(comm["ranks"]) == 2 for comm in watched.last["communicators"]),
            lambda: f"no communicator of two: {watched.reports[-1:]}")
        seen = {(comm["hash"], rank["rank"], comm["size"], rank["pid"])
                for comm in watched.last["communicators"] for rank in comm["ranks"]}
        truth = true_hashes(tmp_path / "truth")
        assert len(truth) == 2 and set(truth) == seen
        watched.end()
