# SPDX-License-Identifier: BSD-2-Clause
"""Holds device memory for times that it measures: tells the true byte-seconds, from and to.

One argument, SECONDS. It ends with memory that it did not free. The last line has JSON:
byte-seconds of what it freed, from and to, and what is live at the end with its moments.
"""
import json
import os
import sys
import time

from cuda import made, need, runtime

MIB = 1 << 20


def now():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def allocate(size):
    before = now()
    address = made(runtime.cudaMalloc, size)
    return {"address": address, "size": size, "most": before, "least": now()}


def free(allocation):
    least = now()
    need(runtime.cudaFree(allocation["address"]))
    return {"least": allocation["size"] * (least - allocation["least"]) / 1e9,
            "most": allocation["size"] * (now() - allocation["most"]) / 1e9}


def main():
    seconds = float(sys.argv[1])
    kept = [allocate((64 + number) * MIB) for number in range(8)]
    freed, end = [], now() + seconds * 1e9
    while now() < end:
        short = [allocate(size * MIB) for size in (1, 1, 2)]
        time.sleep(0.03)
        freed += map(free, short)
        time.sleep(0.02)
    print(json.dumps({
        "freed": {bound: sum(each[bound] for each in freed) for bound in ("least", "most")},
        "kept": [{word: each[word] for word in ("size", "least", "most")} for each in kept],
        "until": now()}), flush=True)
    os._exit(0)


main()
