# SPDX-License-Identifier: BSD-2-Clause
"""Captures and graphs: which calls are executed and which only captured,
and how many kernels a graph launch runs."""
import pytest

from lib import exact
from lib.paths import workload
from lib.probe import TEXT, Background, wait_for_file
from lib.records import Records
from lib.script import script
from lib.steps import Steps

# In every program: a context, kernels, a stream, and calls by short names.
PRELUDE = """
start()
loaded, (one, two) = module("one", "two")
def stream(): return made(driver.cuStreamCreate, 1)
def event(): return made(driver.cuEventCreate, 2)
def begin(s, mode=2): need(driver.cuStreamBeginCapture_v2(s, mode))
def end(s):
    graph = out()
    need(driver.cuStreamEndCapture(s, ref(graph)))
    return graph.value
def put(s, kernel=one, times=1):
    for _ in range(times):
        need(launch(kernel, s))
def instance(graph): return made(driver.cuGraphInstantiateWithFlags, graph, 0)
def run(executable, times=1, s=0):
    for _ in range(times):
        need(driver.cuGraphLaunch(executable, s))
class KernelNode(ctypes.Structure):
    _fields_ = [("func", ctypes.c_uint64), ("grid", ctypes.c_uint32 * 3),
                ("block", ctypes.c_uint32 * 3), ("shared", ctypes.c_uint32),
                ("args", ctypes.c_void_p), ("extra", ctypes.c_void_p),
                ("kern", ctypes.c_uint64), ("ctx", ctypes.c_uint64)]
def kernel_node(graph):
    params = KernelNode(func=one, grid=(1, 1, 1), block=(1, 1, 1))
    return made(driver.cuGraphAddKernelNode_v2, graph, None, 0, ref(params))
def child_node(graph, child): return made(driver.cuGraphAddChildGraphNode, graph, None, 0, child)
def built(kernels):
    graph = made(driver.cuGraphCreate, 0)
    return graph, [kernel_node(graph) for _ in range(kernels)]
s = stream()
"""


def program(body):
    return script(PRELUDE + body)


def sizes(process):
    """kernels of one launch (None: unknown) -> launches"""
    return {size["kernels"]: size["launches"] for size in process["graph_sizes"]}


def graph_objects(process):
    """(created, destroyed, live) of graphs and of executable graphs,
    as the report's functions add up."""
    counts = {f["function"]: 0 for f in process["functions"]}
    for f in process["functions"]:
        counts[f["function"]] += f["calls"]
    return counts


@pytest.mark.parametrize("api", ["auto", "driver", "both"])
def test_a_captured_launch_is_not_executed(gpuprobe_by, api):
    result = gpuprobe_by.run(*program("""
put(s, one, 3)
begin(s)
put(s, one, 5)
put(s, two, 2)
put(0, two, 4)
graph = end(s)
put(s, one, 1)
run(instance(graph), 10, s)
"""), args=["--api", api])
    exact.check(result, api)
    assert exact.launches(result.process) == {"one": 4, "two": 4}
    assert exact.captured_launches(result.process) == {"one": 5, "two": 2}
    assert sizes(result.process) == {7: 10}


def test_streams_join_by_events(gpuprobe_by):
    """What waits for a captured event is captured until the capture ends; other streams are not."""
    result = gpuprobe_by.run(*program("""
joined, other, third = stream(), stream(), stream()
fork, back, plain = event(), event(), event()
need(driver.cuEventRecord(plain, other))
begin(s)
put(s)
need(driver.cuEventRecord(fork, s))
put(joined, two)
need(driver.cuStreamWaitEvent(joined, fork, 0))
need(driver.cuStreamWaitEvent(third, plain, 0))
put(joined, two, 3)
put(other, two)
put(third, two)
need(driver.cuEventRecord(back, joined))
need(driver.cuStreamWaitEvent(s, back, 0))
graph = end(s)
put(joined, two, 5)
need(driver.cuStreamWaitEvent(third, plain, 0))
put(third, two)
run(instance(graph), 3)
# The same streams in another capture, without the other stream.
begin(joined)
put(joined)
put(s, two)
run(instance(end(joined)), 2)
"""))
    exact.check(result)
    assert sizes(result.process) == {4: 3, 1: 2}


def test_a_graph_launch_in_a_capture_is_a_child(gpuprobe_by):
    result = gpuprobe_by.run(*program("""
begin(s)
put(s, one, 4)
inner = instance(end(s))
run(inner, 2, s)
begin(s)
put(s, two)
run(inner, 2, s)
run(inner, 1, 0)
outer = instance(end(s))
run(outer, 5, s)
"""))
    exact.check(result)
    assert sizes(result.process) == {4: 3, 9: 5}
    assert result.process["captured"]["graph_launches"] == 2


