# SPDX-License-Identifier: BSD-2-Clause
"""GPU times of a running PyTorch program by its own profiler (`stat --kineto`), beside PyTorch's
profiler in another run of the same work, and beside the calls that gpuprobe counted meanwhile."""
import json
import os
import subprocess

from gpu_times import COPIES, compare_calls, compare_kernels, kernels_of, profiled

MODES = ("train", "copies")
RECORD = "10s"  # see programs/kineto.py


def on_request(machine, mode):
    """The process in the report; whether the program lives on; what is left of the trace."""
    command = machine.python("kineto.py", mode)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "KINETO_USE_DAEMON": "1"}) as program:
        assert program.stdout.readline() == "READY\n"
        done = subprocess.run([machine.gpuprobe, "stat", "-p", str(program.pid),
                               f"--kineto={RECORD}", "--json"], stdout=subprocess.PIPE, text=True,
                              timeout=200, check=True)
        lives = program.poll() is None
        program.stdin.close()
    left = [name for name in os.listdir("/tmp") if name.startswith("gpuprobe-")
            and ".trace" in name]
    return json.loads(done.stdout)["processes"][0], lives, left


def test_kineto(machine, results):
    for mode in MODES:
        name = f"{mode}, on request"
        truth, (process, lives, left) = profiled(machine, mode), on_request(machine, mode)
        times = process["gpu_times"]
        results.check(f"GPU times, {name}: failure and note of the trace", (None, None),
                      (times["failure"], times["own_profiler"]["note"]))
        results.check(f"GPU times, {name}: the program runs on, and no file is left", (True, []),
                      (lives, left))
        compare_kernels(results, name, truth, times)
        compare_calls(results, name, process)
        copies = {one["kind"]: one["count"] for one in times["copies"]}
        expected = {kind: sum(count for key, (count, _) in truth["copies"].items()
                              if key.startswith(start)) for kind, start in COPIES.items()}
        if mode == "copies":
            results.check(f"GPU times, {name}: copies by kind",
                          {kind: count for kind, count in expected.items() if count}, copies)
        results.tell(f"GPU times, {name}: kernels, bytes of the trace, ns that CUPTI held threads "
                     "up", [sum(count for count, _ in kernels_of(times).values()),
                            times["own_profiler"]["trace_bytes"],
                            times["own_profiler"]["overhead_ns"]])
