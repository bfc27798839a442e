# SPDX-License-Identifier: BSD-2-Clause
"""Reads timelines, and checks them strictly: calls nest, tracks are in the right ones, ids are
unique and known, texts are plain, arrows begin and end at calls, counters of queued work follow
from these. Needs no library: protobuf is decoded here, by the fields that gpuprobe may write;
anything else is an error.
"""
import gzip
import json
import re
import struct
import zlib
from collections import Counter
from dataclasses import dataclass, field

SLICE_BEGIN, SLICE_END, INSTANT, COUNTER = 1, 2, 3, 4
STATE_CLEARED, NEEDS_STATE = 1, 2
UNIT_COUNT, UNIT_BYTES = 2, 3


@dataclass(eq=False)
class Call:
    """A slice of a thread; times in nanoseconds, end None: it is still open."""
    pid: int
    tid: int
    name: str
    category: str
    start: int
    end: int = None
    args: dict = field(default_factory=dict)

    @property
    def key(self):
        return self.pid, self.tid, self.name, self.start, self.end


@dataclass
class Mark:
    """A moment on a track, which is a thread's tid or the name of another track."""
    pid: int
    track: object
    name: str
    category: str
    time: int
    args: dict


@dataclass
class Step:
    pid: int
    tid: int
    name: str
    start: int
    end: int
    launches: int


@dataclass(eq=False)
class GpuSlice:
    """What a GPU did. `call` is the Call whose arrow leads to it, or None."""
    pid: int
    track: str
    name: str
    category: str
    start: int
    end: int
    args: dict
    call: Call = None

    @property
    def key(self):
        return self.pid, self.track, self.name, self.start, self.end


@dataclass
class Range:
    """An NVTX range: the name of its track, and of itself."""
    pid: int
    track: str
    name: str
    start: int
    end: int
    args: dict


@dataclass
class Timeline:
    calls: list = field(default_factory=list)
    marks: list = field(default_factory=list)
    values: list = field(default_factory=list)  # (pid, name, time, bytes)
    arrows: list = field(default_factory=list)  # (call, call): work and the wait that covers it
    # Times at which calls begin: of a record and the call that waits for it, or None; and of that
    # call and the work that comes after.
    orders: list = field(default_factory=list)
    follows: list = field(default_factory=list)
    steps: list = field(default_factory=list)
    gpu: list = field(default_factory=list)  # of GpuSlice
    ranges: list = field(default_factory=list)
    processes: dict = field(default_factory=dict)  # name by pid
    threads: dict = field(default_factory=dict)  # name by (pid, tid)

    @property
    def keys(self):
        return Counter(call.key for call in self.calls)

    def of(self, *names):
        return [call for call in self.calls if call.name in names]

    @property
    def findings(self):
        return [mark for mark in self.marks if mark.category == "findings"]

    def on(self, track):
        return [mark for mark in self.marks if track in str(mark.track)]


# --- protobuf ---

# Of each message: by number its name, and "n" number, "8" fixed64, "s" text, or a message.
COMPRESSED = 50
SCHEMA = {
    "packet": {6: ("snapshot", "snapshot"), 8: ("time", "n"), 10: ("sequence", "n"),
               11: ("event", "event"), 12: ("interned", "interned"), 13: ("flags", "n"),
               60: ("track", "track"), 87: ("first", "n")},
    "snapshot": {1: ("clocks", "clock"), 2: ("primary", "n")},
    "clock": {1: ("id", "n"), 2: ("time", "n")},
    "track": {1: ("uuid", "n"), 2: ("name", "s"), 3: ("process", "process"),
              4: ("thread", "thread"), 5: ("parent", "n"), 8: ("counter", "counter"),
              15: ("merge", "n")},
    "process": {1: ("pid", "n"), 6: ("name", "s")},
    "thread": {1: ("pid", "n"), 2: ("tid", "n"), 5: ("name", "s")},
    "counter": {3: ("unit", "n")},
    "event": {3: ("category", "n"), 4: ("arguments", "argument"), 9: ("type", "n"),
              10: ("name", "n"), 11: ("track", "n"), 30: ("value", "n"), 47: ("flows", "8"),
              48: ("ends", "8")},
    "argument": {1: ("name", "n"), 3: ("uint", "n"), 4: ("int", "n"), 5: ("double", "8"),
                 6: ("text", "s"), 7: ("pointer", "n"), 17: ("word", "n")},
    "interned": {1: ("category", "text"), 2: ("name", "text"), 3: ("argument", "text"),
                 29: ("word", "text")},
    "text": {1: ("id", "n"), 2: ("text", "s")},
}
REPEATED = {"arguments", "flows", "ends", "clocks"}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            assert value < 1 << 64
            return value, at


