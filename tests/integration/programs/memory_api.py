# SPDX-License-Identifier: BSD-2-Clause
"""Structures and short forms of the memory calls, for scripts (lib/script.py):
from memory_api import *."""
import ctypes
import struct

from cuda import driver, made, need, out, ref

GRAIN = 2 << 20  # of virtual memory management
FLOAT, BYTE, HALF = 0x20, 0x01, 0x10  # CUarray_format
LAYERED, CUBEMAP = 0x01, 0x04
THRESHOLD, RESERVED, USED = 4, 5, 7  # CUmemPool_attribute
ALL_BYTES = (1 << 64) - 1


def packed(form, *values):
    """A structure in memory, to be passed by its address."""
    return ctypes.create_string_buffer(struct.pack(form, *values))


def array_descriptor(width, height, form, channels):
    return packed("=QQII", width, height, form, channels)


def array3d_descriptor(width, height, depth, form, channels, flags=0):
    return packed("=QQQIIII", width, height, depth, form, channels, flags, 0)


class Extent(ctypes.Structure):
    _fields_ = [("width", ctypes.c_size_t), ("height", ctypes.c_size_t), ("depth", ctypes.c_size_t)]


class IpcHandle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 64)]


def channels(*bits, kind=1):
    """cudaChannelFormatDesc; kind 1 is unsigned."""
    return packed("=iiiiI", *(list(bits) + [0] * 4)[:4], kind)


def physical_properties(device, where=1):
    """CUmemAllocationProp of pinned memory that can be shared by a file descriptor."""
    return packed("=IIII16x", 1, 1, where, device)


def pool_properties(device):
    return packed("=IIII72x", 1, 1, 1, device)


def create(size, device=0):
    return made(driver.cuMemCreate, size, physical_properties(device), 0)


def reserve(size):
    return made(driver.cuMemAddressReserve, size, 0, 0, 0)


def new_pool(device=0):
    return made(driver.cuMemPoolCreate, pool_properties(device))


def threshold(pool, size):
    need(driver.cuMemPoolSetAttribute(pool, THRESHOLD, ref(ctypes.c_uint64(size))))


def attribute(pool, which):
    value = out()
    need(driver.cuMemPoolGetAttribute(pool, which, ref(value)))
    return value.value


def wait():
    need(driver.cuCtxSynchronize())


def exported(address):
    """An IPC handle, to be passed by value."""
    handle = IpcHandle()
    need(driver.cuIpcGetMemHandle(ref(handle), address))
    return handle


__all__ = [name for name in globals() if not name.startswith("_")]
