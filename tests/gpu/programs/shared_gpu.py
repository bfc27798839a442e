#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""One of several programs on a GPU: shared_gpu.py NAME GIB SHARE SECONDS.

Holds GIB of memory and works about SHARE of the time, for SECONDS. On its standard input a line
says when to begin, since it measures first, alone, how long a burst of its kernels takes. Prints a
line when it is ready, and at the end {"work_seconds", "byte_seconds", "held_seconds"}: GPU time of
its own kernels, as if alone; memory by time and time since its first CUDA call.
"""
import json
import sys
import time

name, gibibytes, share, seconds = sys.argv[1], *map(float, sys.argv[2:])
with open("/proc/self/comm", "w") as comm:
    comm.write(name)

import torch  # noqa: E402  pylint: disable=wrong-import-position

BURST = 100  # kernels
called = time.monotonic()
torch.cuda.init()
held = torch.empty(int(gibibytes * (1 << 30)), dtype=torch.uint8, device="cuda")
allocated = time.monotonic()
values = torch.ones(64 << 20, device="cuda")


def burst():
    for _ in range(BURST):
        values.mul_(1.0)


for _ in range(3):
    burst()
start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
start.record()
for _ in range(5):
    burst()
end.record()
torch.cuda.synchronize()
alone = start.elapsed_time(end) / 5e3
print("ready", flush=True)
sys.stdin.readline()
bursts, deadline = 8, time.monotonic() + seconds
while time.monotonic() < deadline:
    burst()
    torch.cuda.synchronize()
    bursts += 1
    time.sleep(alone / share - alone)
now = time.monotonic()
print(json.dumps({"work_seconds": bursts * alone, "held_seconds": now - called,
                  "byte_seconds": torch.cuda.memory_reserved() * (now - allocated)}), flush=True)