def fields(data):
    """(number, wire type, value) of a message."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        else:
            assert kind == 2, f"wire type {kind}"
            length, at = varint(data, at)
            assert at + length <= len(data), "a message is longer than what contains it"
            value, at = data[at:at + length], at + length
        yield tag >> 3, kind, value


def message(data, name):
    """The message as a dict."""
    result = {}
    for number, kind, value in fields(data):
        assert number in SCHEMA[name], f"unknown field {number} of {name}"
        key, form = SCHEMA[name][number]
        assert kind == {"n": 0, "8": 1}.get(form, 2), f"wire type {kind} of {name}.{key}"
        if form == "s":
            value = value.decode()  # strict: text is UTF-8
            assert plain(value), repr(value)
        elif kind == 2:
            value = message(value, form)
        if key in REPEATED or name == "interned":
            result.setdefault(key, []).append(value)
        else:
            assert key not in result, f"{name}.{key} is there twice"
            result[key] = value
    return result


def plain(text):
    """Whether a terminal would not act on it."""
    return not re.search("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", text)


def packets(data):
    """The packets of a Trace message, those in compressed ones expanded."""
    for number, kind, packet in fields(data):
        assert (number, kind) == (1, 2)
        parts = list(fields(packet))
        if parts[0][0] == COMPRESSED:
            assert len(parts) == 1
            yield from packets(zlib.decompress(parts[0][2]))
        else:
            yield message(packet, "packet")


def expanded(path):
    """A Perfetto file without compressed packets, for protoc."""
    return b"".join(zlib.decompress(list(fields(packet))[0][2])
                    for _, _, packet in fields(path.read_bytes()))


# --- Perfetto ---

GROUP = "CUDA streams"
STEPS = "steps of thread "
GPU_GROUP = "GPU streams"
GPU = re.compile(r"GPU (\d+) stream (\d+)(, overlapping [1-7])?")
RANGES = "NVTX"


def parent_is_right(track, parent):
    if "process" in track or track.get("name") == "gpuprobe: losses":
        return not parent
    if "thread" in track:
        return parent.get("process", {}).get("pid") == track["thread"]["pid"]
    unit = track.get("counter", {}).get("unit")
    if track["name"].startswith((GROUP, STEPS, GPU_GROUP, RANGES)) or unit == UNIT_BYTES:
        return "process" in parent
    if GPU.fullmatch(track["name"]):
        return parent["name"].startswith(GPU_GROUP)
    return parent["name"].startswith(GROUP)


class Perfetto:
    """Takes packets in their order, and then the events in the order of their times."""

    def __init__(self):
        self.timeline = Timeline()
        self.tracks = {}
        self.texts = {}
        self.events = []  # (time, event with its texts)
        self.clocks = None
        self.open_steps = {}  # by uuid of a track: index of the step in progress
        self.open_gpu = {}  # the same: the GpuSlice in progress

    def take(self, packet):
        assert packet.pop("sequence") == 1
        flags = packet.pop("flags")
        assert flags & NEEDS_STATE
        if flags & STATE_CLEARED:
            self.texts = {}
        for kind, entries in packet.pop("interned", {}).items():
            for entry in entries:
                assert entry["id"] > 0 and (kind, entry["id"]) not in self.texts
                self.texts[kind, entry["id"]] = entry["text"]
        if "track" in packet:
            self.take_track(packet["track"])
        elif "snapshot" in packet:
            self.clocks = {clock["id"]: clock["time"] for clock in packet["snapshot"]["clocks"]}
        else:
            self.take_event(packet["time"], packet["event"])

    def take_track(self, track):
        known = self.tracks.get(track["uuid"])
        assert not known or "process" in known, "only the name of a process changes"
        assert parent_is_right(track, self.tracks.get(track.get("parent"), {})), track
        assert "process" in track or "thread" in track or track["merge"] == 2
        self.tracks[track["uuid"]] = track
        if "process" in track:
            self.timeline.processes[track["process"]["pid"]] = track["process"].get("name", "")
        if "thread" in track:
            thread = track["thread"]
            assert (thread["pid"], thread["tid"]) not in self.timeline.threads
            self.timeline.threads[thread["pid"], thread["tid"]] = thread.get("name", "")

    def take_event(self, time, event):
        assert event["track"] in self.tracks, "a track is described before its first event"
        if "name" in event:
            event["name"] = self.texts["name", event["name"]]
            event["category"] = self.texts["category", event["category"]]
        args = {}
        for argument in event.get("arguments", []):
            name = self.texts["argument", argument.pop("name")]
            (kind, value), = argument.items()
            assert name not in args, name
            args[name] = (self.texts["word", value] if kind == "word" else
                          hex(value) if kind == "pointer" else
                          value - (value >> 63 << 64) if kind == "int" else
                          struct.unpack("<d", struct.pack("<Q", value))[0] if kind == "double"
                          else value)
        event["arguments"] = args
        self.events.append((time, event))

    def pid_of(self, track):
        while True:
            for kind in ("thread", "process"):
                if kind in track:
                    return track[kind]["pid"]
            if "parent" not in track:
                return 0
            track = self.tracks[track["parent"]]

    def take_step(self, pid, track, time, event):
        if event["type"] == SLICE_BEGIN:
            assert event["category"] == "steps" and event["arguments"].keys() == {"launches"}
            self.timeline.steps.append(Step(pid, int(track["name"].removeprefix(STEPS)),
                                            event["name"], time, None,
                                            event["arguments"]["launches"]))
        else:
            assert event["type"] == SLICE_END
            step = self.timeline.steps[self.open_steps.pop(track["uuid"])]
            step.end = time
            return
        assert track["uuid"] not in self.open_steps
        self.open_steps[track["uuid"]] = len(self.timeline.steps) - 1

    def take_gpu(self, pid, track, time, event):
        """Slices of a GPU's track follow one another. Returns the one that begins."""
        if event["type"] == SLICE_BEGIN:
            assert track["uuid"] not in self.open_gpu
            made = GpuSlice(pid, track["name"], event["name"], event["category"], time, None,
                            event["arguments"])
            self.open_gpu[track["uuid"]] = made
            self.timeline.gpu.append(made)
            return made
        assert event["type"] == SLICE_END
        self.open_gpu.pop(track["uuid"]).end = time
        return None

    def take_range(self, pid, track, time, event, stack):
        if event["type"] == SLICE_BEGIN:
            assert event["category"] == "nvtx"
            stack.append(Range(pid, track["name"], event["name"], time, None, event["arguments"]))
            self.timeline.ranges.append(stack[-1])
        else:
            assert event["type"] == SLICE_END
            stack.pop().end = time

    def finish(self):
        timeline = self.timeline
        stacks = {}
        begun, arrows = {}, []
        recorded = {}  # by flow: when the event was, or when its stream's wait was
        for time, event in sorted(self.events, key=lambda event: event[0]):
            track = self.tracks[event["track"]]
            pid = self.pid_of(track)
            stack = stacks.setdefault(event["track"], [])
            call = gpu = None
            if GPU.fullmatch(track.get("name", "")):
                gpu = self.take_gpu(pid, track, time, event)
            elif "counter" not in track and track.get("name", "").startswith(STEPS):
                self.take_step(pid, track, time, event)
            elif track.get("name", "").startswith(RANGES):
                self.take_range(pid, track, time, event, stack)
            elif event["type"] == SLICE_BEGIN:
                call = Call(pid, track["thread"]["tid"], event["name"], event["category"], time,
                            args=event["arguments"])
                stack.append(call)
                timeline.calls.append(call)
            elif event["type"] == SLICE_END:
                call = stack.pop()
                call.end = time
                call.args.update(event["arguments"])
            elif event["type"] == COUNTER:
                assert track["counter"]["unit"] == unit_of(track["name"])
                timeline.values.append((pid, track["name"], time, event["value"]))
            else:
                assert event["type"] == INSTANT
                # The thread that is called as its process has the process's marks in Chrome's form.
                on = track["thread"]["tid"] if "thread" in track else track.get("name", pid)
                timeline.marks.append(Mark(pid, on, event["name"], event["category"], time,
                                           event["arguments"]))
            for flow in event.get("flows", []):
                if gpu:
                    assert not gpu.call, "one arrow leads to work of a GPU"
                    gpu.call = begun[flow]
                elif call:
                    assert flow not in begun, "one call begins an arrow"
                    begun[flow] = call
                elif event["name"] == "event recorded":
                    assert flow not in recorded
                    recorded[flow] = time
                elif event["category"] == "order":
                    assert event["name"].startswith("waits for ")
                    timeline.orders.append((recorded[flow], time))
                    recorded[flow] = time
                else:
                    assert flow in begun, "an arrow begins at a call"
            for flow in event.get("ends", []):
                if call:
                    arrows.append((flow, call))
                else:
                    assert event["category"] == "queued"
                    timeline.follows.append((recorded.pop(flow), time))
        for flow, call in arrows:
            timeline.arrows.append((begun.pop(flow), call))
        assert not self.open_gpu
        return timeline


