# SPDX-License-Identifier: BSD-2-Clause
"""Several GPUs: each rank of a data-parallel PyTorch run on its own device."""
from machine import lost


def test_parallel(machine, results):
    report, status = machine.watch(machine.python("parallel.py", "--steps", "50"))
    ranks = {line["pid"]: line for line in machine.said if "rank" in line}
    results.check("data-parallel PyTorch: exit status, a process for each rank, lost",
                  (0, sorted(ranks), 0),
                  (status, sorted(p["pid"] for p in report["processes"] if p["pid"] in ranks),
                   lost(report)))
    launches = {}
    for process in report["processes"]:
        rank = ranks.get(process["pid"])
        if rank:
            check_rank(results, process, rank, launches)
    results.check("data-parallel PyTorch: all ranks launched as many kernels", 1,
                  len(set(launches.values())))


def check_rank(results, process, rank, launches):
    number, name = rank["rank"], f"rank {rank['rank']}"
    on = {device["device"]: device for device in process["devices"]}
    mine = on.get(number, {})
    functions = {f["function"]: f for f in process["functions"] if f["device"] == number}
    results.check(f"{name}: devices with launches or memory", [number],
                  [device for device, totals in on.items()
                   if totals["launches"] or totals["live_bytes"]])
    results.check(
        f"{name}: cudaMalloc's calls and bytes on its device (its memory_stats)",
        (rank["device_allocs"], rank["reserved"]),
        (functions["cudaMalloc"]["calls"],
         functions["cudaMalloc"]["bytes"] - functions.get("cudaFree", {"bytes": 0})["bytes"]))
    results.check(f"{name}: the GPU it is on, by UUID", [f"GPU-{rank['uuid']}"],
                  [gpu["uuid"] for gpu in process["gpus"] if gpu["ordinal"] == number])
    results.tell(f"{name}: launches, live bytes, copies",
                 {key: mine.get(key) for key in ("launches", "live_bytes", "copies")})
    launches[number] = mine.get("launches")
