# SPDX-License-Identifier: BSD-2-Clause
"""
Tensors of a real PyTorch: requested bytes and counts of `gpuprobe memleak` equal the differences of
its memory_stats(), from the start and when attached in the middle.
"""
import json
import os
import subprocess
import time

STEPS = 2000
WARM = 50
COUNTED = ("allocations", "allocated_bytes")
FUNCTION = "leak"


def tensors_of(line, pid=None):
    """The tensors of the process, or of the first that has any."""
    for process in json.loads(line)["processes"]:
        if process.get("tensors") and pid in (None, process["pid"]):
            return process["tensors"]
    return None


def environment(links, expandable):
    changes = {"GPUPROBE_LINKS": links} if links else {}
    if expandable:
        changes["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
    return dict(os.environ, **changes)


def leaking_line(tensors):
    """The function of the site that holds most."""
    sites = tensors["by_site"]["sites"]
    frames = sites[0]["stack"]["frames"] if sites else [{"function": None}]
    return frames[0]["function"]


def settled(gpuprobe, pid, allocations):
    """The first report in which as many allocations have been counted; the last one if none."""
    tensors, end = None, time.monotonic() + 60
    for line in gpuprobe.stdout:
        tensors = tensors_of(line, pid) or tensors
        if time.monotonic() > end or (tensors and tensors["allocations"] >= allocations):
            return tensors
    return tensors


def from_start(machine, results, label, links=None, expandable=False):
    ran = subprocess.run(
        [machine.gpuprobe, "memleak", "--json", "-o", "0", "--",
         *machine.python("tensors.py", str(STEPS))], env=environment(links, expandable),
        input="\n", stdout=subprocess.PIPE, text=True, timeout=300)
    lines = ran.stdout.splitlines()
    said = next(json.loads(line) for line in lines if line.startswith('{"difference"'))
    tensors = tensors_of([line for line in lines if line.startswith('{"schema"')][-1])
    results.check(f"PyTorch, tensors of {STEPS} steps{label}: exit status, allocations and "
                  "requested bytes (memory_stats)",
                  (0, *(said["difference"][key] for key in COUNTED)),
                  (ran.returncode, *(tensors[key] for key in COUNTED)))
    results.check(f"PyTorch, tensors{label}: tensors lost, and those whose free was missed", (0, 0),
                  (tensors["untracked"], tensors["missed_frees"]))


def in_the_middle(machine, results, label, links=None, expandable=False):
    with subprocess.Popen(machine.python("tensors.py", str(STEPS), str(WARM)), text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          env=environment(None, expandable)) as program:
        program.stdout.readline()
        gpuprobe = subprocess.Popen(
            [machine.gpuprobe, "memleak", "--json", "-o", "0", "-p", str(program.pid), "1"],
            stdout=subprocess.PIPE, text=True, env=environment(links, False))
        tensors_seen = gpuprobe.stdout.readline()  # the probes are in
        program.stdin.write("\n")
        program.stdin.flush()
        said = json.loads(program.stdout.readline())
        difference = said["difference"]
        tensors = settled(gpuprobe, program.pid, difference["allocations"])
        gpuprobe.terminate()
        gpuprobe.communicate(timeout=60)
        program.stdin.write("\n")
        program.stdin.close()
    frees = tensors["frees"] + tensors["unknown_frees"]
    results.check(f"PyTorch, attached after {WARM} steps{label}: a report before, allocations, "
                  "requested bytes, frees (memory_stats, differences)",
                  (True, *(difference[key] for key in COUNTED), difference["frees"]),
                  (bool(tensors_seen), *(tensors[key] for key in COUNTED), frees))
    results.check(f"PyTorch, attached after {WARM} steps{label}: the line that holds most",
                  FUNCTION, leaking_line(tensors))
    segments = tensors["segments"]
    results.tell(f"PyTorch, attached{label}: held, unused, pinned (modelled); reserved, active "
                 "by memory_stats",
                 (segments["bytes"], segments["unused_bytes"], segments["pinned_bytes"],
                  said["now"]["reserved_bytes"], said["now"]["active_bytes"]))


def test_tensors(machine, results):
    for label, links, expandable in (("", None, False), (", uprobe_multi", "multi", False),
                                     (", tracefs", "perf", False),
                                     (", expandable segments", None, True)):
        from_start(machine, results, label, links, expandable)
        in_the_middle(machine, results, label, links, expandable)
