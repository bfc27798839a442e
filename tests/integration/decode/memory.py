# SPDX-License-Identifier: BSD-2-Clause
"""How allocations and frees are driven: what lives at the end tells address, size and kind."""
import ctypes

from decode import arrays, pools, virtual
from decode.launches import begin_capture, captured_stream, end_capture


def kind_of(symbol):
    """What kind of memory a function deals with, by its name."""
    for part, kind in (("Managed", "managed"), ("Pool", "pool"), ("Async", "pool"),
                       ("Host", "host")):
        if part in symbol:
            return kind
    return "device"


LISTED = ("device", "managed", "pool", "array")


def lives(c, address, size, kind):
    """In the list of what lives, where host memory is not, and in the sums."""
    listed = c.expected.setdefault("live", {})
    if kind in LISTED:
        listed[f"{address:#x}"] = [size, kind]
    sums = c.expected.setdefault("memory", {}).setdefault(kind, [0, 0])
    sums[0] += 1
    sums[1] += size


def free(c, kind, address):
    """By a function that is not tested here."""
    if kind == "pool":
        c.either("cuMemFreeAsync", "cudaFreeAsync", address, 0)
    elif kind == "host":
        c.either("cuMemFreeHost", "cudaFreeHost", address)
    else:
        c.either("cuMemFree_v2", "cudaFree", address)


def out_of(c, name):
    """Something for a result of the argument's type, 32 or 64 bits, with garbage beyond it."""
    if c.row.type_of(name) in ("CUdeviceptr_v1 *", "unsigned int *"):
        return (ctypes.c_uint32 * 2)(0, 0xbad0bad0)
    return (ctypes.c_uint64 * 2)(0, 0xbad0bad0)


def alloc_pitch(c, number):
    """(address, bytes)"""
    row = c.row
    out, pitch = out_of(c, row.names[0]), out_of(c, row.names[1])
    width, height = 1000 + c.n + 64 * number, 5 + number
    arguments = dict(zip(row.names, (out, pitch, width, height)))
    if row.has("ElementSizeBytes"):
        arguments["ElementSizeBytes"] = 16
    c.test(**arguments)
    return out[0], pitch[0] * height


def alloc_linear(c, number, pool, stream):
    row = c.row
    names = iter(row.names)
    out = out_of(c, next(names))
    size = c.size(1) + 8 * number
    arguments = {row.names[0]: out, next(n for n in row.names if n in ("bytesize", "size")): size}
    for name in row.names:
        if name.lower() == "flags":
            arguments[name] = 1
        elif name in ("pool", "memPool"):
            arguments[name] = pool
        elif name in ("hStream", "stream"):
            arguments[name] = stream
    c.test(**arguments)
    return out[0], size


def allocate_other(c, kind, make):
    """Three of which the second is ended: its handle must be known."""
    if "Pool" in c.row.symbol:
        pools.import_pointer(c)
        return
    mipmapped = "Mipmapped" in c.row.symbol
    for number in range(3):
        handle, size = make(c, number)
        c.tally(kind, size)
        if number == 1:
            c.either(*arrays.enders(kind, mipmapped), handle)
        else:
            lives(c, handle, size, kind)
    c.expect(freed={kind: [1, 0]})


def allocate(c):
    """Three allocations, of which the second is freed: its address must be known."""
    c.start()
    if c.row.symbol in virtual.RULES:
        virtual.RULES[c.row.symbol](c)
        return
    other = arrays.rule_of(c.row)
    if other:
        allocate_other(c, *other)
        return
    kind = kind_of(c.row.symbol)
    pool = pools.new(c) if c.row.has("pool", "memPool") else None
    if pool:
        pools.keep_all(c, pool)
    stream = c.stream() if c.row.has("hStream", "stream") else None
    sizes = []
    for number in range(3):
        if "Pitch" in c.row.symbol:
            address, size = alloc_pitch(c, number)
        else:
            address, size = alloc_linear(c, number, pool, stream)
        c.tally(kind, size)
        sizes.append(size)
        if number == 1:
            free(c, kind, address)
        else:
            lives(c, address, size, kind)
    c.expect(freed={kind: [1, 0]})
    if stream:
        passed, stream = captured_stream(c)
        begin_capture(c, stream)
        c.tally(kind, alloc_linear(c, 3, pool, passed)[1], "captured")
        end_capture(c, stream)
    if pool:
        pools.expect_pool(c, pool, sizes[0] + sizes[2], sizes[0] + max(sizes[1:]))


def make(c, kind, size):
    """Memory of a kind by a function that is not tested here."""
    if kind == "pool":
        return c.makes("cuMemAllocAsync", "cudaMallocAsync", size, 0)
    if kind == "host":
        return c.pinned(size)
    return c.on_device(size)


def release(c):
    """One of three allocations is freed."""
    c.start()
    row = c.row
    if row.symbol in virtual.RULES:
        virtual.RULES[row.symbol](c)
        return
    other = arrays.end_of(row)
    if other:
        kind, maker = other
        made = [maker(c, number) for number in range(3)]
    else:
        kind = kind_of(row.symbol)
        made = [(make(c, kind, size), size) for size in (c.size(), c.size(), c.size())]
    arguments = {row.names[0]: made[1][0]}
    for name in row.names[1:]:
        arguments[name] = 0 if name in ("hStream", "stream") else None
    c.test(**arguments)
    c.tally(kind, made[1][1])
    lives(c, *made[0], kind)
    lives(c, *made[2], kind)
    c.expect(freed={kind: [1, 0]})
    if row.has("hStream", "stream"):
        passed, stream = captured_stream(c)
        begin_capture(c, stream)
        address = c.makes("cuMemAllocAsync", "cudaMallocAsync", c.size(), stream)
        c.test(**dict(zip(row.names, (address, passed))))
        c.tally(kind, 0, "captured")
        end_capture(c, stream)