def test_copies_and_host_functions_are_captured_too(gpuprobe_by):
    result = gpuprobe_by.run(*program("""
memory = made(driver.cuMemAlloc_v2, 4096)
host = ctypes.create_string_buffer(4096)
call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
begin(s)
need(driver.cuMemcpyHtoDAsync_v2(memory, host, 1000, s))
need(driver.cuMemsetD8Async(memory, 1, 500, s))
need(driver.cuLaunchHostFunc(s, call, None))
put(s)
need(driver.cuMemcpyHtoDAsync_v2(memory, host, 300, 0))
need(driver.cuLaunchHostFunc(0, call, None))
need(driver.cuLaunchHostFunc(0, call, None))
run(instance(end(s)), 2)
"""))
    exact.check(result)
    assert exact.copies(result.process) == {("H2D", "async"): (1, 300)}
    assert result.process["host_functions"] == 2
    assert result.process["captured"] == {"launches": 1, "graph_launches": 0, "host_functions": 1}


@pytest.mark.parametrize("api", ["auto", "both"])
def test_threads_capture_at_once(gpuprobe_by, api):
    result = gpuprobe_by.run(workload("launch"), "--function", "graph", "--threads", 16,
                             "--launches", 200, "--kernels", 5, args=["--api", api])
    exact.check(result, api)
    assert sizes(result.process) == {5: 16 * 200}


def test_threads_capture_their_own_streams(gpuprobe_by):
    """Captures of the per-thread streams, beside threads that execute;
    a thread ends in its capture."""
    result = gpuprobe_by.run(*program("""
import threading
context = out()
need(driver.cuCtxGetCurrent(ref(context)))
def work(number):
    need(driver.cuCtxSetCurrent(context.value))
    mine = stream()
    for turn in range(20):
        put(mine, two)
        begin(2)
        put(2, one, number)
        put(mine, two)
        graph = end(2)
        run(instance(graph), 2, mine)
    if number == 3:
        begin(2)
        put(2, one)
threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 6)]
for t in threads: t.start()
for t in threads: t.join()
# No capture is left: nothing but what is executed.
put(0, two, 7)
put(s, two, 7)
"""))
    exact.check(result)
    assert sizes(result.process) == {n: 40 for n in range(1, 6)}


def test_captured_memory_goes_with_its_process(gpuprobe):
    """It does not count as live memory but stays on record: later processes have the room,
    and nothing of it in their slot."""
    leaves = script("""
start()
s = made(driver.cuStreamCreate, 1)
need(driver.cuStreamBeginCapture_v2(s, 2))
for _ in range(8):
    made(driver.cuMemAllocAsync, 4096, s)
need(driver.cuStreamEndCapture(s, ref(out())))
""")
    # Of one process after the other the addresses are the same.
    with Steps(gpuprobe, f"""
import subprocess
for number in range(6):
    need(subprocess.run(["setarch", "-R", *{[str(word) for word in leaves]!r}]).returncode)
    touch(f"{{directory}}/over{{number}}")
    step()
""", args=["--max-allocations", 16, "--max-processes", 2], interval=0) as steps:
        for number in range(6):
            wait_for_file(steps.directory / f"over{number}")
            Records(steps.running.pid).wait_until_free()
            steps.go_on()
        result = steps.running.finish()
    exact.check(result)
    assert len(result.processes) == 6
    assert [p["memory"]["unknown"]["replaced"] for p in result.processes] == 6 * [0]


def test_captures_that_fail(gpuprobe_by):
    """Ends that are refused leave the capture as it is; an injected failure too."""
    result = gpuprobe_by.run(*program("""
other, graph = stream(), out()
assert driver.cuStreamEndCapture(s, ref(graph)) == 401
begin(s)
assert driver.cuStreamBeginCapture_v2(s, 2) != 0
put(s)
fork = event()
need(driver.cuEventRecord(fork, s))
need(driver.cuStreamWaitEvent(other, fork, 0))
assert driver.cuStreamEndCapture(other, ref(graph)) == 903
put(other)
put(s)
assert driver.cuStreamEndCapture(s, None) != 0
put(s)
back = event()
need(driver.cuEventRecord(back, other))
need(driver.cuStreamWaitEvent(s, back, 0))
run(instance(end(s)), 2)
put(s)
put(other)
assert driver.cuStreamBeginCapture_v2(0, 2) == 900
put(0)
"""))
    exact.check(result)
    assert exact.captured_launches(result.process) == {"one": 4}
    assert sizes(result.process) == {4: 2}


def test_failing_launches_in_a_capture_are_not_in_the_graph(gpuprobe):
    result = gpuprobe.run(*program("""
begin(s)
for number in range(10):
    assert (launch(one, s, threads=number % 2) == 0) == bool(number % 2)
run(instance(end(s)), 3)
"""))
    assert sizes(result.process) == {5: 3}
    assert result.process["captured"]["launches"] == 10  # the calls; half of them failed
    assert exact.lost(result.final) == {}