def read_perfetto(path):
    reader = Perfetto()
    for number, packet in enumerate(packets(path.read_bytes())):
        assert ("first" in packet) == (number == 0)
        if number == 0:
            assert packet["flags"] & STATE_CLEARED
        packet.pop("first", None)
        reader.take(packet)
    check(reader.finish())
    reader.timeline.clocks = reader.clocks
    return reader.timeline


# --- Chrome ---

def without_doubles(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), f"a key is there twice: {keys}"
    return dict(pairs)


def load(path):
    data = path.read_bytes()
    assert (data[:2] == b"\x1f\x8b") == (path.suffix != ".json")
    text = (gzip.decompress(data) if path.suffix != ".json" else data).decode()
    assert plain(text.replace("\n", ""))
    return json.loads(text, object_pairs_hook=without_doubles,
                      parse_float=lambda number: int(number.replace(".", ""))
                      if re.fullmatch(r"-?\d+\.\d{3}", number) else float(number))


def read_chrome(path, begin=0):
    """Times are CLOCK_BOOTTIME if `begin` is that of the beginning."""
    loaded = load(path)
    begin = begin or loaded["otherData"]["boot_ns"]
    timeline = Timeline()
    names, starts, ends, stacks, gpu = {}, {}, [], {}, {}
    for event in loaded["traceEvents"]:
        phase, pid, tid = event["ph"], event["pid"], event["tid"]
        time = begin + event["ts"] if "ts" in event else None
        if phase == "M":
            if event["name"] == "process_name":
                timeline.processes[pid] = event["args"]["name"]
            elif event["name"] == "thread_name":
                names[pid, tid] = event["args"]["name"]
        elif phase == "X" and event["cat"] == "steps":
            assert tid >= 1 << 24 and event["args"].keys() == {"launches"}
            timeline.steps.append(Step(pid, int(names[pid, tid].removeprefix(STEPS)),
                                       event["name"], time, time + event["dur"],
                                       event["args"]["launches"]))
        elif phase == "X" and event["cat"].startswith("gpu_"):
            timeline.gpu.append(GpuSlice(pid, names[pid, tid], event["name"], event["cat"], time,
                                         time + event["dur"], event["args"]))
            gpu[pid, tid, time] = timeline.gpu[-1]
        elif phase == "X" and event["cat"] == "nvtx":
            assert tid >= 1 << 24
            timeline.ranges.append(Range(pid, names[pid, tid], event["name"], time,
                                         time + event["dur"], event["args"]))
        elif phase in "XB":
            call = Call(pid, tid, event["name"], event["cat"], time,
                        time + event["dur"] if phase == "X" else None, event["args"])
            timeline.calls.append(call)
            if phase == "B":
                stacks.setdefault((pid, tid), []).append(call)
        elif phase == "E":
            call = stacks[pid, tid].pop()
            call.end = time
            call.args.update(event["args"])
        elif phase == "i":
            timeline.marks.append(Mark(pid, names.get((pid, tid), tid) if tid >= 1 << 24 else tid,
                                       event["name"], event["cat"], time, event["args"]))
        elif phase == "C":
            (word, value), = event["args"].items()
            assert word == {UNIT_BYTES: "bytes", UNIT_COUNT: "work"}[unit_of(event["name"])]
            timeline.values.append((pid, event["name"], time, value))
        elif phase == "s":
            assert (event["cat"], event["id"]) not in starts
            starts[event["cat"], event["id"]] = pid, tid, time
        else:
            assert phase == "f" and event["bp"] == "e", event
            ends.append(((event["cat"], event["id"]), (pid, tid, time)))
    timeline.threads = {key: name for key, name in names.items() if key[1] < 1 << 24}
    resolve(timeline, starts, ends, gpu)
    check(timeline)
    return timeline


