#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes a file of tests/unit/bpf/runs from a recorded run: its calls and the GPU's true busy times.

usage: pack_run.py CALLS INTERVALS OUT

CALLS is what `gpuprobe trace --api driver --timestamps ns --format json` wrote of one process,
INTERVALS are pairs of 64-bit numbers, begin and end in nanoseconds of the same clock, both by xz.
Everything that has nothing to do with queues is left out: getters, attributes, captures (none of
the runs captures anything). Busy times less than 3 µs apart become one, which asks for more of who
tests with them.

The file is gzip over numbers of 7 bits a byte, the lowest first, the top bit set where more follow
(LEB128). A list is its length and its members: functions, each a text, the number of its arguments
and their roles (texts); threads; distinct values; then by call, each in a list of its own:
function, thread, time since the entry of the call before, duration, result; then, for each argument
of each function in turn, a list of the numbers of its values; and the busy times, as the time since
the end of the one before, and the duration. A text is a list of bytes.
"""
import gzip
import json
import lzma
import struct
import sys

NEAR_NS = 3000
STREAM = {"stream": "stream"}
COPY = {"size": "size", "dst": "dst", "src": "src", **STREAM}
MADE = {"flags": "flags"}
# Of each function the role of each detail that the trace has.
ROLES = {
    "cuLaunchKernel": STREAM,
    "cuLaunchKernelEx": STREAM,
    "cuMemcpyHtoDAsync_v2": COPY,
    "cuMemcpyDtoHAsync_v2": COPY,
    "cuMemcpyDtoDAsync_v2": COPY,
    "cuMemsetD8Async": {"ptr": "ptr", "size": "size", **STREAM},
    "cuStreamSynchronize": STREAM,
    "cuCtxSynchronize_v2": {"ctx": "ctx"},
    "cuEventRecordWithFlags": {"event": "event", "flags": "flags", **STREAM},
    "cuEventQuery": {"event": "event"},
    "cuEventCreate": {"event": "out", **MADE},
    "cuStreamCreate": {"stream": "out", **MADE},
    "cuStreamDestroy_v2": {"stream": "handle"},
    "cuMemAlloc_v2": {"ptr": "out", "size": "size"},
    "cuMemHostAlloc": {"ptr": "out", "size": "size", "flags": "flags"},
    "cuMemFree_v2": {"ptr": "ptr"},
}


def number(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def numbers(values):
    return number(len(values)) + b"".join(map(number, values))


def text(word):
    return numbers(word.encode())


def value_of(detail):
    return int(detail, 0) if isinstance(detail, str) else detail


def read_calls(path):
    with lzma.open(path, "rt", encoding="utf-8") as file:
        calls = [json.loads(line) for line in file]
    calls = [call for call in calls if call["event"] in ROLES]
    return sorted(calls, key=lambda call: call["time"])


def read_busy(path):
    with lzma.open(path) as file:
        times = sorted(struct.iter_unpack("<2q", file.read()))
    busy = []
    for begin, end in times:
        if busy and begin - busy[-1][1] < NEAR_NS:
            busy[-1][1] = max(busy[-1][1], end)
        else:
            busy.append([begin, end])
    return busy


def since_before(times):
    return [time - before for before, time in zip([0, *times], times)]


def argument_lists(calls, functions, values):
    """The numbers of the values of each argument of each function."""
    for function in functions:
        for detail in ROLES[function]:
            yield [values[value_of(call["details"][detail])] for call in calls
                   if call["event"] == function]


def pack(calls, busy):
    functions = {name: i for i, name in enumerate(sorted({call["event"] for call in calls}))}
    threads = {tid: i for i, tid in enumerate(sorted({call["tid"] for call in calls}))}
    found = {value_of(call["details"][detail]) for call in calls for detail in ROLES[call["event"]]}
    values = {value: i for i, value in enumerate(sorted(found))}
    parts = [number(len(functions))]
    for name in functions:
        parts += [text(name), number(len(ROLES[name])), *map(text, ROLES[name].values())]
    parts += [numbers(list(threads)), numbers(list(values)),
              numbers([functions[call["event"]] for call in calls]),
              numbers([threads[call["tid"]] for call in calls]),
              numbers(since_before([call["time"] for call in calls])),
              numbers([call["duration"] for call in calls]),
              numbers([call.get("code", 0) for call in calls])]
    parts += [numbers(part) for part in argument_lists(calls, functions, values)]
    parts += [numbers([begin - before
                       for before, (begin, _) in zip([0, *(end for _, end in busy)], busy)]),
              numbers([end - begin for begin, end in busy])]
    return b"".join(parts)


def main(calls, intervals, out):
    with open(out, "wb") as file:
        file.write(gzip.compress(pack(read_calls(calls), read_busy(intervals)), 9, mtime=0))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__.split("\n\n")[1])
    main(*sys.argv[1:])
