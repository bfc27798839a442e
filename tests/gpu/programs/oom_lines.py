# SPDX-License-Identifier: BSD-2-Clause
"""
Runs out of device memory with PyTorch, held by several lines: oom_lines.py CASE FILE, see
tests/gpu/oom_lines.py. At the failure PyTorch's own snapshot goes to FILE as a pickle. GiB are of a
GPU of 80 GB: they are scaled to the GPU.
"""
import pickle
import sys
import threading
import time

import torch

MIB = 1 << 20
GIB = (1 << 30) * torch.cuda.get_device_properties(0).total_memory / 80e9
kept = []


def weights(total):
    kept.append(torch.zeros(int(total * GIB), dtype=torch.uint8, device="cuda"))


def features(total):
    for _ in range(16):
        kept.append(torch.ones(int(total * GIB / 16), dtype=torch.uint8, device="cuda"))


def cache(total):
    for _ in range(1000):
        kept.append(torch.empty(int(total * GIB / 1000), dtype=torch.uint8, device="cuda"))


def scratch(total):
    """Freed again: it has no place in a report."""
    for _ in range(4):
        passing = torch.empty(int(total * GIB / 4), dtype=torch.uint8, device="cuda")
        del passing


def until_full(step):
    try:
        while True:
            step()
    except torch.cuda.OutOfMemoryError:
        pass


def grow():
    kept.append(torch.empty(64 * MIB, dtype=torch.uint8, device="cuda"))


def lists():
    """One large tensor, some, and many; a line that leaks is second."""
    scratch(20)
    weights(34)
    features(12)
    cache(5)
    until_full(grow)


def threads():
    """As lists, each line in a thread of its own, all at the same time."""
    running = [threading.Thread(target=line, args=(total,))
               for line, total in ((weights, 8), (features, 36), (cache, 16), (scratch, 4))]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    until_full(grow)


def train():
    """Weights, the optimizer's state, and outputs that are kept, by lines inside of PyTorch: each
    of the program's own lines has one large place there, so a report has it once."""
    width = int((1.5 * GIB / 4) ** 0.5)
    model = torch.nn.Sequential(*(torch.nn.Linear(width, width, device="cuda") for _ in range(8)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    rows = torch.ones(4096, width, device="cuda")
    with torch.no_grad():
        until_full(lambda: kept.append(model[0](rows)))


def keep_snapshot(file):
    """PyTorch calls this where the allocation fails, before it raises."""
    def observe(*_):
        with open(file, "wb") as out:
            pickle.dump(torch.cuda.memory._snapshot(), out)
    return observe


torch.cuda.memory._record_memory_history(stacks="python", max_entries=100000)
torch._C._cuda_attach_out_of_memory_observer(keep_snapshot(sys.argv[2]))
{"lists": lists, "threads": threads, "train": train}[sys.argv[1]]()
time.sleep(1)
