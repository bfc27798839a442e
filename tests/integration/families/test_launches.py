# SPDX-License-Identifier: BSD-2-Clause
"""Every launch is counted once, under its kernel's name."""
import pytest

from lib import exact
from lib.paths import workload
from lib.probe import TEXT, Probe
from lib.script import script

APIS = ("auto", "driver", "runtime", "both")
FUNCTIONS = ("kernel", "ex", "cooperative", "graph")
LAYERS = ("driver", "runtime")


@pytest.mark.parametrize("threads", [1, 16])
def test_threads(gpuprobe_by, threads):
    result = gpuprobe_by.run(workload("launch"), "--threads", threads, "--launches", 1000,
                             "--kernels", 3)
    exact.check(result)
    assert result.process["launches"] == threads * 1000


@pytest.mark.parametrize("processes", [1, 8])
def test_processes(gpuprobe_by, processes):
    result = gpuprobe_by.run(workload("forker"), "--processes", processes, "--launches", 500)
    exact.check(result)
    assert len(result.processes) == processes
    assert result.final["totals"]["launches"] == processes * 500


def test_a_million(gpuprobe_by):
    result = gpuprobe_by.run(workload("launch"), "--api", "driver", "--threads", 4, "--launches",
                             250000, "--kernels", 5)
    exact.check(result)
    assert result.final["totals"]["launches"] == 1000000


@pytest.fixture(scope="module", params=APIS)
def by_function_and_layer(request, tmp_path_factory):
    """(--api, losses, (function, layer) -> (the processes of that pid, the truth)),
    all under one gpuprobe."""
    pairs = [(function, layer) for function in FUNCTIONS for layer in LAYERS]
    commands = [workload("launch"), "--function", "", "--api", "", "--threads", 2, "--launches",
                300, "--kernels", 4]
    pids = tmp_path_factory.mktemp("pids") / "pids"
    result = Probe(tmp_path_factory.mktemp("launches")).run(*script(f"""
        import subprocess
        for function, layer in {pairs!r}:
            command = {[str(word) for word in commands]!r}
            command[2], command[4] = function, layer
            child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            with open({str(pids)!r}, "a") as told:
                print(child.pid, file=told)
            need(child.wait())
    """), args=["--api", request.param])
    truths = {truth.pid: truth for truth in result.truths}
    return request.param, exact.lost(result.final), {
        pair: ([p for p in result.processes if p["pid"] == int(pid)], truths[int(pid)])
        for pair, pid in zip(pairs, pids.read_text().split(), strict=True)}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_and_layers(by_function_and_layer, function, layer):
    api, lost, found = by_function_and_layer
    processes, truth = found[function, layer]
    assert lost == {}
    if layer == "driver" and api == "runtime":
        assert processes == []  # the program calls nothing of that layer
        return
    process, = processes
    assert process["ended"]
    exact.check_process(process, truth, api)
    if function == "graph":
        # The launches were captured, each once a thread.
        assert process["graph_launches"] == 600
        assert process["launches"] == 0
        assert process["captured"]["launches"] == 8
        assert process["graph_sizes"] == [{"kernels": 4, "launches": 600}]
    else:
        assert process["graph_launches"] == 0
        assert process["launches"] == 600


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_on_each_path(gpuprobe_by, function):
    result = gpuprobe_by.run(workload("launch"), "--function", function, "--threads", 2,
                             "--launches", 300, args=["--api", "both"])
    exact.check(result, "both")


def test_every_symbol_that_launches(gpuprobe_by):
    result = gpuprobe_by.run(*script("""
        start()
        loaded, (one, two) = module("one", "two")
        config = (ctypes.c_uint32 * 16)(1, 1, 1, 1, 1, 1)
        for form in ("", "_ptsz"):
            for name in ("cuLaunchKernel", "cuLaunchCooperativeKernel"):
                need(getattr(driver, name + form)(one, 1, 1, 1, 1, 1, 1, 0, 0, None, None))
            need(getattr(driver, "cuLaunchKernelEx" + form)(ref(config), two, None, None))
        library = out()
        need(runtime.cudaLibraryLoadData(ref(library), ptx("three"), None, None, 0, None, None, 0))
        three = out()
        need(runtime.cudaLibraryGetKernel(ref(three), library, b"three"))
        class dim3(ctypes.Structure):
            _fields_ = [("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32)]
        size = dim3(1, 1, 1)
        config = (ctypes.c_uint32 * 32)(1, 1, 1, 1, 1, 1)
        for form in ("", "_ptsz"):
            for name in ("cudaLaunchKernel", "cudaLaunchCooperativeKernel", "__cudaLaunchKernel"):
                if name != "__cudaLaunchKernel" or form == "":
                    need(getattr(runtime, name + form)(three, size, size, None, 0, None))
            need(getattr(runtime, "cudaLaunchKernelExC" + form)(ref(config), three, None))
    """), args=["--api", "both"])
    exact.check(result, "both")
    assert exact.launches(result.process) == {"one": 4, "two": 2, "three": 7}


