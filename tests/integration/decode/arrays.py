# SPDX-License-Identifier: BSD-2-Clause
"""Memory that is more than bytes at an address: arrays, 3D memory, registered and imported memory.

Each rule returns (kind, a function that makes one by the row's function, as (handle, bytes)).
"""
from decode import structures as s
from decode.case import word

# CUarray_format -> bytes
FORMATS = {0x01: 1, 0x02: 2, 0x03: 4, 0x20: 4}


def levels_sum(width, height, depth, element, levels):
    """Bytes of a mipmapped array: each level has half of the one before, and at least one."""
    total = 0
    for level in range(levels):
        total += (
            max(width >> level, 1) * max(height >> level, 1) * max(depth >> level, 1)) * element
    return total


def array_shape(c, number):
    """(width, height, depth, format, channels): another for each row and array."""
    return (64 + c.n % 50 + 3 * number, 8 + c.n % 9, 2 + c.n % 3, list(FORMATS)[(c.n + number) % 4],
            (1, 2, 4)[c.n % 3])


def driver_descriptor(c, number):
    """(descriptor, extent, bytes of an element) for the row's type of descriptor."""
    width, height, depth, form, channels = array_shape(c, number)
    three = "ARRAY3D" in c.row.arguments[1].type
    v1 = "_v1" in c.row.arguments[1].type
    structure = {(False, False): s.ArrayDescriptor, (True, False): s.Array3DDescriptor,
                 (False, True): s.ArrayDescriptorV1, (True, True): s.Array3DDescriptorV1}[three, v1]
    described = structure(Width=width, Height=height, Format=form, NumChannels=channels)
    if three:
        described.Depth = depth
    return described, (width, height, depth if three else 1), FORMATS[form] * channels


def driver_array(c, number):
    described, extent, element = driver_descriptor(c, number)
    out = word()
    levels = 3 if c.row.has("numMipmapLevels") else None
    values = (out, described) if levels is None else (out, described, levels)
    c.test(**dict(zip(c.row.names, values)))
    return out.value, levels_sum(*extent, element, levels or 1)


def runtime_array(c, number):
    width, height, depth, form, channels = array_shape(c, number)
    element = FORMATS[form]
    bits = [8 * element if channel < channels else 0 for channel in range(4)]
    out = word()
    values = {c.row.names[0]: out, "desc": s.ChannelFormat(*bits, 1), "flags": 0}
    levels = 1
    if c.row.has("extent"):
        values["extent"] = s.Extent(width, height, depth)
    else:
        values |= {"width": width, "height": height}
        depth = 1
    if c.row.has("numLevels"):
        levels = values["numLevels"] = 3
    c.test(**values)
    return out.value, levels_sum(width, height, depth, element * channels, levels)


def pitched_3d(c, number):
    """cudaMalloc3D"""
    out = s.PitchedPtr()
    width, height, depth = 1000 + c.n + number, 5 + number, 3
    c.test(pitchedDevPtr=out, extent=s.Extent(width, height, depth))
    return out.ptr, out.pitch * height * depth


def register(c, number):
    memory = c.pageable()
    size = c.size() + number
    c.test(**dict(zip(c.row.names, (memory, size, 0))))
    return memory, size


def import_memory(c, number):
    """Another process's memory: no bytes of our own."""
    handle = s.IpcHandle()
    c.either("cuIpcGetMemHandle", "cudaIpcGetMemHandle", handle, c.on_device())
    del number
    out = word()
    c.test(**dict(zip(c.row.names, (out, handle, 1))))
    return out.value, 0


def rule_of(row):
    """(kind, maker) for functions that make such memory, or None."""
    symbol = row.symbol
    if "rray" in symbol:
        return "array", (runtime_array if row.layer == "runtime" else driver_array)
    if symbol == "cudaMalloc3D":
        return "device", pitched_3d
    if "Register" in symbol:
        return "registered", register
    if "IpcOpenMem" in symbol or "ImportPointer" in symbol:
        return "imported", import_memory
    return None


# What ends it, and what makes it when the end is tested.

def array(c, number):
    """By functions that are not tested here: (handle, bytes)."""
    width, height = 64 + c.n % 50 + 3 * number, 8
    if c.runtime:
        return c.made("cudaMallocArray", s.ChannelFormat(8, 8, 0, 0, 1), width, height,
                      0), 2 * width * height
    return c.made("cuArrayCreate_v2", s.ArrayDescriptor(width, height, 1, 2)), 2 * width * height


def mipmapped(c, number):
    width = 64 + c.n % 50 + 3 * number
    size = levels_sum(width, 8, 0, 2, 3)
    if c.runtime:
        return c.made("cudaMallocMipmappedArray", s.ChannelFormat(8, 8, 0, 0, 1),
                      s.Extent(width, 8, 0), 3, 0), size
    return c.made("cuMipmappedArrayCreate", s.Array3DDescriptor(width, 8, 0, 1, 2, 0), 3), size


def registered(c, number):
    memory = c.pageable()
    size = c.size() + number
    c.either("cuMemHostRegister_v2", "cudaHostRegister", memory, size, 0)
    return memory, size


def imported(c, number):
    handle = s.IpcHandle()
    c.either("cuIpcGetMemHandle", "cudaIpcGetMemHandle", handle, c.on_device())
    del number
    return c.makes("cuIpcOpenMemHandle_v2", "cudaIpcOpenMemHandle", handle, 1), 0


def end_of(row):
    """(kind, maker) for functions that end such memory, or None."""
    symbol = row.symbol
    for part, rule in (("Mipmapped", ("array", mipmapped)), ("rray", ("array", array)),
                       ("Unregister", ("registered", registered)),
                       ("IpcClose", ("imported", imported))):
        if part in symbol:
            return rule
    return None


def enders(kind, handle_is_mipmapped):
    """The functions of driver and runtime that end one of a kind."""
    if kind == "array":
        return (("cuMipmappedArrayDestroy", "cudaFreeMipmappedArray") if handle_is_mipmapped else
                ("cuArrayDestroy", "cudaFreeArray"))
    return {"registered": ("cuMemHostUnregister", "cudaHostUnregister"),
            "imported": ("cuIpcCloseMemHandle", "cudaIpcCloseMemHandle"),
            "device": ("cuMemFree_v2", "cudaFree")}[kind]
