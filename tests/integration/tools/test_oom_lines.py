# SPDX-License-Identifier: BSD-2-Clause
"""tests/gpu/oom_lines.py, which seldom runs on a GPU: how it reads reports and PyTorch's snapshots,
and how it judges."""
import subprocess
import sys

from lib import paths
from lib.probe import environment

sys.path.insert(0, str(paths.ROOT / "tests/gpu"))
import oom_lines  # noqa: E402

GIB = 1 << 30
REPORT = """gpuprobe: warning: 200.0 MiB in 3 tensors  other (x.py:1)
[14:02:11] OUT OF MEMORY: process 4242 (python3), thread 4242
    asked for: 400.0 MiB on GPU 0, by PyTorch at step (train.py:40)
    this process: 78.5 GiB: 78.0 GiB by its calls, 527.0 MiB context, code and libraries
        60.1 GiB in 1 tensor  step (train.py:40)
        about 17.9 GiB in 12.5 k tensors  load (train.py:12) < main (train.py:3)
        512.0 MiB in 2 allocations  device_memory+0x14 [faults] main.c:81
        1.0 KiB in 2 allocations  [stack not known]
        PyTorch has 78.0 GiB in segments, 77.6 GiB of them in use
    last 30.0 s: +12.5 GiB in 32 allocations  step (train.py:40)
[14:02:15] OUT OF MEMORY: process 4242 (python3), thread 4242
        1.0 GiB in 1 tensor  later (train.py:99)
"""


def block(size, *frames, state="active_allocated"):
    return {"state": state, "size": size + 100, "requested_size": size,
            "frames": [{"filename": name, "line": line, "name": "f"} for name, line in frames]}


def test_lines_of_a_report():
    assert oom_lines.lines_of_report(REPORT) == [
        ("train.py:40", 60.1 * GIB), ("train.py:12", 17.9 * GIB), ("main.c:81", GIB / 2),
        (None, 1024)]
    assert oom_lines.lines_of_report("nothing failed\n") == []


def test_lines_of_a_real_report():
    done = subprocess.run([paths.GPUPROBE, "memleak", "--", paths.SIM / "faults", "oom"],
                          env=environment(LD_LIBRARY_PATH=paths.SIM, CUDA_SIM_MEMORY="1G"),
                          capture_output=True, text=True, timeout=60, check=False)
    (place, size), = oom_lines.lines_of_report(done.stderr)
    assert place.startswith("main.c:") and size == 128 << 20


def test_lines_of_a_snapshot():
    segments = [{"blocks": [block(10, ("/torch/nn/linear.py", 7), ("/x/oom.py", 3),
                                  ("/x/oom.py", 9)),
                            block(500, ("/x/oom.py", 3), state="inactive"),
                            block(30, ("/x/oom.py", 5))]},
                {"blocks": [block(25, ("/x/oom.py", 3)), block(1), block(2, ("/y/other.py", 3))]}]
    assert oom_lines.lines_of_snapshot({"segments": segments}, "oom.py") == [
        ("oom.py:3", 35), ("oom.py:5", 30), (None, 3)]


def test_judgement():
    true = [("a:1", 1000), ("a:2", 500), ("a:3", 499), ("a:4", 10)]
    assert not oom_lines.differences([("a:1", 1001), ("a:2", 500), ("a:3", 499)], true)
    # Of equal size, and what comes after the third.
    assert not oom_lines.differences([("a:1", 1000), ("a:3", 499), ("a:2", 500), ("b:9", 1)], true)
    assert not oom_lines.differences([("a:1", 1000)], true[:1])
    for report in ([("a:1", 1000), ("a:2", 500)], [("a:2", 500), ("a:1", 1000), ("a:3", 499)],
                   [("a:1", 1020), ("a:2", 500), ("a:3", 499)], [],
                   [("a:1", 1000), ("a:2", 500), ("a:4", 10)],
                   [("a:1", 1000), ("a:2", 500), ("b:3", 499)],
                   [("a:1", 1000), ("a:2", 500), (None, 499)]):
        assert oom_lines.differences(report, true), report