def test_a_stream_destroyed_in_its_capture_ends_it(gpuprobe_by):
    """Also with its context. Handles come back, and what is put on them is executed."""
    result = gpuprobe_by.run(*program("""
for _ in range(5):
    gone = stream()
    begin(gone)
    put(gone)
    need(driver.cuStreamDestroy_v2(gone))
    back = stream()
    put(back, two)
    need(driver.cuStreamDestroy_v2(back))
context = out()
need(driver.cuCtxCreate_v2(ref(context), 0, 0))
loaded, (three,) = module("three")
gone = stream()
begin(gone)
put(gone, three)
need(driver.cuCtxDestroy_v2(context.value))
new = stream()
put(new, one, 6)
put(s, one, 6)
"""))
    assert exact.launches(result.process) == {"one": 12, "two": 5}
    assert exact.captured_launches(result.process) == {"one": 5, "three": 1}
    assert exact.lost(result.final) == {}


def test_graphs_built_by_hand(gpuprobe_by):
    result = gpuprobe_by.run(*program("""
graph, nodes = built(3)
need(driver.cuGraphAddEmptyNode(ref(out()), graph, None, 0))
first = instance(graph)
run(first, 4)
need(driver.cuGraphDestroyNode(nodes[1]))
second = instance(graph)
run(second, 5)
run(first, 1)
copy = made(driver.cuGraphClone, graph)
kernel_node(copy)
run(instance(copy), 6)
run(instance(graph), 1)
parent, _ = built(1)
child_node(parent, copy)
child_node(parent, graph)
kernel_node(graph)
run(instance(parent), 7)
"""))
    exact.check(result)
    assert sizes(result.process) == {3: 5 + 6, 2: 6, 6: 7}


def test_child_graphs_changed_within(gpuprobe_by):
    result = gpuprobe_by.run(*program("""
child, _ = built(2)
parent, _ = built(1)
node = child_node(parent, child)
within = out()
need(driver.cuGraphChildGraphNodeGetGraph(node, ref(within)))
kernel_node(within.value)
run(instance(parent), 2)
run(instance(child), 3)
need(driver.cuGraphDestroyNode(node))
run(instance(parent), 5)
"""))
    exact.check(result)
    assert sizes(result.process) == {4: 2, 2: 3, 1: 5}


def test_capture_into_a_graph(gpuprobe_by):
    result = gpuprobe_by.run(*program("""
graph, _ = built(2)
need(driver.cuStreamBeginCaptureToGraph(s, graph, None, None, 0, 2))
put(s, one, 3)
assert end(s) == graph
run(instance(graph), 4)
begin(s)
put(s, one, 2)
status, number, held, nodes, count = out(), out(), out(), out(), out()
need(driver.cuStreamGetCaptureInfo_v2(s, ref(status), ref(number), ref(held), ref(nodes),
                                      ref(count)))
kernel_node(held.value)
put(s, one)
graph = end(s)
assert graph == held.value
run(instance(graph), 5)
"""))
    exact.check(result)
    assert sizes(result.process) == {5: 4, 4: 5}


def test_disabled_nodes_and_updates(gpuprobe_by):
    result = gpuprobe_by.run(*program("""
graph, nodes = built(4)
a, b = instance(graph), instance(graph)
def enable(executable, node, on): need(driver.cuGraphNodeSetEnabled(executable, node, on))
enable(a, nodes[0], 0)
enable(a, nodes[0], 0)
enable(a, nodes[1], 0)
run(a, 3)
run(b, 1)
enable(a, nodes[0], 1)
enable(a, nodes[2], 1)
run(a, 5)
same, _ = built(4)
info = (ctypes.c_uint64 * 4)()
need(driver.cuGraphExecUpdate_v2(a, same, ref(info)))
run(a, 7)
"""))
    exact.check(result)
    assert sizes(result.process) == {2: 3, 4: 1, 3: 12}


def test_handles_come_back(gpuprobe_by):
    """Graphs are destroyed and made anew behind the same handles;
    failed destroys change nothing."""
    result = gpuprobe_by.run(*program("""
for turn in range(30):
    graph, _ = built(turn % 4)
    begin(s)
    put(s, one, turn % 3)
    captured = end(s)
    executables = [instance(graph), instance(captured)]
    for executable in executables:
        run(executable)
    for executable in executables:
        if driver.cuGraphExecDestroy(executable):
            run(executable)
    for one_graph in (graph, captured):
        if driver.cuGraphDestroy(one_graph):
            kernel_node(one_graph)
            run(instance(one_graph))
"""), env={"CUDA_SIM_FAIL": "cuGraphDestroy:%7=700,cuGraphExecDestroy:%5=719"})
    exact.check(result)
    objects = result.truth.data["objects"]
    functions = graph_objects(result.process)
    assert functions["cuGraphDestroy"] == objects["graph"]["destroyed"]
    assert functions["cuGraphExecDestroy"] == objects["graph_exec"]["destroyed"]