def resolve(timeline, starts, ends, gpu):
    """Each end of an arrow is at the beginning of its call, or of work of a GPU."""
    calls = {}
    for call in timeline.calls:
        calls.setdefault((call.pid, call.tid, call.start), call)
    for key, end in ends:
        one = calls[starts.pop(key)]
        if key[0] == "ac2g":
            assert not gpu[end].call
            gpu[end].call = one
            continue
        other = calls[end]
        if key[0] == "queued":
            timeline.arrows.append((one, other))
        elif key[0] == "waited for by":
            assert "EventRecord" in one.name and "StreamWaitEvent" in other.name
            timeline.orders.append((one.start, other.start))
        else:
            assert key[0] == "runs after" and "StreamWaitEvent" in one.name
            timeline.follows.append((one.start, other.start))
    assert not starts, "an arrow ends nowhere"


# --- both ---

LAUNCHES = re.compile("^cudaLaunch(?!HostFunc)|^cuLaunch(?!HostFunc)|GraphLaunch")
QUEUES = re.compile("Launch|Memcpy|Memset|Callback")


def unit_of(counter):
    if counter.startswith("queued on "):
        return UNIT_COUNT
    assert counter.startswith("live device memory")
    return UNIT_BYTES


def queued(timeline):
    """Of each mark of queued work: (the mark, the Call that queued it). Calls of several threads
    may begin in the same nanosecond."""
    calls = {}
    for call in timeline.calls:
        calls.setdefault((call.pid, call.start), []).append(call)
    for mark in timeline.marks:
        if mark.category == "queued" and not mark.args.get("note"):
            at_once = calls[mark.pid, mark.time]
            chosen = [call for call in at_once if on_stream(call, mark.track)] or at_once
            at_once.remove(chosen[0])
            yield mark, chosen[0]


