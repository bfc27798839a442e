# SPDX-License-Identifier: BSD-2-Clause
"""How virtual memory management is driven: physical memory lives while a handle or a
mapping refers to it."""
from decode import structures as s
from decode.case import DEVICES, NoRule, word

GRAIN = 2 << 20


def size_of(c, number=0):
    return GRAIN * (1 + (c.n + number) % 5)


def memory_device(c):
    """Where the memory is: the structure says so, not the thread's context."""
    return (c.device + 1) % DEVICES


def properties(c):
    return s.AllocationProp(type=1, location=s.Location(1, memory_device(c)),
                            requestedHandleTypes=1)


def physical(c, size):
    return c.made("cuMemCreate", size, properties(c), 0)


def reserve(c, size):
    return c.made("cuMemAddressReserve", size, 0, 0, 0)


def mapped(c, size):
    """(address, handle)"""
    address, handle = reserve(c, size), physical(c, size)
    c.do("cuMemMap", address, size, 0, handle, 0)
    return address, handle


def create(c):
    made = []
    for number in range(3):
        out, size = word(), size_of(c, number)
        c.test(handle=out, size=size, prop=properties(c), flags=0)
        made.append((out.value, size))
        c.tally("physical", size, device=memory_device(c))
    c.do("cuMemRelease", made[1][0])
    c.expect(memory={"physical": [2, made[0][1] + made[2][1]]})


def release(c):
    sizes = [size_of(c, number) for number in range(3)]
    handles = [physical(c, size) for size in sizes]
    c.test(handle=handles[1])
    c.tally("physical", sizes[1], device=memory_device(c))
    c.expect(memory={"physical": [2, sizes[0] + sizes[2]]})


def retain(c):
    """Two mapped; both are retained, released once and unmapped, and one released again."""
    kept = []
    for number in range(2):
        size = size_of(c, number)
        address, handle = mapped(c, size)
        out = word()
        c.test(handle=out, addr=address)
        c.tally("physical", 0, "reference", device=memory_device(c))
        c.do("cuMemRelease", handle)
        c.do("cuMemUnmap", address, size)
        c.do("cuMemAddressFree", address, size)
        if number:
            c.do("cuMemRelease", out.value)
        else:
            kept.append(size)
    c.expect(memory={"physical": [1, kept[0]]})


def map_by_row(c):
    """Two ranges of one size, of which one is unmapped: it must be known by its address."""
    size = size_of(c)
    address = reserve(c, 4 * GRAIN + 2 * size)
    for place in (address + GRAIN, address + 2 * GRAIN + size):
        handle = physical(c, size)
        c.test(ptr=place, size=size, offset=0, handle=handle, flags=0)
        c.tally("mapped", size, device=memory_device(c))
        c.do("cuMemRelease", handle)
    c.do("cuMemUnmap", address + GRAIN, size)
    c.expect(memory={"physical": [1, size], "mapped": [1, size],
                     "reserved": [1, 4 * GRAIN + 2 * size]})


def unmap_by_row(c):
    sizes = [size_of(c)] * 2
    ranges = [mapped(c, size) for size in sizes]
    c.test(ptr=ranges[0][0], size=sizes[0])
    c.tally("mapped")
    c.tally("mapped", sizes[0], "ended", device=memory_device(c))
    c.do("cuMemRelease", ranges[0][1])
    c.expect(memory={"physical": [1, sizes[1]], "mapped": [1, sizes[1]],
                     "reserved": [2, sum(sizes)]})


def reserve_by_row(c):
    made = []
    for number in range(3):
        out, size = word(), size_of(c, number)
        c.test(ptr=out, size=size, alignment=0, addr=0, flags=0)
        c.tally("reserved", size, device=None)
        made.append((out.value, size))
    c.do("cuMemAddressFree", *made[1])
    c.expect(memory={"reserved": [2, made[0][1] + made[2][1]]})


def unreserve_by_row(c):
    sizes = [size_of(c, number) for number in range(3)]
    ranges = [reserve(c, size) for size in sizes]
    c.test(ptr=ranges[1], size=sizes[1])
    c.tally("reserved", sizes[1], device=None)
    c.expect(memory={"reserved": [2, sizes[0] + sizes[2]]})


def import_by_row(c):
    """A handle of this very process gains a reference."""
    size = size_of(c)
    handle = physical(c, size)
    shared = word()
    c.do("cuMemExportToShareableHandle", shared, handle, 1, 0)
    out = word()
    c.test(handle=out, osHandle=shared.value, shHandleType=1)
    c.tally("physical", 0, "reference", device=memory_device(c))
    c.do("cuMemRelease", handle)
    c.expect(memory={"physical": [1, size]})


RULES = {"cuMemCreate": create, "cuMemRelease": release, "cuMemRetainAllocationHandle": retain,
         "cuMemMap": map_by_row, "cuMemUnmap": unmap_by_row, "cuMemAddressReserve": reserve_by_row,
         "cuMemAddressFree": unreserve_by_row, "cuMemImportFromShareableHandle": import_by_row}


def change(c):
    rule = RULES.get(c.row.symbol)
    if not rule:
        raise NoRule(c.row)
    c.start()
    rule(c)
