# SPDX-License-Identifier: BSD-2-Clause
"""How waits, queries and event records are driven: copies they prove done are not in
flight any more.

Two streams have a copy each; the row's function covers one of them and leaves the other.
"""
from decode.contexts import green_of


def two_streams(c):
    """A copy on each of two streams: (stream, its bytes), (stream, its bytes)."""
    return [(stream, c.fly(stream)) for stream in (c.stream(), c.stream())]


def record(c, event, stream):
    c.either("cuEventRecord", "cudaEventRecord", event, stream)


def stream_of(row):
    return next(name for name in row.names if name in ("hStream", "stream"))


def event_of(row):
    return next((name for name in row.names if name in ("hEvent", "event")), None)


def answer(c):
    """A wait or a query, of a stream, an event or a context."""
    c.context = c.start()
    row = c.row
    if event_of(row):
        (first, _), (_, left) = two_streams(c)
        event = c.event()
        record(c, event, first)
        c.test(**{event_of(row): event})
        c.tally("event")
        c.flying("D2D", left)
    elif row.has("hStream", "stream"):
        (first, _), (_, left) = two_streams(c)
        c.test(**{stream_of(row): first})
        c.tally("stream")
        c.fly(c.default_stream)
        c.test(**{stream_of(row): 0})
        c.tally("stream")
        c.flying("D2D", left)
    else:
        two_streams(c)
        c.test(**{name: c.context for name in row.names})
        c.tally("device")
        c.flying("D2D", c.fly(c.stream()))


def event_record_of_context(c):
    """Such an event stands for streams that it does not name,
    so that no copy that it covers counts as done."""
    context = c.start()
    given = green_of(c, c.device) if "Green" in c.row.symbol else context
    streams = two_streams(c)
    event = c.event()
    c.test(hCtx=given, hEvent=event)
    c.tally("-")
    c.either("cuEventSynchronize", "cudaEventSynchronize", event)
    for _, size in streams:
        c.flying("D2D", size)


def event_record(c):
    """Work given to the stream before the event was recorded is done once the event is;
    later work is not."""
    row = c.row
    if not row.has("hStream", "stream"):
        event_record_of_context(c)
        return
    c.start()
    streams = two_streams(c)
    others = {name: 0 for name in row.names if name not in (event_of(row), stream_of(row))}
    for (stream, _), given in zip([*streams[:1], (c.default_stream, None)], (streams[0][0], 0)):
        if not given:
            c.fly(stream)
        event = c.event()
        c.test(**{event_of(row): event, stream_of(row): given}, **others)
        c.tally("-")
        later = c.fly(stream)
        c.either("cuEventSynchronize", "cudaEventSynchronize", event)
        c.flying("D2D", later)
    c.flying("D2D", streams[1][1])
