# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe stat`'s list of errors that nobody asked about."""
import pytest

from lib.probe import Background, Probe, wait_for_file, wait_until
from lib.profile_runs import DIAGNOSE, STAT, Scenario, by_scenario
from lib.script import script

ERRORS = """
start()
module_, (kernel,) = module("kernel")
def run(times=1):
    for _ in range(times): launch(kernel)
def fail(): assert driver.cuMemcpyHtoD_v2(0x10, ctypes.create_string_buffer(64), 64)
def succeed(): need(driver.cuMemcpyHtoD_v2(target, source, 64))
def no_memory(): assert driver.cuMemAlloc_v2(ref(out()), 1 << 60)
def fail_runtime(): assert runtime.cudaMalloc(ref(out()), 1 << 60)
def ask(): runtime.cudaGetLastError()
def peek(): runtime.cudaPeekAtLastError()
def name(): driver.cuGetErrorString(1, ref(out()))
def query(): assert driver.cuEventQuery(event) in (0, 600)
target = made(driver.cuMemAlloc_v2, 64)
source = ctypes.create_string_buffer(64)
spare = [made(driver.cuMemAlloc_v2, 64) for _ in range(4)]
event = made(driver.cuEventCreate, 0)
pages = ctypes.create_string_buffer(3 * 4096)
page = ctypes.addressof(pages) + 4095 & ~4095
def free(): need(driver.cuMemFree_v2(spare.pop()))
def free_wrongly(): assert driver.cuMemFree_v2(0x7770000)
def wait(): need(driver.cuCtxSynchronize())
"""
COPY, ALLOC, CUDA_ALLOC, FREE = "cuMemcpyHtoD_v2", "cuMemAlloc_v2", "cudaMalloc", "cuMemFree_v2"

# What is done -> by function (calls that failed unnoticed, launches after them)
ERROR_SCENARIOS = {
    "launches go on": ("fail(); run(3)", {COPY: (1, 3)}),
    "nothing comes after": ("run(3); fail()", {}),
    "no launch comes after": ("fail(); wait(); succeed(); wait()", {}),
    "asked at once": ("fail(); ask(); run(3)", {}),
    "asked late": ("fail(); run(3); ask(); run()", {}),
    "peeked": ("fail(); peek(); run()", {}),
    "its name is asked for": ("fail(); name(); run()", {}),
    "tried again": ("fail(); succeed(); run()", {}),
    "tried again after something else": ("fail(); wait(); succeed(); run()", {COPY: (1, 1)}),
    "tried again once launches have gone on": ("fail(); run(); succeed(); run()", {COPY: (1, 2)}),
    "memory is freed": ("no_memory(); free(); run()", {}),
    "memory is freed at the end": ("no_memory(); run(2); free(); free()", {ALLOC: (1, 2)}),
    "again and again": ("[(fail(), run(2)) for _ in range(10)]", {COPY: (10, 20)}),
    "one after the other": ("fail(); run(); no_memory(); run(2)", {COPY: (1, 1), ALLOC: (1, 2)}),
    "the first at once followed by another": ("fail(); no_memory(); run()", {ALLOC: (1, 1)}),
    "of the runtime": ("fail_runtime(); run(2)", {CUDA_ALLOC: (1, 2)}),
    "frees in a row": ("free_wrongly(); free(); run()", {FREE: (1, 1)}),
    "not ready is no error": ("need(driver.cuEventRecord(event, 0)); query(); run()", {}),
    "already so": (
        "assert [driver.cuMemHostRegister_v2(page, 4096, 0) for _ in range(2)] == [0, 712]; run()",
        {}),
    "no such kernel": ("assert driver.cuModuleGetFunction(ref(out()), module_, b'none'); run()",
                       {}),
    "not supported": ("assert driver.cuMulticastCreate(ref(out()), None); run()", {}),
    "the device is reset": ("fail_runtime(); runtime.cudaDeviceReset(); run()", {}),
}


def ignored_in(process):
    """By function (calls, launches after them)."""
    found = {error["function"]: (error["calls"], error["launches"])
             for error in process["ignored_errors"]}
    assert len(found) == len(process["ignored_errors"])
    return found


def ignored(report):
    """The same, of the only process that is in the report."""
    processes = report["processes"]
    assert len(processes) <= 1
    return ignored_in(processes[0]) if processes else None


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    scenarios = {name: Scenario(actions) for name, (actions, _) in ERROR_SCENARIOS.items()}
    return by_scenario(Probe(tmp_path_factory.mktemp("errors")), scenarios, ERRORS, DIAGNOSE)


@pytest.mark.parametrize("name", ERROR_SCENARIOS)
def test_ignored_errors(failing, name):
    assert ignored_in(failing[name].process) == ERROR_SCENARIOS[name][1]


