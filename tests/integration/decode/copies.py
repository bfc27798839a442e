# SPDX-License-Identifier: BSD-2-Clause
"""How copies and sets are driven.

Bytes and kind show in what is counted of the function. The stream shows in what is in flight: the
first copy goes to the default stream, further ones to streams of their own, each is waited for by
its stream's handle, and the last is not. A synchronous copy from or to the host ends what is in
flight in the default stream.
"""
import ctypes
import re

from decode import structures as s
from decode.case import NoRule, word
from decode.launches import begin_capture, captured_stream, end_capture

KINDS = ("H2H", "H2D", "D2H", "D2D")
DEFAULT = 4
PITCH = 4096
HOST, DEVICE, ARRAY, UNIFIED = 1, 2, 3, 4  # CUmemorytype


class Side:
    """Where a copy reads or writes: an address or an array."""

    def __init__(self, address, where, pinned=None):
        self.address = address
        self.where = where  # "H", "D" or "A"
        self.pinned = pinned


def side(c, where, pinned):
    if where == "A":
        return Side(c.array(PITCH, 16), "A")
    if where == "D":
        return Side(c.on_device(), "D")
    return Side(c.pinned() if pinned else c.pageable(), "H", pinned)


def sides(c, way, pinned):
    """(destination, source) for a way like "A2H"."""
    return side(c, way[2], pinned), side(c, way[0], pinned)


def meaning(destination, source):
    """
    (kind, flags) of a copy between the two. Whether the host's memory is pinned only matters
    between host and device.
    """
    kind = f"{source.where}2{destination.where}".replace("A", "D")
    if kind not in ("H2D", "D2H"):
        return kind, ()
    host = destination if destination.where == "H" else source
    return kind, ("pinned",) if host.pinned else ("pageable",)


class Trial:
    """One call: its arguments but for the stream, and what they mean."""

    def __init__(self, arguments, kind, size, flags=()):
        self.arguments, self.kind, self.size, self.flags = arguments, kind, size, flags


def run(c, trials, first=0):
    """Calls the row's function for each trial, as its stream argument allows;
    `first` is the first stream."""
    stream = next((name for name in c.row.names if name in ("stream", "hStream")), None)
    if stream:
        run_asynchronous(c, trials, stream, first)
    else:
        run_synchronous(c, trials)


def run_captured(c, trial, name):
    """Into a capturing stream: counted as such, and never in flight."""
    passed, stream = captured_stream(c)
    if c.row.has("sizes", "opList"):
        passed = stream  # a batch refuses the default stream
    begin_capture(c, stream)
    c.test(**trial.arguments, **{name: passed})
    c.tally(trial.kind, trial.size, *trial.flags, "captured")
    end_capture(c, stream)


def run_asynchronous(c, trials, name, first):
    run_captured(c, trials[-1], name)
    for number, trial in enumerate(trials):
        stream = c.stream() if number else first
        c.test(**trial.arguments, **{name: stream})
        c.tally(trial.kind, trial.size, *trial.flags)
        if number + 1 < len(trials):
            c.wait(stream or c.default_stream)
        else:
            c.flying(trial.kind, trial.size)


def run_synchronous(c, trials):
    for number, trial in enumerate(trials):
        before = c.fly(c.default_stream)
        c.test(**trial.arguments)
        c.tally(trial.kind, trial.size, *trial.flags)
        if trial.kind in ("H2D", "D2H"):
            continue
        if number + 1 < len(trials):
            c.wait(c.default_stream)
        else:
            c.flying("D2D", before)


def offsets(c, names):
    """Distances into arrays and symbols: small, and another for each argument."""
    return {name: 16 * (1 + number) for number, name in enumerate(names)}


# One-dimensional copies of the driver, and two-dimensional ones of the runtime.

def ends(c, row):
    """The names of the destination's and the source's argument."""
    def first(*names):
        return next(name for name in names if row.has(name))

    if row.has("symbol"):
        return ("symbol", "src") if "ToSymbol" in row.symbol else ("dst", "symbol")
    return first("dst", "dstDevice", "dstHost",
                 "dstArray"), first("src", "srcDevice", "srcHost", "srcArray")


