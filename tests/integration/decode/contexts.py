# SPDX-License-Identifier: BSD-2-Clause
"""How changes of the current context are driven: the allocations after each show the
thread's device.

Every case has the primary contexts of all devices at hand, retained by functions not tested here.
"""
import ctypes

from decode import structures as s
from decode.case import DEVICES, NoRule, word


def allocated_on(c, device):
    """An allocation, and that it must be told to be on that device."""
    symbol = "cudaMalloc" if c.runtime else "cuMemAlloc_v2"
    size = c.size()
    address = c.on_device(size)
    before = c.on.setdefault(device, [0, 0])
    before[0] += 1
    before[1] += size
    c.expected["others"] = {symbol: [{"kind": "device", "flags": [], "device": on, "calls": calls,
                                      "bytes": total} for on, (calls, total) in c.on.items()]}
    return address, size


def begin(c):
    """The primary contexts of all devices; the case's own is current."""
    c.on = {}
    c.do("cuInit", 0)
    c.primary = [c.made("cuDevicePrimaryCtxRetain", device) for device in range(DEVICES)]
    c.do("cuCtxSetCurrent", c.primary[c.device])
    c.next = (c.device + 1) % DEVICES


def set_current(c):
    begin(c)
    c.tally("-", device=None)  # the call in begin()
    c.repeated = 0
    c.test(ctx=c.primary[c.next])
    c.tally("-")
    allocated_on(c, c.next)
    c.test(ctx=c.primary[c.device])
    c.tally("-", device=c.next)
    allocated_on(c, c.device)


def push(c):
    begin(c)
    c.test(ctx=c.primary[c.next])
    c.tally("-")
    allocated_on(c, c.next)
    c.do("cuCtxPopCurrent_v2", word())
    allocated_on(c, c.device)


def pop(c):
    begin(c)
    c.do("cuCtxPushCurrent_v2", c.primary[c.next])
    allocated_on(c, c.next)
    c.test(pctx=word())
    c.tally("-", device=c.next)
    allocated_on(c, c.device)


def create(c):
    """It is current at once; and known again when it is made current later."""
    begin(c)
    out = word()
    values = {"pctx": out, "flags": 0, "dev": c.next, "paramsArray": None, "numParams": 0,
              "ctxCreateParams": s.ContextParams()}
    c.test(**{name: values[name] for name in c.row.names})
    c.tally("-", 0, "object")
    allocated_on(c, c.next)
    c.do("cuCtxPopCurrent_v2", word())
    allocated_on(c, c.device)
    c.do("cuCtxSetCurrent", out.value)
    allocated_on(c, c.next)


def retain(c):
    c.on = {}
    c.do("cuInit", 0)
    for device in (c.device, (c.device + 1) % DEVICES):
        before = c.device if c.on else None
        out = word()
        c.test(pctx=out, dev=device)
        c.tally("-", 0, "object", device=before)
        c.do("cuCtxSetCurrent", out.value)
        allocated_on(c, device)


def end(c):
    """Memory in a context goes with it, and what is elsewhere stays."""
    begin(c)
    stays = allocated_on(c, c.device)
    if c.row.has("hCtx"):
        raise NoRule(c.row)
    context = c.made("cuCtxCreate_v2", 0, c.next)
    allocated_on(c, c.next)
    c.do("cuCtxPopCurrent_v2", word())
    c.test(ctx=context)
    c.tally("-", 0, "object")
    c.expect(memory={"device": [1, stays[1]]})


def attach(c):
    """One reference more, so that the next detaching ends nothing."""
    begin(c)
    context = c.made("cuCtxCreate_v2", 0, c.next)
    c.test(pctx=word(), flags=0)
    c.tally("-", device=c.next)
    first = allocated_on(c, c.next)
    c.do("cuCtxDetach", context)
    second = allocated_on(c, c.next)
    c.expect(memory={"device": [2, first[1] + second[1]]})


def end_primary(c):
    """Reset and the last release end what lives in a device's primary context."""
    begin(c)
    stays = allocated_on(c, c.device)
    c.do("cuCtxSetCurrent", c.primary[c.next])
    allocated_on(c, c.next)
    c.do("cuCtxSetCurrent", c.primary[c.device])
    c.test(dev=c.next)
    c.tally("-", 0, *(["object"] if "Release" in c.row.symbol else []))
    c.expect(memory={"device": [1, stays[1]]})


def reset_runtime(c):
    """The runtime's reset is of the thread's device."""
    c.on = {}
    c.start((c.device + 1) % DEVICES)
    stays = allocated_on(c, (c.device + 1) % DEVICES)
    c.start()
    allocated_on(c, c.device)
    c.test()
    c.tally("-")
    c.expect(memory={"device": [1, stays[1]]})


def green(c, device):
    """What a green context on the device is made of."""
    resource = (ctypes.c_ubyte * 256)()
    c.do("cuDeviceGetDevResource", device, resource, 1)
    description = c.made("cuDevResourceGenerateDesc", resource, 1)
    return description


def green_of(c, device):
    """A green context by a function that is not tested here."""
    return c.made("cuGreenCtxCreate", green(c, device), device, 1)


def make_green(c):
    begin(c)
    out = word()
    c.next = 2 if c.device != 2 else 0  # not 1, which flags must be
    c.test(phCtx=out, desc=green(c, c.next), dev=c.next, flags=1)
    c.tally("-", 0, "object")
    c.do("cuCtxSetCurrent", c.made("cuCtxFromGreenCtx", out.value))
    allocated_on(c, c.next)


def derive(c):
    begin(c)
    made = green_of(c, c.next)
    out = word()
    c.test(pContext=out, hCtx=made)
    c.tally("-")
    c.do("cuCtxSetCurrent", out.value)
    allocated_on(c, c.next)


def end_green(c):
    begin(c)
    stays = allocated_on(c, c.device)
    made = green_of(c, c.next)
    context = c.made("cuCtxFromGreenCtx", made)
    c.do("cuCtxSetCurrent", context)
    c.do("cuCtxSetCurrent", c.primary[c.device])
    c.test(hCtx=made)
    c.tally("-", 0, "object")
    c.expect(memory={"device": [1, stays[1]]})


def change(c):
    """By the function's name."""
    symbol = c.row.symbol
    for part, rule in (("GreenCtxCreate", make_green), ("FromGreenCtx", derive),
                       ("GreenCtxDestroy", end_green), ("SetCurrent", set_current), ("Push", push),
                       ("Pop", pop), ("CtxCreate", create), ("Retain", retain), ("CtxDestroy", end),
                       ("CtxDetach", end), ("CtxAttach", attach), ("PrimaryCtx", end_primary),
                       ("cudaDeviceReset", reset_runtime), ("cudaThreadExit", reset_runtime)):
        if part in symbol:
            rule(c)
            return
    raise NoRule(c.row)


def device(c):
    """What tells of a device."""
    if c.row.symbol == "cudaSetDevice":
        c.on = {}
        for number in (c.device, (c.device + 1) % DEVICES):
            before = c.device if c.on else None
            c.test(device=number)
            c.tally("-", device=before)
            allocated_on(c, number)
        return
    if not c.row.has("uuid"):
        raise NoRule(c.row)
    begin(c)
    out = (ctypes.c_ubyte * 16)()  # what becomes of it is seen in test_attribution.py
    c.test(uuid=out, dev=c.next)
    c.tally("-")