def on_stream(call, track):
    """Whether the call may be what a mark on that track is about."""
    stream = call.args.get("stream", 0)
    named = stream and int(str(stream), 0) > 2
    return QUEUES.search(call.name) and (
        track.startswith(f"stream {stream}") if named else track.startswith("default stream"))


def check_queued(timeline):
    """
    Work is queued from the return of its call to that of the wait that covers it. That is known if
    all of it has arrows.
    """
    covered = Counter(wait for _, wait in timeline.arrows)
    if any(call.args.get("covers_launches", 0) + call.args.get("covers_copies", 0) != covered[call]
           for call in timeline.calls):
        return
    waits = {id(work): wait for work, wait in timeline.arrows}
    changes = {}
    for mark, call in queued(timeline):
        if mark.name == "D2H" and "Async" not in call.name:
            continue
        change = changes.setdefault((mark.pid, f"queued on {mark.track}"), Counter())
        change[call.end] += 1
        if id(call) in waits:
            change[waits[id(call)].end] -= 1
    values = {}
    for pid, name, time, value in timeline.values:
        if unit_of(name) == UNIT_COUNT:
            values.setdefault((pid, name), {})[time] = value
    for key, change in (changes.items() if values else ()):
        total = 0
        for time in sorted(change):
            total += change[time]
            assert values[key].pop(time) == total, (key, time)
        assert not values[key]