def extent_arguments(c):
    """(arguments, bytes): how much is copied."""
    row = c.row
    for name in ("ByteCount", "count"):
        if row.has(name):
            size = c.size(16)
            return {name: size}, size
    width, height = c.size(16) % 1000 // 16 * 16 + 992, 3 + c.n % 5
    return {"width": width, "height": height}, width * height


def ways(row):
    """The ways that the function's name allows, like "H2A";
    with the runtime's kind where it is an argument."""
    named = re.match(r"cuMemcpy([HDA])to([HDA])", row.symbol)
    if named:
        return [(f"{named[1]}2{named[2]}", None)]
    if row.layer == "driver":  # unified addresses
        return [(way, None) for way in KINDS]
    if "ArrayToArray" in row.symbol:
        pairs = ["A2A"]
    elif "ToArray" in row.symbol:
        pairs = ["H2A", "D2A"]
    elif "FromArray" in row.symbol:
        pairs = ["A2H", "A2D"]
    elif "ToSymbol" in row.symbol:
        pairs = ["H2D", "D2D"]
    elif "FromSymbol" in row.symbol:
        pairs = ["D2H", "D2D"]
    else:
        pairs = list(KINDS)
    return ([(way, KINDS.index(way.replace("A", "D"))) for way in pairs] +
            [(way, DEFAULT) for way in pairs])


def symbol_of(c):
    """A variable of 64 KiB, by the host address that it is registered under."""
    library = c.library.handle
    code = ctypes.create_string_buffer(b".version 7.0\n.target sm_75\n.address_size 64\n"
                                       b".visible .global .align 4 .b8 table[65536];\n"
                                       b".visible .entry kernel()\n{\n\tret;\n}\n")
    wrapper = s.FatBinaryWrapper(0x466243b1, 1, ctypes.addressof(code), 0)
    library.__cudaRegisterFatBinary.restype = ctypes.c_void_p
    handle = ctypes.c_void_p(library.__cudaRegisterFatBinary(ctypes.byref(wrapper)))
    host = ctypes.create_string_buffer(8)
    library.__cudaRegisterVar(handle, host, b"table", b"table", 0, ctypes.c_size_t(65536), 0, 0)
    library.__cudaRegisterFatBinaryEnd(handle)
    c.kept += [code, wrapper, host]
    return ctypes.addressof(host)


def linear(c):
    row = c.row
    to, source = ends(c, row)
    trials = []
    todo = [(way, kind, pinned) for way, kind in ways(row) for pinned in (False, True)
            if pinned is False or "H" in way]
    while len(todo) < 3:
        todo += todo
    for way, kind, pinned in todo:
        destination, origin = sides(c, way, pinned)
        arguments, size = extent_arguments(c)
        arguments |= offsets(c, [n for n in row.names
                                 if n in ("dstOffset", "srcOffset", "wOffset", "wOffsetDst",
                                          "wOffsetSrc", "offset")])
        arguments |= {n: 1 + i
                      for i, n in enumerate(n for n in row.names if n.startswith("hOffset"))}
        arguments |= {n: PITCH + 512 * i for i, n in enumerate(("dpitch", "spitch")) if row.has(n)}
        arguments |= {to: destination.address, source: origin.address}
        if row.has("symbol"):
            arguments["symbol"] = symbol_of(c)
        if row.has("kind"):
            arguments["kind"] = kind
        between, flags = meaning(destination, origin)
        trials.append(Trial(arguments, between, size, flags))
    run(c, trials)


def peer(c):
    """From this device to the next one."""
    row = c.row
    other = (c.device + 1) % 3
    trials = []
    contexts = None
    if row.has("dstContext"):
        contexts = {"srcContext": c.context,
                    "dstContext": c.made("cuDevicePrimaryCtxRetain", other)}
    for _ in range(3):
        arguments, size = extent_arguments(c)
        source = c.on_device()
        c.start(other)
        destination = c.on_device()
        c.start()
        if contexts:
            arguments |= {"dstDevice": destination, "srcDevice": source, **contexts}
        else:
            arguments |= {"dst": destination, "dstDevice": other, "src": source,
                          "srcDevice": c.device}
        trials.append(Trial(arguments, "P2P", size))
    run(c, trials)


