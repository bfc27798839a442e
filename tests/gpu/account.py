# SPDX-License-Identifier: BSD-2-Clause
"""Two programs share a GPU: what `gpuprobe account` says of each beside what they know."""
import json
import os
import subprocess
import time

PROGRAMS = {"night-train": ("4", "0.6"), "notebook": ("1", "0.05")}  # GiB, share of the time
SECONDS = 15
WITHIN = 0.02  # of memory by time: the programs know it from their own clock


def started(machine, name):
    program = subprocess.Popen(machine.python("shared_gpu.py", name, *PROGRAMS[name], str(SECONDS)),
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    program.stdout.readline()
    return program


def wait_until_attached(process):
    """Memory of processes from before is NVML's, which is not what is tested."""
    folder = f"/proc/{process.pid}/fd"
    while not any("bpf_link" in os.readlink(f"{folder}/{fd}") or "bpf-link" in
                  os.readlink(f"{folder}/{fd}") for fd in os.listdir(folder)):
        time.sleep(0.1)
    time.sleep(1)


def test_account(machine, results):
    account = subprocess.Popen([machine.gpuprobe, "account", "--by", "process", "--json",
                                "--duration", str(SECONDS + 25)], stdout=subprocess.PIPE, text=True)
    wait_until_attached(account)
    programs = {name: started(machine, name) for name in PROGRAMS}  # each measures itself alone
    for program in programs.values():
        program.stdin.write("\n")
        program.stdin.flush()
    truth = {name: json.loads(program.communicate()[0]) for name, program in programs.items()}
    found = json.loads(account.communicate()[0].splitlines()[-1])
    groups = {group["name"]: group for group in found["groups"]}
    for name, true in truth.items():
        group = groups.get(name)
        results.check(f"account, {name}: has a row", True, bool(group))
        if not group:
            continue
        results.tell(f"account, {name}: seconds with work, least and most; the truth",
                     [round(group["work_seconds_least"], 2), round(group["work_seconds_most"], 2),
                      round(true["work_seconds"], 2)])
        results.check(f"account, {name}: the bounds hold", True, group["work_seconds_least"]
                      <= true["work_seconds"] * 1.01 and
                      true["work_seconds"] <= group["work_seconds_most"] * 1.01)
        results.tell(f"account, {name}: memory by time, by the truth",
                     round(group["byte_seconds"] / true["byte_seconds"], 4))
        results.tell(f"account, {name}: seconds with the GPU; the truth",
                     [round(group["gpu_seconds"], 2), round(true["held_seconds"], 2)])
        results.tell(f"account, {name}: GiB s, least, most, by NVML; the truth",
                     [round(value / (1 << 30), 2) for value in
                      (group["byte_seconds"], group["byte_seconds_least"],
                       group["byte_seconds_most"], group["byte_seconds_by_nvml"],
                       true["byte_seconds"])])
        results.check(f"account, {name}: memory by time within 2 %", True,
                      abs(group["byte_seconds"] / true["byte_seconds"] - 1) <= WITHIN)
        results.check(f"account, {name}: time with the GPU within 1 s", True,
                      abs(group["gpu_seconds"] - true["held_seconds"]) <= 1)
    held = found["total"]["gpu_seconds"]
    results.check("account: both together held the GPU for less than the sum of each", True,
                  held < sum(group["gpu_seconds"] for group in groups.values()))
