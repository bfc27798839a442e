# SPDX-License-Identifier: BSD-2-Clause
"""How graphs are driven: an execution of each tells how many kernels gpuprobe holds it to have."""
import ctypes

from decode import structures as s
from decode.case import NoRule, word
from decode.launches import begin_capture, captured_stream, end_capture, kernels

# CUgraphNodeType
KERNEL, MEMSET, CHILD, EMPTY = 0, 2, 4, 5


def new(c):
    return c.makes("cuGraphCreate", "cudaGraphCreate", 0)


def kernel_node(c):
    """Parameters of a kernel node."""
    if not hasattr(c, "node_kernel"):
        [c.node_kernel] = kernels(c, f"node_{c.n}")
    params = s.KernelNodeParams(func=c.node_kernel, grid=s.Dim3(1, 1, 1), block=s.Dim3(1, 1, 1))
    return params


def add_kernel(c, graph):
    """A kernel node by a function that is not tested here."""
    return c.makes("cuGraphAddKernelNode_v2", "cudaGraphAddKernelNode", graph, None, 0,
                   kernel_node(c))


def with_kernels(c, count):
    """(graph, its kernel nodes)"""
    graph = new(c)
    return graph, [add_kernel(c, graph) for _ in range(count)]


def instantiate(c, graph):
    return c.makes("cuGraphInstantiateWithFlags", "cudaGraphInstantiateWithFlags", graph, 0)


def execute(c, executable, kernels_run, stream=0):
    """Runs it, and says with how many kernels it must be counted; None: gpuprobe cannot know."""
    c.either("cuGraphLaunch", "cudaGraphLaunch", executable, stream)
    note_run(c, kernels_run)


def note_run(c, kernels_run):
    runs = c.expected.setdefault("graphs", {"launches": 0, "kernels": 0, "of_unknown_size": 0})
    runs["launches"] += 1
    runs["kernels"] += kernels_run


def expect_weight(c, graph, kernels_run):
    execute(c, instantiate(c, graph), kernels_run)


def name_of(row, *names):
    return next(name for name in row.names if name in names)


def graph_argument(row):
    return name_of(row, "hGraph", "graph", "originalGraph")


# Nodes.

def node_arguments(c, graph, out):
    """By name, for a function that adds one node of the kind that its name tells."""
    row = c.row
    values = {row.names[0]: out, graph_argument(row): graph, "dependencies": None,
              "pDependencies": None, "dependencyData": None, "numDependencies": 0,
              "ctx": getattr(c, "context", None)}
    device = c.on_device()
    extra = {"event": lambda: c.event(), "childGraph": lambda: with_kernels(c, 3)[0],
             "dptr": lambda: c.graph_memory(graph), "dst": lambda: device,
             "src": lambda: device + 65536, "count": lambda: 4096, "kind": lambda: 3,
             "offset": lambda: 0, "symbol": lambda: symbol_of(c)}
    for argument in row.arguments:
        if argument.name in values:
            continue
        if argument.name in extra:
            values[argument.name] = extra[argument.name]()
        else:
            values[argument.name] = node_params(c, argument.type, device)
    return {name: values[name] for name in row.names}


def symbol_of(c):
    from decode.copies import symbol_of as registered
    return registered(c)


def node_params(c, kind, device):
    """What a nodeParams argument of that type points to."""
    if "KERNEL_NODE" in kind or "KernelNode" in kind:
        return kernel_node(c)
    if "HOST_NODE" in kind or "HostNode" in kind:
        c.callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
        return s.HostNodeParams(ctypes.cast(c.callback, ctypes.c_void_p).value, 0)
    if "MEMSET_NODE" in kind or "cudaMemsetParams" in kind:
        return s.MemsetNodeParams(device, 4096, 1, 1, 100, 2)
    if "MEMCPY3D" in kind:
        return s.Memcpy3D(srcMemoryType=2, srcDevice=device, dstMemoryType=2,
                          dstDevice=device + 65536, WidthInBytes=100, Height=1, Depth=1)
    if "cudaMemcpy3DParms" in kind:
        return s.Memcpy3DParms(srcPtr=s.PitchedPtr(device, 4096, 4096, 1),
                               kind=3, extent=s.Extent(100, 1, 1),
                               dstPtr=s.PitchedPtr(device + 65536, 4096, 4096, 1))
    if "ALLOC_NODE" in kind or "MemAllocNode" in kind:
        return s.MemAllocNodeParams(
            poolProps=s.PoolProps(allocType=1, location=s.Location(1, c.device)), bytesize=1 << 16)
    if "BATCH_MEM_OP" in kind:
        return s.BatchMemOpNodeParams(ctx=c.context, count=0)
    raise NoRule(c.row)


def graph_memory(c, graph):
    """Memory that a node of the graph allocates."""
    params = s.MemAllocNodeParams(
        poolProps=s.PoolProps(allocType=1, location=s.Location(1, c.device)), bytesize=1 << 16)
    c.makes("cuGraphAddMemAllocNode", "cudaGraphAddMemAllocNode", graph, None, 0, params)
    return params.dptr


def add_by_row(c):
    """Two kernels and one node by the row's function."""
    c.context = c.start()
    c.graph_memory = lambda graph: graph_memory(c, graph)
    graph, _ = with_kernels(c, 2)
    weight = 2 + {"KernelNode": 1, "ChildGraph": 3}.get(next(
        (part for part in ("KernelNode", "ChildGraph") if part in c.row.symbol), None), 0)
    c.test(**node_arguments(c, graph, word()))
    c.tally("-")
    expect_weight(c, graph, weight)