# Copies whose shape is in a structure.

def box(c, three):
    """(width, height, depth) in bytes and rows."""
    return c.size(16) % 1000 // 16 * 16 + 992, 2 + c.n % 5, 2 + c.n % 3 if three else 1


def describe_side(c, params, which, end, unified):
    """Fills one side of a structure of the driver."""
    kind = {"H": HOST, "D": DEVICE, "A": ARRAY}[end.where]
    if unified and end.where != "A":
        kind = UNIFIED
    setattr(params, which + "MemoryType", kind)
    setattr(params, which + {HOST: "Host", ARRAY: "Array"}.get(kind, "Device"), end.address)
    if end.where != "A":
        setattr(params, which + "Pitch", PITCH)
        if hasattr(params, "Depth"):
            setattr(params, which + "Height", 16)


def driver_structure(c):
    three = "3D" in c.row.symbol
    v1 = c.row.type_of("pCopy").endswith("_v1 *")
    structure = {(False, False): s.Memcpy2D, (True, False): s.Memcpy3D, (False, True): s.Memcpy2DV1,
                 (True, True): s.Memcpy3DV1}[three, v1]
    trials = []
    # An address of 32 bits cannot be the host's.
    ways_to_go = [(way, False) for way in KINDS] + [(way, True)
                                                    for way in (("D2D",) if v1 else KINDS)]
    if not three:
        ways_to_go += [("H2A", False), ("A2H", False), ("D2A", False), ("A2A", False)]
    for way, unified in ways_to_go:
        for pinned in (False, True) if "H" in way else (False,):
            destination, origin = sides(c, way, pinned)
            width, height, depth = box(c, three)
            params = structure(WidthInBytes=width, Height=height)
            if three:
                params.Depth = depth
            describe_side(c, params, "dst", destination, unified)
            describe_side(c, params, "src", origin, unified)
            between, flags = meaning(destination, origin)
            trials.append(Trial({"pCopy": params}, between, width * height * depth, flags))
    run(c, trials)


def driver_peer_structure(c):
    other = (c.device + 1) % 3
    next_context = c.made("cuDevicePrimaryCtxRetain", other)
    trials = []
    for _ in range(3):
        width, height, depth = box(c, True)
        params = s.Memcpy3D(WidthInBytes=width, Height=height, Depth=depth, srcContext=c.context,
                            dstContext=next_context)
        describe_side(c, params, "src", Side(c.on_device(), "D"), False)
        c.start(other)
        describe_side(c, params, "dst", Side(c.on_device(), "D"), False)
        c.start()
        trials.append(Trial({"pCopy": params}, "P2P", width * height * depth))
    run(c, trials)


def runtime_structure(c):
    trials = []
    todo = [(way, KINDS.index(way)) for way in KINDS] + [(way, DEFAULT) for way in KINDS]
    for way, kind in todo:
        for pinned in (False, True) if "H" in way else (False,):
            destination, origin = sides(c, way, pinned)
            width, height, depth = box(c, True)
            params = s.Memcpy3DParms(srcPtr=s.PitchedPtr(origin.address, PITCH, width, 16),
                                     dstPtr=s.PitchedPtr(destination.address, PITCH, width, 16),
                                     extent=s.Extent(width, height, depth), kind=kind)
            between, flags = meaning(destination, origin)
            trials.append(Trial({"p": params}, between, width * height * depth, flags))
    run(c, trials)


def runtime_peer_structure(c):
    other = (c.device + 1) % 3
    trials = []
    for _ in range(3):
        width, height, depth = box(c, True)
        source = c.on_device()
        c.start(other)
        destination = c.on_device()
        c.start()
        params = s.Memcpy3DPeerParms(srcPtr=s.PitchedPtr(source, PITCH, width, 16),
                                     srcDevice=c.device,
                                     dstPtr=s.PitchedPtr(destination, PITCH, width, 16),
                                     dstDevice=other, extent=s.Extent(width, height, depth))
        trials.append(Trial({"p": params}, "P2P", width * height * depth))
    run(c, trials)


