# SPDX-License-Identifier: BSD-2-Clause
"""When the GPU really worked: intervals as busy.c wrote them, and what they say about a window."""
import array
import json
import os

KINDS = ("kernels", "copies")


def joined(stretches):
    """In order, those that overlap as one."""
    found = []
    for begin, end in sorted(map(tuple, stretches)):
        if found and begin <= found[-1][1]:
            found[-1][1] = max(end, found[-1][1])
        else:
            found.append([begin, end])
    return found


def within(stretches, begin, end):
    """Nanoseconds of joined stretches in a window."""
    return sum(max(0, min(end, b) - max(begin, a)) for a, b in stretches)


def in_common(first, second):
    """Nanoseconds in both of two joined lists."""
    total, at = 0, 0
    for begin, end in first:
        while at < len(second) and second[at][1] <= begin:
            at += 1
        other = at
        while other < len(second) and second[other][0] < end:
            total += min(end, second[other][1]) - max(begin, second[other][0])
            other += 1
    return total


class Truth:
    """`stretches` by kind, joined, in ns of CLOCK_MONOTONIC; `all` of any kind."""

    def __init__(self, stretches, lost=0):
        self.kernels = joined(stretches["kernels"])
        self.all = joined([*self.kernels, *stretches["copies"]])
        self.lost = lost

    def shares(self, begin, end):
        """Of a window: busy with anything, with kernels."""
        return {"busy": within(self.all, begin, end) / (end - begin),
                "kernels": within(self.kernels, begin, end) / (end - begin)}


def read_cupti(prefix, pid):
    """What busy.c wrote of a process; None if it wrote nothing."""
    stretches, lost = {}, 0
    for kind in KINDS:
        path = f"{prefix}.{pid}.{kind}"
        if not os.path.exists(path):
            return None
        numbers = array.array("q")
        with open(path, "rb") as file:
            numbers.frombytes(file.read(os.path.getsize(path) // 16 * 16))
        pairs = list(zip(numbers[::2], numbers[1::2]))
        stretches[kind] = [pair for pair in pairs if pair[0] >= 0]
        lost += sum(end for begin, end in pairs if begin < 0)
    return Truth(stretches, lost)


def read_simulated(path):
    """The same of the simulated libraries' truth file, where all is one kind."""
    with open(path, encoding="utf-8") as file:
        busy = json.load(file)["devices"]["0"]["busy"]
    return Truth({"kernels": busy["list"], "copies": []}, busy["left_out"])
