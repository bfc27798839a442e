# SPDX-License-Identifier: BSD-2-Clause
"""
Runs out of device memory with PyTorch: oom.py CASE NUMBER, see tests/gpu/oom.py. NUMBER is in GiB
or MiB, as the case needs, on a GPU of 80 GB: GiB are scaled to the GPU.
"""
import subprocess
import sys
import threading
import time

import torch

MIB = 1 << 20
GIB = (1 << 30) * torch.cuda.get_device_properties(0).total_memory / 80e9
kept = []


def take(size):
    return torch.empty(int(size), dtype=torch.uint8, device="cuda")


def until_full(step, pause=0.0):
    try:
        while True:
            step()
            time.sleep(pause)
    except torch.cuda.OutOfMemoryError:
        pass


def fill(left):
    """All but so many bytes, in one piece."""
    kept.append(take(torch.cuda.mem_get_info()[0] - left))


def large(number):
    kept.append(take(GIB))
    until_full(lambda: kept.append(take(number * GIB)))


def large_in_thread(number):
    thread = threading.Thread(target=large, args=(number,))
    thread.start()
    thread.join()


def leak(number):
    fill(24 * GIB)
    until_full(lambda: kept.append(take(number * MIB)), 0.02)


def leak_closure(number):
    fill(24 * GIB)

    def step():
        tensor = take(number * MIB)
        kept.append(lambda: tensor)
    until_full(step, 0.02)


def leak_graph(number):
    fill(24 * GIB)
    weight = torch.ones(int(number * MIB / 4), device="cuda", requires_grad=True)
    until_full(lambda: kept.append(weight * 2.0), 0.02)


def fragments(number):
    """Every second piece is freed: of 8 GiB of segments half is unused, in holes of 2 MiB."""
    pieces = []
    fill(8 * GIB)
    while torch.cuda.mem_get_info()[0] > 64 * MIB:
        pieces.append(take(2 * MIB))
    del pieces[::2]
    until_full(lambda: kept.append(take(number * MIB)))


def hold(number):
    kept.append(take(number * GIB))
    print("READY", flush=True)
    sys.stdin.readline()


def beside(count, size):
    others = [subprocess.Popen([sys.executable, __file__, "hold", str(size)], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
              for _ in range(count)]
    for other in others:
        other.stdout.readline()
    time.sleep(3)  # NVML's figures are at most 2 s old
    until_full(lambda: kept.append(take(2 * GIB)))
    time.sleep(1)
    for other in others:
        other.communicate("\n")


def neighbour(number):
    beside(1, number)


def many(number):
    beside(int(number), 1.2)


def fraction(number):
    torch.cuda.set_per_process_memory_fraction(number)
    kept.append(take(10 * MIB))
    time.sleep(3)
    until_full(lambda: kept.append(take(20 * GIB)))


def own(number):
    kept.append(take(number * GIB))
    time.sleep(31)
    until_full(lambda: kept.append(take(15 * GIB)))


def retries(number):
    """The cache is too large for the second tensor: PyTorch frees it, and succeeds."""
    cached = take(number * GIB)
    del cached
    kept.append(take((number + 5) * GIB))


globals()[sys.argv[1]](float(sys.argv[2]))
time.sleep(1)