def add_generic_by_row(c):
    """A kernel, a child graph with three, and an empty node, by the one function for all kinds."""
    c.context = c.start()
    graph, _ = with_kernels(c, 2)
    child, _ = with_kernels(c, 3)
    for kind, value in ((KERNEL, kernel_node(c)), (CHILD, ctypes.c_uint64(child)), (EMPTY, None)):
        params = s.NodeParams(type=kind)
        if value is not None:
            ctypes.memmove(ctypes.addressof(params) + s.NodeParams.body.offset,
                           ctypes.addressof(value), ctypes.sizeof(value))
        values = {c.row.names[0]: word(), graph_argument(c.row): graph, "dependencies": None,
                  "pDependencies": None, "dependencyData": None, "numDependencies": 0,
                  "nodeParams": params}
        c.test(**{name: values[name] for name in c.row.names})
        c.tally("-")
    expect_weight(c, graph, 6)


# Graphs and what can be run of them.

def create(c):
    c.start()
    made = []
    for _ in range(3):
        out = word()
        c.test(**dict(zip(c.row.names, (out, 0))))
        made.append(out.value)
        c.tally("-")
    c.either("cuGraphDestroy", "cudaGraphDestroy", made[1])
    add_kernel(c, made[2])
    expect_weight(c, made[2], 1)
    c.expect(objects={"graph": [3, 1, 2]})


def destroy(c):
    c.start()
    made = [new(c) for _ in range(3)]
    c.test(**{c.row.names[0]: made[1]})
    c.tally("-")
    c.expect(objects={"graph": [3, 1, 2]})


def destroy_exec(c):
    c.start()
    graph, _ = with_kernels(c, 1)
    made = [instantiate(c, graph) for _ in range(3)]
    c.test(**{c.row.names[0]: made[1]})
    c.tally("-")
    c.expect(objects={"graph_exec": [3, 1, 2]})


def clone(c):
    c.start()
    graph, _ = with_kernels(c, 3)
    out = word()
    c.test(**{c.row.names[0]: out, graph_argument(c.row): graph})
    c.tally("-")
    add_kernel(c, out.value)
    expect_weight(c, out.value, 4)
    expect_weight(c, graph, 3)


def instantiate_by_row(c):
    c.start()
    graph, _ = with_kernels(c, 3)
    out = word()
    row = c.row
    values = {row.names[0]: out, graph_argument(row): graph, "flags": 0, "bufferSize": 0,
              "instantiateParams": s.InstantiateParams()}
    c.test(**{name: values.get(name) for name in row.names})
    c.tally("-")
    execute(c, out.value, 3)


def update(c):
    """An executable of three kernels, one of them off, is as the graph again."""
    c.start()
    graph, _ = with_kernels(c, 3)
    first, nodes = with_kernels(c, 3)
    executable = instantiate(c, first)
    c.either("cuGraphNodeSetEnabled", "cudaGraphNodeSetEnabled", executable, nodes[0], 0)
    execute(c, executable, 2)
    row = c.row
    values = {"hGraphExec": executable, "hGraph": graph, "hErrorNode_out": word(),
              "updateResult_out": word(), "resultInfo": s.UpdateResult()}
    c.test(**{name: values[name] for name in row.names})
    c.tally("-")
    execute(c, executable, 2)


def remove(c):
    c.start()
    graph, nodes = with_kernels(c, 3)
    c.test(**{c.row.names[0]: nodes[1]})
    c.tally("-")
    expect_weight(c, graph, 2)


def enable(c):
    c.start()
    graph, nodes = with_kernels(c, 3)
    executable, other = instantiate(c, graph), instantiate(c, graph)
    for enabled, weight in ((0, 2), (1, 3), (0, 2)):
        c.test(hGraphExec=executable, hNode=nodes[1], isEnabled=enabled)
        c.tally("-")
        execute(c, executable, weight)
    execute(c, other, 3)


def embedded(c):
    """The child graph that a node holds is another than the one it was made of."""
    c.start()
    graph, child = new(c), with_kernels(c, 2)[0]
    node = c.makes("cuGraphAddChildGraphNode", "cudaGraphAddChildGraphNode", graph, None, 0, child)
    out = word()
    c.test(**dict(zip(c.row.names, (node, out))))
    c.tally("-")
    add_kernel(c, out.value)
    expect_weight(c, graph, 3)
    expect_weight(c, child, 2)


def change(c):
    """By the function's name."""
    symbol = c.row.symbol
    for part, rule in (("AddNode", add_generic_by_row), ("GraphAdd", add_by_row),
                       ("GraphCreate", create), ("ExecDestroy", destroy_exec),
                       ("DestroyNode", remove), ("GraphDestroy", destroy), ("Clone", clone),
                       ("Instantiate", instantiate_by_row), ("ExecUpdate", update),
                       ("SetEnabled", enable), ("ChildGraphNodeGetGraph", embedded)):
        if part in symbol:
            rule(c)
            return
    raise NoRule(c.row)


def launch(c):
    """A graph of two kernels on a stream of its own; its work is waited for by that stream."""
    c.start()
    executable = instantiate(c, with_kernels(c, 2)[0])
    row = c.row
    for stream in (c.stream(), 0):
        c.test(**dict(zip(row.names, (executable, stream))))
        c.tally("-")
        note_run(c, 2)
    passed, stream = captured_stream(c)
    begin_capture(c, stream)
    c.test(**dict(zip(row.names, (executable, passed))))
    c.tally("-", 0, "captured")
    end_capture(c, stream)