@pytest.mark.parametrize("api", ["auto", "driver", "runtime", "both"])
def test_what_asks_is_seen_at_each_layer(gpuprobe, api):
    """Whichever layer is watched: who asks the runtime need not have called it."""
    program = script(ERRORS + """
for asking in (ask, peek, name):
    assert runtime.cudaMalloc(ref(out()), 1 << 60)
    asking()
    need(runtime.cudaLaunchKernel(kernel, *[1 << 32 | 1, 1] * 2, None, 0, 0))
""")
    result = gpuprobe.run(*program, base=DIAGNOSE, args=["--api", api])
    assert result.process["account"]["asks_seen"] == 3
    assert sum(error["count"] for error in result.process["errors"]) == 3
    assert ignored(result.final) == {}


def test_launches_that_fail(gpuprobe_by):
    """A launch is no answer to one that has failed, but going on. Of 51 every fifth fails."""
    result = gpuprobe_by.run(*script(ERRORS + "run(51)"), base=DIAGNOSE,
                             env={"CUDA_SIM_FAIL": "cuLaunchKernel:%5=1"})
    assert ignored(result.final) == {"cuLaunchKernel": (10, 9 * 5 + 1)}


def test_threads_ignore_errors(gpuprobe):
    """Each thread has its own pending error, reported when it ends,
    even if another thread asks for its own."""
    result = gpuprobe.run(*script(ERRORS + """
import threading
context = made(driver.cuCtxGetCurrent)
def work(number):
    need(driver.cuCtxSetCurrent(context))
    fail()
    run(number)
    wait()
threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
ask()
fail()
run(100)
"""), base=DIAGNOSE)
    assert ignored(result.final) == {COPY: (8, 28 + 100)}


def test_pending_error_of_a_live_thread(gpuprobe, tmp_path):
    """Told while it is pending, once, and once when the thread has ended."""
    marker = tmp_path / "done"
    with gpuprobe.start(*script(ERRORS + f"""
fail()
run(5)
touch({str(tmp_path / "pending")!r})
wait_for({str(marker)!r})
"""), base=DIAGNOSE, args=["--interval", 0.2], interval=None) as probe:
        probe.wait_for(lambda report: ignored(report) == {COPY: (1, 5)})
        for _ in range(3):
            assert ignored(probe.report()) == {COPY: (1, 5)}
        marker.touch()
        result = probe.finish()
    assert ignored(result.final) == {COPY: (1, 5)}


def test_only_what_asks_costs_the_call(gpuprobe):
    """stat does not probe it; diagnose counts it."""
    program = script(ERRORS + "[(ask(), peek(), name()) for _ in range(7)]")
    counts = {}
    for base in (STAT, DIAGNOSE):
        process = gpuprobe.run(*program, base=base).process
        counts[base[0]] = process["account"]["asks_seen"]
        assert not {f["function"] for f in process["functions"]} & {
            "cudaGetLastError", "cuGetErrorString"}
    assert counts == {"stat": 0, "diagnose": 21}


# These ask after each launch, in vain as long as no call fails. When the first failure has put
# probes into the functions that ask, the second and the third are judged.
ASKING = "began = time.monotonic()\n" + ERRORS + """
asked = early = 0
def ask_in_vain():
    global asked, early
    run(); ask(); time.sleep(0.01)
    asked += 1
    early += time.monotonic() < began + 5
directory = sys.argv[1]
touch(f"{directory}/ready")
while not os.path.exists(f"{directory}/go"): ask_in_vain()
for _ in range(100): ask_in_vain()
fail(); run(3)
wait_for(f"{directory}/judged")
fail(); run(2)
fail(); ask(); run(2)
with open(f"{directory}/asked", "w") as told: print(asked, early, file=told)
"""


def wait_for_probes(running, state):
    """Until the functions that ask have their probes (in), or no longer have them (out)."""
    wait_until(lambda: f"probes of calls that ask for errors: {state}\n" in running.stderr,
               lambda: running.stderr)


def finish_asking(running, directory):
    """The process as judged, and how often it asked in vain: in all, and in its first 5 s."""
    (directory / "go").touch()
    wait_for_probes(running, "in")
    (directory / "judged").touch()
    process = running.finish().process
    assert sum(error["count"] for error in process["errors"]) == 3
    assert ignored_in(process) == {COPY: (1, 2)}
    return process, *map(int, (directory / "asked").read_text().split())


def test_what_asks_is_left_alone_while_nothing_fails(gpuprobe, tmp_path):
    with Background(*script(ASKING), tmp_path) as program:
        wait_for_file(tmp_path / "ready")
        with gpuprobe.start(base=DIAGNOSE, args=["-v", "-v", "-p", program.pid],
                            interval=None) as running:
            running.wait_until_watching()
            process, asked, _ = finish_asking(running, tmp_path)
    assert asked > 100
    assert process["account"]["asks_seen"] == 1  # the last


@pytest.mark.waits("for the end of the start, five seconds")
def test_the_start_is_looked_at_longer(gpuprobe, tmp_path):
    """For 5 s from the first call on."""
    with gpuprobe.start(*script(ASKING), tmp_path, base=DIAGNOSE, args=["-v", "-v"],
                        interval=None) as running:
        wait_for_probes(running, "out")
        process, asked, early = finish_asking(running, tmp_path)
    assert early <= process["account"]["asks_seen"] < asked
