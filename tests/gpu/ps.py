# SPDX-License-Identifier: BSD-2-Clause
"""
`gpuprobe ps` beside nvidia-smi: processes that hold memory on all GPUs of the machine are the same
ones, on the same GPUs, with the same memory.
"""
import collections
import contextlib
import json
import subprocess

PROCESSES = 8
MIB = 1 << 20


def by_gpuprobe(machine):
    """{pid: MiB on all GPUs}, {pid: indices of its GPUs}."""
    said = json.loads(subprocess.run([machine.gpuprobe, "ps", "--json"], stdout=subprocess.PIPE,
                                     check=True, timeout=60).stdout)
    rows = [row for row in said["processes"] if row["used_bytes"] is not None]
    return ({row["pid"]: row["used_bytes"] // MIB for row in rows},
            {row["pid"]: [int(label) for label in row["contexts"]] for row in rows})


def by_nvidia_smi():
    def query(what, *fields):
        ran = subprocess.run(["nvidia-smi", f"--query-{what}={','.join(fields)}",
                              "--format=csv,noheader,nounits"],
                             stdout=subprocess.PIPE, text=True, check=True)
        return [line.split(", ") for line in ran.stdout.splitlines()]

    index = {uuid: int(number) for number, uuid in query("gpu", "index", "uuid")}
    memory, gpus = collections.Counter(), collections.defaultdict(list)
    for pid, uuid, mib in query("compute-apps", "pid", "gpu_uuid", "used_memory"):
        memory[int(pid)] += int(mib)
        gpus[int(pid)].append(index[uuid])
    return dict(memory), {pid: sorted(found) for pid, found in gpus.items()}


def test_ps(machine, results):
    """The processes are at rest while both tools look."""
    with contextlib.ExitStack() as stack:
        programs = [stack.enter_context(subprocess.Popen(
            machine.python("held.py", str(number)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True)) for number in range(PROCESSES)]
        for program in programs:
            program.stdout.readline()
        memory, gpus = by_gpuprobe(machine)
        true_memory, true_gpus = by_nvidia_smi()
        shown = subprocess.run([machine.gpuprobe, "ps"], stdout=subprocess.PIPE, text=True,
                               check=True, timeout=60).stdout
        for program in programs:
            program.stdin.close()
    ours = {program.pid for program in programs}
    results.check("ps: the programs that hold memory are among the processes", True,
                  ours <= set(memory))
    results.check("ps: processes and their memory, MiB (nvidia-smi)", true_memory, memory)
    results.check("ps: GPUs of the processes (nvidia-smi)", true_gpus, gpus)
    results.keep(f"gpuprobe ps with {PROCESSES} processes", shown)