@pytest.mark.parametrize("api", APIS)
def test_failing_launches_are_exact_when_all_are_checked(gpuprobe_by, api):
    result = gpuprobe_by.run(workload("launch"), "--threads", 4, "--launches", 100, "--bad", 37,
                             args=["--check-launches", "--api", api])
    exact.check(result, api, checked=True)
    assert result.final["launch_sample"] == 1
    layer, function, name = (("driver", "cuLaunchKernel", "CUDA_ERROR_INVALID_VALUE")
                             if api in ("auto", "driver")
                             else ("runtime", "cudaLaunchKernel", "cudaErrorInvalidValue"))
    [error] = result.process["errors"]
    told = {key: value for key, value in error.items() if key not in ("first_ns", "last_ns")}
    assert told == {"function": function, "layer": layer, "error": name, "code": 1, "count": 4 * 37,
                    "sampled": False}


# 1,000 failing launches on one CPU, for which the counter that is sampled by is kept.
FAILING = script("""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    start()
    loaded, (kernel,) = module("failing")
    for _ in range(1000):
        assert launch(kernel, threads=0) == 1
""")


def test_failing_launches_are_sampled_by_default(gpuprobe_by):
    result = gpuprobe_by.run(*FAILING)
    exact.check(result)
    if gpuprobe_by.links == "session":
        # The first of each kernel, then one in 256.
        assert result.final["launch_sample"] == 256
        assert [(e["function"], e["count"], e["sampled"]) for e in result.process["errors"]] == \
            [("cuLaunchKernel", 4, True)]
    else:
        # Without sessions a return probe would cost every launch as much again.
        assert result.final["launch_sample"] == 0
        assert result.process["errors"] == []


def test_sampled_failures_are_marked_in_the_text(gpuprobe, missing_links):
    if "session" in missing_links:
        pytest.skip("launches are sampled by session links only")
    result = gpuprobe.run(*FAILING, base=TEXT)
    assert ("        cuLaunchKernel: CUDA_ERROR_INVALID_VALUE (1) x 4 (sampled 1/256)"
            in result.stdout)
    assert "total kernel launches: 1000 calls of 1 kernel\n" in result.stdout


def test_a_handle_that_is_none(gpuprobe_by):
    result = gpuprobe_by.run(*script("""
        start()
        loaded, (kernel,) = module("sound")
        for _ in range(5):
            assert launch(0x10) == 400 and launch(kernel) == 0
        # Readable, and not a handle: the word at +8 leads nowhere, or to what is no name.
        junk = ctypes.create_string_buffer(b"\\x01\\x02\\xff", 64)
        words = (ctypes.c_uint64 * 4)(0, 8, ctypes.addressof(junk), 0)
        for _ in range(7):
            assert launch(ctypes.addressof(words)) == 400
            assert launch(ctypes.addressof(words) + 8) == 400
    """), args=["--check-launches"])
    kernels = {k["name"]: k["launches"] for k in result.process["kernels"] if k["name"]}
    nameless = sorted(k["launches"] for k in result.process["kernels"] if not k["name"])
    assert kernels == {"sound": 5}
    assert nameless == [5, 7, 7]
    assert result.process["launches"] == 24
    assert exact.errors(result.process) == {("driver", "cuLaunchKernel", 400): 19}
    assert exact.lost(result.final) == {}


def test_text(gpuprobe):
    result = gpuprobe.run(workload("launch"), "--launches", 200, "--kernels", 2,
                          base=TEXT)
    pid = result.truth.pid
    assert "\ntotal kernel launches: 200 calls of 2 kernels\n" \
           f"process {pid} (launch) ended\n" in result.stdout
    for name in ("kernel_0", "kernel_1"):
        assert f" ({name}) -> 100\n" in result.stdout