def check_steps(timeline):
    """Those of a thread follow one another, and have as many launches as they say."""
    if not timeline.steps:
        return
    launches = {}
    for _, call in queued(timeline):
        if LAUNCHES.search(call.name):
            launches.setdefault((call.pid, call.tid), set()).add(call.start)
    latest = {}
    for step in sorted(timeline.steps, key=lambda step: step.start):
        number, end = latest.get((step.pid, step.tid), (0, 0))
        assert end < step.start <= step.end
        regular = step.name != "irregular step"
        assert not regular or step.name == f"step {number + 1}"
        latest[step.pid, step.tid] = number + regular, step.end
        assert step.launches == sum(step.start <= time < step.end
                                    for time in launches[step.pid, step.tid]), step


def check_findings(timeline):
    """They are on the track of a process that has calls, and say what is wrong."""
    for mark in timeline.findings:
        assert re.fullmatch("(info|warning|critical) [a-z-]+", mark.name), mark
        assert mark.track == mark.pid and mark.pid in timeline.processes, mark
        assert mark.args.keys() == {"note"} and mark.args["note"], mark


WORK = {"gpu_kernel": re.compile("Launch"), "gpu_copy": re.compile("Memcpy|Memset"),
        "gpu_set": re.compile("Memset"), "gpu_graph": re.compile("GraphLaunch"),
        "gpu_graph_kernel": re.compile("GraphLaunch")}


def check_gpu(timeline):
    """Work on a track does not overlap, is what its track and its call say, and comes later than
    its call."""
    tracks = {}
    for work in timeline.gpu:
        device, stream, _ = GPU.fullmatch(work.track).groups()
        assert (work.args["device"], work.args["stream"]) == (int(device), int(stream)), work
        assert work.pid in timeline.processes and work.start <= work.end, work
        tracks.setdefault((work.pid, work.track), []).append(work)
        assert ("delay_ns" in work.args) == ("called_by" in work.args)
        if not work.call:
            continue
        assert WORK[work.category].search(work.call.name), work
        assert (work.call.pid, work.call.tid) == (work.pid, work.args["called_by"]), work
        assert work.args["delay_ns"] == max(0, work.start - work.call.start), work
        if work.category == "gpu_kernel" and "kernel_label" in work.call.args:
            assert work.name == work.call.args["kernel_label"], work
    for slices in tracks.values():
        slices.sort(key=lambda work: (work.start, work.end))
        for one, other in zip(slices, slices[1:]):
            assert one.end <= other.start, (one, other)


def check(timeline):
    """Calls of a thread nest; values come in order."""
    check_gpu(timeline)
    check_queued(timeline)
    check_steps(timeline)
    check_findings(timeline)
    threads = {}
    for call in timeline.calls:
        threads.setdefault((call.pid, call.tid), []).append(call)
    for calls in threads.values():
        stack = []
        calls.sort(key=lambda call: (call.start, -(call.end or 1 << 64)))
        for call in calls:
            end = call.end or 1 << 64
            assert end >= call.start
            while stack and stack[-1] <= call.start:
                stack.pop()
            assert not stack or end <= stack[-1], f"{call} does not nest"
            stack.append(end)
    times = {}
    for pid, name, time, value in timeline.values:
        assert time >= times.get((pid, name), 0) and 0 <= value < 1 << 63
        times[pid, name] = time
    for call in timeline.calls:
        assert call.pid in timeline.processes


def key_of_line(line):
    """The key of a Call, of a line of trace --json --timestamps ns with all columns needed."""
    end = line["time"] if line.get("line") == "resumed" else line["time"] + line["duration"]
    return (line["pid"], line["tid"], line["event"],
            line["time"] - line["duration"] if line.get("line") == "resumed" else line["time"], end)
