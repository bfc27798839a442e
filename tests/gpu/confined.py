# SPDX-License-Identifier: BSD-2-Clause
"""Who pays: one of two PyTorch processes is watched, and what a pass-through libcuda makes of the probes."""
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from beside import watching

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "integration"))
from lib import text  # noqa: E402

ROUNDS = 8
# A line on its input is answered by the nanoseconds that one of 250 small kernels took to be launched, the least of 200.
LAUNCHES = """
import sys, time, torch
x = torch.zeros(64, device="cuda")
y = torch.empty_like(x)
def measure():
    times = []
    for _ in range(200):
        torch.cuda.synchronize()
        begin = time.perf_counter_ns()
        for _ in range(250):
            torch.neg(x, out=y)
        times.append((time.perf_counter_ns() - begin) / 250)
    return min(times)
measure()
print("READY", flush=True)
for _ in sys.stdin:
    print(measure(), flush=True)
"""
SUM = "import torch; x = torch.arange(1000, device='cuda', dtype=torch.float64); print(int(x.sum().item()))"


def begin():
    process = subprocess.Popen([sys.executable, "-c", LAUNCHES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    return process


def measure(process):
    process.stdin.write("go\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def interval(values):
    """The median, the least and the most."""
    ordered = sorted(values)
    return f"{statistics.median(ordered):.0f} ns ({ordered[0]:.0f} to {ordered[-1]:.0f}, {len(ordered)} rounds)"


def changed(process):
    """The files of which the process's code is not what they have."""
    return sorted({Path(path).name for path, *_ in text.differences(process.pid)})


def test_one_of_two(machine, results):
    watched, other = begin(), begin()
    more = {watched: [], other: []}
    found = {watched: [], other: []}
    for _ in range(ROUNDS):
        alone = {process: measure(process) for process in more}
        with watching(machine, "-p", str(watched.pid)):
            for process in more:
                more[process].append(measure(process) - alone[process])
                found[process] = changed(process)
    for process in more:
        process.stdin.close()
        process.wait(60)
    results.check("-p of one of two PyTorch processes: files of the other whose code was changed", [], found[other])
    results.check("the same: libcuda of the one that is watched was", True, "libcuda.so" in " ".join(found[watched]))
    results.check("both ended well", (0, 0), (watched.returncode, other.returncode))
    results.tell("a launch of the one that is watched: more than without", interval(more[watched]))
    results.tell("a launch of the other: more than without", interval(more[other]))


def exported(library):
    listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return sorted({line.split()[2].split("@")[0] for line in listed.splitlines() if " T " in line})


def make_shim(folder, library):
    """A libcuda.so.1 whose functions jump to those of the driver's, as gcc -O2 makes of a pass-through."""
    names = exported(library)
    jumps = "\n".join(f".globl {name}\n.type {name},@function\n{name}: jmp *slots+{8 * i}(%rip)\n.size {name},.-{name}"
                      for i, name in enumerate(names))
    (folder / "shim.s").write_text(f".text\n{jumps}\n.bss\n.globl slots\n.hidden slots\nslots: .zero {8 * len(names)}\n"
                                   ".section .note.GNU-stack,\"\",@progbits\n", encoding="ascii")
    listed = ",".join(f'"{name}"' for name in names)
    (folder / "shim.c").write_text(f"""
#include <dlfcn.h>
extern void *slots[] __attribute__((visibility("hidden")));
static const char *const names[] = {{{listed}}};
__attribute__((constructor)) static void fill(void)
{{
	void *driver = dlopen("{library}", RTLD_NOW | RTLD_LOCAL);
	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++)
		slots[i] = dlsym(driver, names[i]);
}}
""", encoding="ascii")
    subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-Wl,-soname,libcuda.so.1", "-o", folder / "libcuda.so.1",
                    folder / "shim.c", folder / "shim.s", "-ldl"], check=True)


def driver_library():
    cache = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    return next(os.path.realpath(line.split("=> ")[1]) for line in cache.splitlines() if "libcuda.so.1 " in line)


def test_pass_through(machine, results):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_shim(folder, driver_library())
        environment = {**os.environ, "LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
        for how, before in (("alone", []), ("as COMMAND", [machine.gpuprobe, "--metrics-addr", "none", "--"])):
            done = subprocess.run([*before, sys.executable, "-c", SUM], env=environment, capture_output=True, text=True,
                                  timeout=180, check=False)
            results.check(f"PyTorch over a pass-through libcuda.so.1, {how}: exit status, right sum", (0, True),
                          (done.returncode, "499500\n" in done.stdout))
        with watching(machine):
            done = subprocess.run([sys.executable, "-c", SUM], env=environment, capture_output=True, text=True, timeout=180,
                                  check=False)
        results.check("the same beside a gpuprobe of the machine", (0, "499500\n"), (done.returncode, done.stdout))


def test_confined(machine, results):
    test_one_of_two(machine, results)
    test_pass_through(machine, results)