# Batches: one call counts once, with the bytes of all its copies.

def batch_trial(c, destinations, sources, meant):
    """A batch of as many copies as there are addresses."""
    count = len(destinations)
    sizes = [c.size(16) for _ in range(count)]
    array = ctypes.c_uint64 * count
    arguments = {"dsts": array(*destinations), "srcs": array(*sources), "sizes": array(*sizes),
                 "count": count, "attrs": s.BatchAttributes(srcAccessOrder=1), "attrsIdxs": array(),
                 "numAttrs": 1}
    if c.row.has("failIdx"):
        arguments["failIdx"] = word()
    return Trial(arguments, meant[0], sum(sizes), meant[1])


def batch(c):
    trials = []
    for way in ("H2D", "D2H", "D2D"):
        destination, source = sides(c, way, True)
        trials.append(batch_trial(c, [destination.address], [source.address],
                                  meaning(destination, source)))
    for count in (3, 7):
        # Each at the beginning of an allocation: addresses inside older ones are only known
        # some time later.
        destinations, sources = [[c.on_device() for _ in range(count)] for _ in range(2)]
        trials.append(batch_trial(c, destinations, sources, ("D2D", ())))
    run(c, trials, c.stream())  # a batch refuses the default stream


def batch_of_boxes(c):
    trials = []
    for count in (1, 2, 5):
        boxes = [box(c, True) for _ in range(count)]
        operations = (s.BatchOp * count)()
        for operation, (width, height, depth) in zip(operations, boxes):
            operation.src = s.Operand(1, c.on_device(), PITCH, 16, s.Location(1, c.device))
            operation.dst = s.Operand(1, c.on_device(), PITCH, 16, s.Location(1, c.device))
            operation.extent = s.Extent(width, height, depth)
            operation.srcAccessOrder = 1
        arguments = {"numOps": count, "opList": operations, "flags": 0}
        if c.row.has("failIdx"):
            arguments["failIdx"] = word()
        trials.append(Trial(arguments, "D2D", sum(w * h * d for w, h, d in boxes)))
    run(c, trials, c.stream())


def copy(c):
    """Any copy: by what its arguments are."""
    row = c.row
    c.context = c.start()
    if row.has("sizes"):
        batch(c)
    elif row.has("opList"):
        batch_of_boxes(c)
    elif row.has("p"):
        (runtime_peer_structure if "Peer" in row.symbol else runtime_structure)(c)
    elif row.has("pCopy"):
        (driver_peer_structure if "Peer" in row.symbol else driver_structure)(c)
    elif "Peer" in row.symbol:
        peer(c)
    elif row.has("ByteCount", "count", "width"):
        linear(c)
    else:
        raise NoRule(row)


# Sets.

def set_arguments(c):
    """(arguments, bytes)"""
    row = c.row
    unit = int((re.search(r"D(?:2D)?(8|16|32)", row.symbol) or [0, "8"])[1]) // 8
    value = next(n for n in ("uc", "us", "ui", "value") if row.has(n))
    arguments = {value: 0x7f}
    if row.has("extent"):
        width, height, depth = box(c, True)
        arguments |= {"pitchedDevPtr": s.PitchedPtr(c.on_device(), PITCH, width, 16),
                      "extent": s.Extent(width, height, depth)}
        return arguments, width * height * depth
    address = "dstDevice" if row.has("dstDevice") else "devPtr"
    arguments[address] = c.on_device()
    for name in ("N", "count"):
        if row.has(name):
            elements = c.size(16) // 16
            return arguments | {name: elements}, elements * unit
    width, height = c.size(16) // 32, 2 + c.n % 7
    names = ("dstPitch", "Width", "Height") if row.has("Width") else ("pitch", "width", "height")
    return arguments | dict(zip(names, (65536, width, height))), width * height * unit


def fill(c):
    """Any set."""
    c.start()
    trials = []
    for _ in range(3):
        arguments, size = set_arguments(c)
        trials.append(Trial(arguments, "set", size))
    run(c, trials)
