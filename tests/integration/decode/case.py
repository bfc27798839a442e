# SPDX-License-Identifier: BSD-2-Clause
"""The calls that drive one row of the table, in a process of its own,
and what gpuprobe must decode.

A case knows the function's prototype and what CUDA means by it, not what the table says it means.
"""
import ctypes

from decode import structures as s

DEVICES = 3
HERE = object()  # the case's own device; None is an unknown one
BLOCK = 1 << 20
LEGACY, PER_THREAD = 1, 2  # CU_STREAM_LEGACY, CU_STREAM_PER_THREAD


class Failed(Exception):
    """A call that must succeed did not."""

    def __init__(self, symbol, code):
        super().__init__(f"{symbol} answers {code}")
        self.code = code


class NoRule(Exception):
    """Nobody has said how to drive the row."""


def word(value=0):
    return ctypes.c_uint64(value)


class Case:
    def __init__(self, library, row):
        self.row = row
        self.library = library
        self.runtime = row.layer == "runtime"
        self.n = row.number
        self.device = self.n % DEVICES
        self.kept = []  # what calls point to
        self.tallies = {}
        self.expected = {"in_flight": {}}
        self.sizes = 0
        self.repeated = 0  # calls of the row's function for the case's set-up

    # Calls.

    def test(self, **values):
        """The row's function, with arguments by name; it must succeed."""
        assert set(values) == set(self.row.names), f"{self.row.names} given {list(values)}"
        self.kept.append(values)
        code = self.library.call(self.row, [values[name] for name in self.row.names])
        if code:
            raise Failed(self.row.symbol, code)

    def do(self, symbol, *values):
        """Another function, whose row has a case of its own; its result code must be 0."""
        self.kept.append(values)
        code = self.library.call(self.library.row(symbol), values)
        if code:
            raise Failed(symbol, code)
        self.repeated += symbol == self.row.symbol

    def made(self, symbol, *values):
        """What it writes to its first argument."""
        out = word()
        self.do(symbol, out, *values)
        return out.value

    def either(self, driver, runtime, *values):
        self.do(runtime if self.runtime else driver, *values)

    def makes(self, driver, runtime, *values):
        return self.made(runtime if self.runtime else driver, *values)

    # What there must be to call something.

    def start(self, device=None):
        """Makes the device's primary context current."""
        device = self.device if device is None else device
        if self.runtime:
            self.do("cudaSetDevice", device)
            return None
        self.do("cuInit", 0)
        context = self.made("cuDevicePrimaryCtxRetain", device)
        self.do("cuCtxSetCurrent", context)
        return context

    def size(self, unit=1):
        """Another number for each call and row, a multiple of `unit`, at most 64 KiB."""
        self.sizes += 1
        return (4096 + 16 * self.n + 1024 * self.sizes) // unit * unit

    @property
    def first_form(self):
        """Whether the function is of CUDA 3.1 or before: device addresses have 32 bits."""
        return any("deviceptr_v1" in a.type
                   or a.type.startswith(("const CUDA_MEMCPY2D_v1", "const CUDA_MEMCPY3D_v1"))
                   for a in self.row.arguments)

    def on_device(self, size=BLOCK):
        if self.first_form:
            return self.made("cuMemAlloc", size)
        return self.makes("cuMemAlloc_v2", "cudaMalloc", size)

    def pinned(self, size=BLOCK):
        return self.makes("cuMemAllocHost_v2", "cudaMallocHost", size)

    def pageable(self, size=BLOCK):
        memory = ctypes.create_string_buffer(size)
        self.kept.append(memory)
        return ctypes.addressof(memory)

    def array(self, width=BLOCK // 16, height=16):
        """An array of bytes."""
        if self.runtime:
            return self.made("cudaMallocArray", s.ChannelFormat(8, 0, 0, 0, 1), width, height, 0)
        return self.made("cuArrayCreate_v2", s.ArrayDescriptor(width, height, 1, 1))

    def stream(self):
        if self.runtime:
            return self.made("cudaStreamCreate")
        return self.made("cuStreamCreate", 1)

    def event(self):
        if self.runtime:
            return self.made("cudaEventCreate")
        return self.made("cuEventCreate", 0)

    @property
    def default_stream(self):
        """The handle by which every function means what stream 0 is to this one."""
        return PER_THREAD if self.row.per_thread else LEGACY

    def wait(self, stream):
        self.either("cuStreamSynchronize", "cudaStreamSynchronize", stream)

    def fly(self, stream, size=None):
        """Puts an asynchronous copy within the device on a stream; its size."""
        size = size or self.size()
        if not hasattr(self, "flown"):
            self.flown = self.on_device(), self.on_device()
        if self.runtime:
            self.do("cudaMemcpyAsync", *self.flown, size, 3, stream)
        else:
            self.do("cuMemcpyDtoDAsync_v2", *self.flown, size, stream)
        return size

    # What gpuprobe must say.

    def tally(self, kind, size=0, *flags, calls=1, device=HERE):
        """Successful calls of the row's function, of a kind, with that many bytes."""
        device = self.device if device is HERE else device
        key = kind, tuple(sorted(flags)), device
        before = self.tallies.get(key, (0, 0))
        self.tallies[key] = before[0] + calls, before[1] + size

    def flying(self, kind, size):
        """What must be in flight at the end."""
        before = self.expected["in_flight"].get(kind, (0, 0))
        self.expected["in_flight"][kind] = before[0] + 1, before[1] + size

    def expect(self, **parts):
        self.expected.update(parts)

    def result(self):
        """For the test, as JSON has it."""
        if self.repeated and ("-", (), self.device) in self.tallies:
            self.tally("-", calls=self.repeated)
        tallies = [{"kind": kind, "flags": list(flags), "device": device, "calls": calls,
                    "bytes": size} for (kind, flags, device), (calls, size) in self.tallies.items()]
        return {**self.expected, "tallies": tallies}
