# SPDX-License-Identifier: BSD-2-Clause
"""How launches are driven: which kernel, and the shape that gpuprobe shows of it."""
import ctypes

from decode import structures as s
from decode.case import DEVICES, word

RELAXED = 2  # CUstreamCaptureMode
DIMENSIONS = ("gridDimX", "gridDimY", "gridDimZ", "blockDimX", "blockDimY", "blockDimZ")


def ptx(*names):
    text = ".version 7.0\n.target sm_75\n.address_size 64\n"
    return (text + "".join(f".visible .entry {name}()\n{{\n\tret;\n}}\n"
                           for name in names)).encode()


def kernels(c, *names):
    """Handles of kernels, by a function that is not tested here."""
    code = ptx(*names)
    if c.runtime:
        library = c.made("cudaLibraryLoadData", code, None, None, 0, None, None, 0)
        return [c.made("cudaLibraryGetKernel", library, name.encode()) for name in names]
    module = c.made("cuModuleLoadData", code)
    return [c.made("cuModuleGetFunction", module, name.encode()) for name in names]


def launch_one(c, handle, stream=0):
    """A launch by a function that is not tested here."""
    if c.runtime:
        c.do("cudaLaunchKernel", handle, s.Dim3(1, 1, 1), s.Dim3(1, 1, 1), None, 0, stream)
    else:
        c.do("cuLaunchKernel", handle, 1, 1, 1, 1, 1, 1, 0, stream, None, None)


def shape_of(c):
    """(grid, block, shared bytes) that no other row has."""
    n = c.n
    return (1 + n, 2 + n % 11, 3 + n % 7), (1 + n % 13, 1 + n % 5, 2 + n % 3), 16 * (1 + n % 101)


def shown(grid, block, shared, stream):
    """A shape as the report has it after one sample; what a function does not say is null."""
    return {"grid": grid and list(grid), "block": block and list(block), "shared_bytes": shared,
            "stream": f"{stream:#x}", "samples": 1}


def arguments(c, func, stream):
    """(arguments by name, the shape that they tell)"""
    row = c.row
    grid, block, shared = shape_of(c)
    shape = shown(grid, block, shared, stream)
    values = {name: None for name in row.names if name in ("kernelParams", "extra", "args")}
    values["func" if row.has("func") else "f"] = func
    if row.has("config"):
        structure = s.RuntimeLaunchConfig if c.runtime else s.LaunchConfig
        values["config"] = structure(s.Dim3(*grid), s.Dim3(*block), shared, stream, 0, 0)
        return values, shape
    if row.has("hStream", "stream"):
        values["hStream" if row.has("hStream") else "stream"] = stream
    else:
        stream = 0
    if row.has("gridDim"):
        return values | {"gridDim": s.Dim3(*grid), "blockDim": s.Dim3(*block),
                         "sharedMem": shared}, shape
    if row.has("gridDimX"):
        return values | dict(zip(DIMENSIONS, grid + block)) | {"sharedMemBytes": shared}, shape
    if row.has("grid_width"):
        return (values | {"grid_width": grid[0], "grid_height": grid[1]},
                shown((*grid[:2], 1), None, 0, stream))
    return values, shown(None, None, 0, stream)


def launch(c):
    """One of two kernels, on a stream of its own."""
    c.start()
    name = f"kernel_{c.n}"
    handle = kernels(c, f"other_{c.n}", name)[1]
    values, shape = arguments(c, handle, c.stream())
    c.test(**values)
    c.tally("-", 0, "first")
    c.expect(launches={name: 1}, shapes={name: shape})
    if c.row.has("hStream", "stream", "config"):
        captured = f"captured_{c.n}"
        passed, stream = captured_stream(c)
        values, shape = arguments(c, kernels(c, captured)[0], passed)
        begin_capture(c, stream)
        c.test(**values)
        c.tally("-", 0, "first", "captured")
        end_capture(c, stream)
        c.expect(captured={name: 0, captured: 1})


def launch_list(c):
    """Two kernels, each with a shape of its own, on two streams of two devices."""
    c.start()
    names = [f"first_{c.n}", f"second_{c.n}"]
    structure = s.RuntimeLaunchParams if c.runtime else s.LaunchParams
    params = (structure * 2)()
    shapes, launched = {}, {}
    for number, name in enumerate(names):
        c.start((c.device + number) % DEVICES)
        [handle] = kernels(c, name)
        stream = c.stream()
        grid, block, shared = shape_of(c)
        grid = (grid[0] + number, *grid[1:])
        shape = {"grid": s.Dim3(*grid), "block": s.Dim3(*block), "shared": shared, "stream": stream}
        params[number] = structure(function=handle, **shape)
        shapes[name], launched[name] = shown(grid, block, shared, stream), 1
    c.start()
    c.test(launchParamsList=params, numDevices=2, flags=0)
    c.tally("-")
    c.expect(launches=launched, shapes=shapes)


def captured_stream(c):
    """(value to pass, handle by which functions of any form know the stream) of a stream that
    can be captured."""
    if c.row.per_thread:
        return 0, c.default_stream
    stream = c.stream()
    return stream, stream


def begin_capture(c, stream):
    c.either("cuStreamBeginCapture_v2", "cudaStreamBeginCapture", stream, RELAXED)


def end_capture(c, stream):
    """The graph."""
    graph = word()
    c.either("cuStreamEndCapture", "cudaStreamEndCapture", stream, graph)
    return graph.value


def host_function(c):
    """One that is executed and one that is captured."""
    c.start()
    row = c.row
    stream_name = "hStream" if row.has("hStream") else "stream"
    c.callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int,
                                  ctypes.c_void_p)(lambda *_: None)
    values = {"fn": c.callback, "callback": c.callback, "userData": None, "flags": 0}
    values = {name: values[name] for name in row.names if name != stream_name}
    (passed, stream), other = captured_stream(c), c.stream()
    begin_capture(c, stream)
    c.test(**values, **{stream_name: other})
    c.tally("-")
    # CUDA refuses callbacks in a capture.
    if row.has("fn"):
        c.test(**values, **{stream_name: passed})
        c.tally("-", 0, "captured")
    end_capture(c, stream)
