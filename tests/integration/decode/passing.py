# SPDX-License-Identifier: BSD-2-Clause
"""Calls a CUDA function with C types from the table's TYPE column;
libffi puts the arguments in place.

The upper half of every argument of 32 bits or less is filled with garbage,
as compilers may leave it.
"""
import ctypes

from decode import structures

GARBAGE = 0xbad0bad0 << 32

BY_VALUE = {
    "dim3": structures.Dim3,
    "struct cudaExtent": structures.Extent,
    "struct cudaPitchedPtr": structures.PitchedPtr,
    "struct cudaMemLocation": structures.Location,
    "CUmemLocation": structures.Location,
    "CUipcMemHandle": structures.IpcHandle,
    "CUipcEventHandle": structures.IpcHandle,
    "cudaIpcMemHandle_t": structures.IpcHandle,
    "cudaIpcEventHandle_t": structures.IpcHandle,
}
WORDS = {"size_t", "unsigned long long", "cuuint64_t", "CUdeviceptr",
         "CUmemGenericAllocationHandle", "CUgraphConditionalHandle"}
HANDLES = {"CUarray", "CUcontext", "CUdevResourceDesc", "CUevent", "CUfunction",
           "CUgraph", "CUgraphExec", "CUgraphNode", "CUgreenCtx", "CUhostFn", "CUkernel",
           "CUlibrary", "CUmemoryPool", "CUmipmappedArray", "CUmodule", "CUstream",
           "CUstreamCallback", "CUuserObject", "CUexternalMemory", "CUexternalSemaphore",
           "CUlinkState", "CUtexref", "CUsurfref", "CUgraphicsResource"}
HALVES = {"int", "unsigned int", "unsigned short", "unsigned char", "cuuint32_t",
          "CUdevice", "CUdeviceptr_v1", "cudaLaunchAttributeID", "CUarray_format",
          "CUdevResourceType", "CUdevice_P2PAttribute", "CUdevice_attribute", "CUfunc_cache",
          "CUfunction_attribute", "CUgraphMem_attribute", "CUjitInputType", "CUkernelNodeAttrID",
          "CUlimit", "CUmemAllocationGranularity_flags", "CUmemAllocationHandleType",
          "CUmemAllocationType", "CUmemPool_attribute", "CUmemRangeHandleType", "CUmem_advise",
          "CUmem_range_attribute", "CUmulticastGranularity_flags", "CUpointer_attribute",
          "CUsharedconfig", "CUstreamAttrID", "CUstreamCaptureMode"}


def pointer(value):
    """A pointer argument: an address, None, or the ctypes object or bytes to point to."""
    if value is None or isinstance(value, int):
        return ctypes.c_void_p(value)
    if isinstance(value, bytes):
        return ctypes.c_char_p(value)
    if isinstance(value, (ctypes.Structure, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_int)):
        return ctypes.byref(value)
    return value  # arrays, function pointers


def argument(kind, value):
    """What ctypes shall pass for `value` as an argument of C type `kind`."""
    if kind in BY_VALUE:
        assert isinstance(value, BY_VALUE[kind]), (kind, value)
        return value
    if kind.endswith("*"):
        return pointer(value)
    if kind in HALVES or kind.startswith("enum "):
        return ctypes.c_uint64(GARBAGE | value & 0xffffffff)
    if kind in WORDS:
        return ctypes.c_uint64(value)
    if kind in HANDLES or (kind.startswith("cuda") and kind.endswith(("_t", "Callback"))):
        return pointer(value)
    raise TypeError(f"how is a {kind} passed?")


def nothing(kind):
    """A zero of the type."""
    return BY_VALUE[kind]() if kind in BY_VALUE else 0


class Library:
    """A CUDA library with the table's rows for its version."""

    def __init__(self, path, rows):
        self.handle = ctypes.CDLL(path)
        self._rows = rows

    def row(self, symbol):
        return self._rows[symbol]

    def exports(self, symbol):
        return hasattr(self.handle, symbol)

    def call(self, row, values):
        """Calls a row's function with positional values; its result code."""
        assert len(values) == len(row.arguments), (row.symbol, row.names, values)
        function = self.handle[row.symbol]
        function.restype = ctypes.c_int
        return function(*[argument(a.type, value) for a, value in zip(row.arguments, values)])
