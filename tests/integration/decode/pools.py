# SPDX-License-Identifier: BSD-2-Clause
"""How memory pools are driven: what is reserved and used in which pool."""
import ctypes

from decode import structures as s
from decode.case import NoRule, word

STEP = 32 << 20
LARGE = 16 * STEP
THRESHOLD, RESERVED, USED = 4, 5, 7  # CUmemPool_attribute


def new(c):
    return c.makes("cuMemPoolCreate", "cudaMemPoolCreate",
                   s.PoolProps(allocType=1, location=s.Location(1, c.device)))


def keep_all(c, pool):
    """Nothing that was reserved is given back by a wait."""
    c.either("cuMemPoolSetAttribute", "cudaMemPoolSetAttribute", pool, THRESHOLD,
             word((1 << 64) - 1))


def take(c, pool, size):
    return c.makes("cuMemAllocFromPoolAsync", "cudaMallocFromPoolAsync", size, pool, 0)


def give(c, address):
    c.either("cuMemFreeAsync", "cudaFreeAsync", address, 0)


def expect_pool(c, pool, used, reserved):
    """Pools reserve in steps."""
    c.expected.setdefault("pools", {})[f"{pool:#x}"] = [used, -(-reserved // STEP) * STEP]


def trim(c):
    pool, other = new(c), new(c)
    for each in (pool, other):
        keep_all(c, each)
        give(c, take(c, each, LARGE))
        take(c, each, 1 << 20)
    kept = c.size() + STEP * (2 + c.n % 7)
    c.test(**dict(zip(c.row.names, (pool, kept))))
    c.tally("-")
    expect_pool(c, pool, 1 << 20, kept)
    expect_pool(c, other, 1 << 20, LARGE)


def set_attribute(c):
    pool, other = new(c), new(c)
    threshold = c.size() + STEP * (2 + c.n % 7)
    c.test(**dict(zip(c.row.names, (pool, THRESHOLD, word(threshold)))))
    c.tally("-")
    for each in (pool, other):
        give(c, take(c, each, LARGE))
        take(c, each, 1 << 20)
    c.wait(1)
    expect_pool(c, pool, 1 << 20, threshold)
    expect_pool(c, other, 1 << 20, 1 << 20)


def get_attribute(c):
    pool = new(c)
    keep_all(c, pool)
    give(c, take(c, pool, LARGE))
    take(c, pool, 1 << 20)
    for attribute, answer in ((RESERVED, LARGE), (USED, 1 << 20)):
        out = word()
        c.test(**dict(zip(c.row.names, (pool, attribute, out))))
        c.tally("-")
        assert out.value == answer, (attribute, out.value)
    expect_pool(c, pool, 1 << 20, LARGE)


def location(c):
    """What names the case's device to the row's function: (argument, value)."""
    for name in ("dev", "device"):
        if c.row.has(name):
            return {name: c.device}
    return {"location": s.Location(1, c.device), "type": 1}


def current(c):
    """What is allocated from no named pool comes from the one that was made current."""
    pool = new(c)
    c.test(**location(c), **{next(n for n in c.row.names if n in ("pool", "memPool")): pool})
    c.tally("-")
    size = c.size()
    c.makes("cuMemAllocAsync", "cudaMallocAsync", size, 0)
    expect_pool(c, pool, size, size)


def told(c):
    """The pool of the device has a handle now; what was taken from it before is in it."""
    size = c.size()
    if "Default" not in c.row.symbol:
        c.either("cuDeviceSetMemPool", "cudaDeviceSetMemPool", c.device, new(c))
    c.makes("cuMemAllocAsync", "cudaMallocAsync", size, 0)
    out = word()
    name = next(n for n in c.row.names if n in ("pool", "memPool", "pool_out"))
    c.test(**location(c), **{name: out})
    c.tally("-")
    expect_pool(c, out.value, size, size)


def change(c):
    c.start()
    symbol = c.row.symbol
    for part, rule in (("TrimTo", trim), ("SetAttribute", set_attribute),
                       ("GetAttribute", get_attribute), ("SetMemPool", current),
                       ("GetMemPool", told), ("GetDefaultMemPool", told)):
        if part in symbol:
            rule(c)
            return
    raise NoRule(c.row)


def shared(c, out):
    """A pool that can be shared, exported to *out."""
    pool = c.makes("cuMemPoolCreate", "cudaMemPoolCreate",
                   s.PoolProps(allocType=1, handleTypes=1, location=s.Location(1, c.device)))
    c.either("cuMemPoolExportToShareableHandle", "cudaMemPoolExportToShareableHandle", out, pool, 1,
             0)
    return pool


def imported(c):
    """A pool of this very process, opened again."""
    file = word()
    pool = shared(c, file)
    return pool, c.makes("cuMemPoolImportFromShareableHandle",
                         "cudaMemPoolImportFromShareableHandle", file.value, 1, 0)


def import_pointer(c):
    pool, other = imported(c)
    kept = 0
    for number in range(2):
        data = (ctypes.c_uint64 * 8)()
        c.either("cuMemPoolExportPointer", "cudaMemPoolExportPointer", data,
                 take(c, pool, c.size()))
        out = word()
        c.test(**dict(zip(c.row.names, (out, other, data))))
        c.tally("imported")
        if number:
            give(c, out.value)
        else:
            kept += 1
    c.expect(memory={"imported": [kept, 0]}, freed={"imported": [1, 0]})
