# SPDX-License-Identifier: BSD-2-Clause
"""How captures are driven: launches into a capture are not executed; everything beside it is."""
import ctypes

from decode import graphs
from decode.case import word
from decode.launches import (RELAXED, begin_capture, captured_stream, end_capture, kernels,
                             launch_one)


def stream_of(row):
    return next(name for name in row.names if name in ("hStream", "stream"))


def launched(c, stream, captured):
    """One launch into the stream, and where it must be counted."""
    launch_one(c, c.kernel, stream)
    c.expected.setdefault("captured", {c.name: 0})[c.name] += captured
    c.expected.setdefault("launches", {c.name: 0})[c.name] += not captured


def prepare(c):
    c.start()
    c.name = f"kernel_{c.n}"
    [c.kernel] = kernels(c, c.name)


def begin_by_row(c):
    prepare(c)
    passed, stream = captured_stream(c)
    other = c.stream()
    values = {stream_of(c.row): passed, "mode": RELAXED, "dependencies": None,
              "dependencyData": None, "numDependencies": 0}
    into = next((name for name in ("hGraph", "graph") if c.row.has(name)), None)
    if into:
        values[into] = graphs.new(c)
    c.test(**{name: values[name] for name in c.row.names})
    c.tally("-")
    launched(c, stream, True)
    launched(c, stream, True)
    launched(c, other, False)
    graph = end_capture(c, stream)
    launched(c, stream, False)
    graphs.expect_weight(c, graph, 2)


def end_by_row(c):
    prepare(c)
    passed, stream = captured_stream(c)
    begin_capture(c, stream)
    launched(c, stream, True)
    out = word()
    graph = next(name for name in c.row.names if name in ("phGraph", "pGraph"))
    c.test(**{stream_of(c.row): passed, graph: out})
    c.tally("-")
    launched(c, stream, False)
    graphs.expect_weight(c, out.value, 1)


def join_by_row(c):
    """A stream that waits for an event of a capturing stream captures as well."""
    prepare(c)
    passed, joined = captured_stream(c)
    origin, other = c.stream(), c.stream()
    event, back = c.event(), c.event()
    begin_capture(c, origin)
    launched(c, origin, True)
    c.either("cuEventRecord", "cudaEventRecord", event, origin)
    names = c.row.names
    c.test(**dict(zip(names, (passed, event, 0))))
    c.tally("-")
    launched(c, joined, True)
    launched(c, other, False)
    c.either("cuEventRecord", "cudaEventRecord", back, joined)
    c.either("cuStreamWaitEvent", "cudaStreamWaitEvent", origin, back, 0)
    graph = end_capture(c, origin)
    launched(c, joined, False)
    graphs.expect_weight(c, graph, 2)


def told_by_row(c):
    """What gpuprobe believed of the stream is not changed by what is true."""
    prepare(c)
    passed, stream = captured_stream(c)
    other = c.stream()
    begin_capture(c, stream)
    for given in (passed, other):
        outs = {name: (ctypes.c_uint64 * 2)() for name in c.row.names}
        c.test(**{**outs, stream_of(c.row): given})
        c.tally("-")
    launched(c, stream, True)
    launched(c, other, False)
    graphs.expect_weight(c, end_capture(c, stream), 1)


def change(c):
    symbol = c.row.symbol
    if "Begin" in symbol:
        begin_by_row(c)
    elif "End" in symbol:
        end_by_row(c)
    elif "WaitEvent" in symbol:
        join_by_row(c)
    else:
        told_by_row(c)
