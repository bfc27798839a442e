# SPDX-License-Identifier: BSD-2-Clause
"""
The file of `gpuprobe snapshot` and a real PyTorch: its sums are within 2 % of memory_stats(), and
PyTorch's own visualiser makes its pages of it.
"""
import json
import os
import pickle
import subprocess
import tempfile

STEPS = 500
BAR = 0.02
SUMS = {"requested_size": "live_bytes", "allocated_size": "active_bytes",
        "total_size": "reserved_bytes"}


def visualised(machine, action, file, page):
    """The exit status of PyTorch's visualiser."""
    python = machine.python("tensors.py")[0]
    return subprocess.run([python, "-m", "torch.cuda._memory_viz", action, file, "-o", page],
                          check=False, timeout=120).returncode


def replayed(events):
    """{address: bytes} of what is live after the events."""
    live = {}
    for event in events:
        if event["action"] == "alloc":
            live[event["addr"]] = event["size"]
        elif event["action"] == "free_completed":
            live.pop(event["addr"], None)
    return live


def snapshot(machine, results, label, folder, **changes):
    file = os.path.join(folder, "memory.pickle")
    with subprocess.Popen(
            [machine.gpuprobe, "snapshot", "-o", file, "--duration", "30", "--max-events",
             "1000000", "--", *machine.python("tensors.py", str(STEPS))], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env=dict(os.environ, **changes)) as ran:
        said = json.loads(next(line for line in ran.stdout if line.startswith('{"difference"')))
        ran.wait(timeout=120)  # the program waits for a line, so that its memory stays
        ran.stdin.close()
    with open(file, "rb") as opened:
        memory = pickle.load(opened)
    for key, name in SUMS.items():
        seen, true = sum(segment[key] for segment in memory["segments"]), said["now"][name]
        results.check(f"PyTorch, snapshot{label}: {key} within {BAR:.0%} of {name}", True,
                      abs(seen - true) <= BAR * true)
        results.tell(f"PyTorch, snapshot{label}: {key}; {name} by memory_stats", (seen, true))
    events = memory["device_traces"][0]
    made = sum(event["action"] == "alloc" for event in events)
    results.check(f"PyTorch, snapshot{label}: events of allocations; events lost",
                  (said["difference"]["allocations"], 0), (made, memory["gpuprobe"]["events_lost"]))
    results.check(f"PyTorch, snapshot{label}: requested bytes after all events",
                  said["now"]["live_bytes"], sum(replayed(events).values()))
    results.check(f"PyTorch, snapshot{label}: the visualiser's exit status, by page", [0, 0],
                  [visualised(machine, action, file, os.path.join(folder, "page.html"))
                   for action in ("segment_plot", "trace_plot")])


def test_snapshot(machine, results):
    with tempfile.TemporaryDirectory() as folder:
        snapshot(machine, results, "", folder)
        snapshot(machine, results, ", expandable segments", folder,
                 PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True")
