# SPDX-License-Identifier: BSD-2-Clause
"""Programs that probes could harm: debuggers' programs beside a gpuprobe of the whole machine,
workers that fork."""
import contextlib
import shutil
import subprocess
import sys
import tempfile
import time

TORCH = "import torch; x = torch.ones(64, device='cuda'); y = (x @ x).item(); assert y == 64, y"
# Forks its workers anew in each epoch, while gpuprobe watches it.
WORKERS = """
import sys, torch
from torch.utils.data import DataLoader, TensorDataset
data = TensorDataset(torch.arange(256, dtype=torch.float32))
total = torch.zeros((), device="cuda")
print("READY", flush=True)
sys.stdin.readline()
for epoch in range(3):
    for batch, in DataLoader(data, batch_size=32, num_workers=4, multiprocessing_context="fork"):
        total += batch.cuda().sum()
assert total.item() == 3 * 255 * 128, total
"""


@contextlib.contextmanager
def watching(machine, *options):
    """A gpuprobe at work; what it says goes to a file."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen([machine.gpuprobe, "--json", "--metrics-addr",
                                    "none", "--display-interval", "1", *options],
                                   stdout=said, stderr=subprocess.DEVNULL)
        time.sleep(3)
        yield
        process.terminate()
        process.wait(60)


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, timeout=180, check=False)
    return done.returncode, done.stdout.decode(errors="replace")


def find(name):
    return shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin")


def test_beside(machine, results):
    with watching(machine):
        for tool, options in (("compute-sanitizer", ["--error-exitcode", "9"]),
                              ("cuda-gdb",
                               ["-batch", "-ex", "run", "-ex", "print $_exitcode", "--args"])):
            if not find(tool):
                results.tell(f"a PyTorch program under {tool}", "the tool is not here")
                continue
            status, text = run([find(tool), *options, sys.executable, "-c", TORCH])
            well = {"compute-sanitizer": "ERROR SUMMARY: 0 errors",
                    "cuda-gdb": "exited normally"}[tool]
            results.check(f"a PyTorch program under {tool}, beside a gpuprobe of the machine: "
                          "exit status, its last word",
                          (0, well), (status, well if well in text else text[-300:]))
    program = subprocess.Popen([sys.executable, "-c", WORKERS], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    program.stdout.readline()
    with watching(machine, "-p", str(program.pid)):
        program.communicate(b"go\n", timeout=180)
    results.check("DataLoader workers that are forked under -p: exit status, right sum", 0,
                  program.returncode)