def test_what_cannot_be_known_is_unknown(gpuprobe_by):
    """Removes or switches a node whose adding was not seen:
    any graph that may have had it is of unknown size."""
    result = gpuprobe_by.run(*program("""
graph, _ = built(2)
copy = made(driver.cuGraphClone, graph)
nodes, count = (ctypes.c_uint64 * 8)(), ctypes.c_uint64(8)
need(driver.cuGraphGetNodes(copy, nodes, ref(count)))
before = instance(copy)
need(driver.cuGraphDestroyNode(nodes[0]))
run(before, 2)
run(instance(copy), 3)
run(instance(graph), 4)
later = made(driver.cuGraphClone, graph)
run(instance(later), 5)
begin(s)
put(s)
captured = end(s)
need(driver.cuGraphGetNodes(captured, nodes, ref(count)))
executable = instance(captured)
run(executable, 6)
need(driver.cuGraphNodeSetEnabled(executable, nodes[0], 0))
run(executable, 7)
"""))
    process = result.process
    assert sizes(process) == {2: 2 + 4 + 5, 1: 6, None: 3 + 7}
    assert process["graph_launches"] == 27
    assert process["graph_launches_of_unknown_size"] == 10
    assert process["graph_kernels"] == 28
    assert exact.lost(result.final) == {}


LATE = PRELUDE + """
begin(s)
put(s, one, 3)
print("READY", flush=True)
sys.stdin.readline()
status = out()
put(s, one, 2)
need(driver.cuStreamIsCapturing(s, ref(status)))
assert status.value == 1
put(s, two, 4)
graph = end(s)
put(s, two, 5)
run(instance(graph), 6)
begin(s)
put(s, one)
run(instance(end(s)), 7)
print("DONE", flush=True)
sys.stdin.readline()
"""


def test_a_capture_from_before(gpuprobe_by):
    """A process that captures already is asked by itself; its graph's size is not known."""
    with Background(*script(LATE)) as holder:
        assert holder.stdout.readline() == "READY\n"
        with gpuprobe_by.start() as running:
            running.report()
            assert holder.tell("go") == "DONE"
            running.find(lambda r: [p for p in r["processes"]
                                    if p["pid"] == holder.pid and p["graph_launches"] == 13])
            result = running.stop()
    process = result.last_seen(holder.pid)
    assert exact.captured_launches(process) == {"two": 4, "one": 1}
    assert exact.launches(process) == {"one": 2, "two": 5}
    assert sizes(process) == {None: 6, 1: 7}


def test_text(gpuprobe):
    result = gpuprobe.run(*program("""
begin(s)
put(s, one, 3)
graph = instance(end(s))
run(graph, 1000)
put(s, two, 2)
"""), base=TEXT)
    assert "total kernel launches: 2 calls of 2 kernels\n" in result.stdout
    assert "total graph launches: 1000 calls of 3000 kernels\n" in result.stdout
    assert "        graph launches: 1000\n            1000 (3 kernels each)\n" in result.stdout
    assert "        captured, not executed: 3 kernel launches\n" in result.stdout
    assert ") -> 0, 3 captured\n            grid (1,1,1) block (1,1,1)" in result.stdout


@pytest.mark.parametrize("option", ["--cudatrace", "--bandwidth-util"])
def test_one_section_knows_captures_too(gpuprobe, option):
    """Forks by events, graphs and streams that go are followed whatever is shown."""
    result = gpuprobe.run(*program("""
memory = made(driver.cuMemAlloc_v2, 4096)
joined, fork, back = stream(), event(), event()
begin(s)
need(driver.cuEventRecord(fork, s))
need(driver.cuStreamWaitEvent(joined, fork, 0))
put(joined, one, 3)
need(driver.cuMemsetD8Async(memory, 1, 500, joined))
need(driver.cuEventRecord(back, joined))
need(driver.cuStreamWaitEvent(s, back, 0))
graph = end(s)
run(instance(graph), 2)
need(driver.cuGraphDestroy(graph))
gone = stream()
begin(gone)
need(driver.cuStreamDestroy_v2(gone))
again = stream()
put(again, two, 4)
need(driver.cuMemsetD8Async(memory, 1, 300, again))
"""), args=[option])
    if option == "--cudatrace":
        assert exact.launches(result.process) == {"two": 4}
        assert sizes(result.process) == {3: 2}
    else:
        assert exact.copies(result.process) == {("set", "async"): (1, 300)}
    assert result.process["objects"]["graph"]["live"] == 0
    assert exact.lost(result.final) == {}
