# SPDX-License-Identifier: BSD-2-Clause
"""Virtual memory management: physical memory lives while a handle or a mapping refers to it;
ranges are kept apart."""
import re

import pytest

from lib import exact
from lib.probe import TEXT
from lib.script import memory_script

ALL = ["--top", "0"]
GRAIN = 2 << 20


def check(result):
    """Numbers, and that physical and mapped memory are what the simulator has at the end."""
    exact.check(result)
    memory, truth = result.process["memory"], result.truth.data["virtual"]
    assert memory["physical"]["live_bytes"] == truth["physical_bytes"]
    assert memory["physical"]["live_allocations"] == truth["physical_allocations"]
    return memory


def test_references(gpuprobe_by):
    """In every order: the memory goes with the last of its handles and mappings."""
    memory = check(gpuprobe_by.run(*memory_script("""
        start()
        a = reserve(16 * GRAIN)
        # released, then unmapped
        one = create(GRAIN)
        need(driver.cuMemMap(a, GRAIN, 0, one, 0))
        need(driver.cuMemRelease(one))
        need(driver.cuMemUnmap(a, GRAIN))
        # unmapped, then released
        two = create(2 * GRAIN)
        need(driver.cuMemMap(a, 2 * GRAIN, 0, two, 0))
        need(driver.cuMemUnmap(a, 2 * GRAIN))
        need(driver.cuMemRelease(two))
        # mapped twice, in parts
        three = create(4 * GRAIN)
        need(driver.cuMemMap(a, GRAIN, 0, three, 0))
        need(driver.cuMemMap(a + 4 * GRAIN, 2 * GRAIN, 2 * GRAIN, three, 0))
        need(driver.cuMemRelease(three))
        need(driver.cuMemUnmap(a, GRAIN))
        need(driver.cuMemUnmap(a + 4 * GRAIN, 2 * GRAIN))
        # one more handle
        four = create(GRAIN)
        need(driver.cuMemMap(a, GRAIN, 0, four, 0))
        again = made(driver.cuMemRetainAllocationHandle, a + 100)
        need(driver.cuMemRelease(four))
        need(driver.cuMemUnmap(a, GRAIN))
        need(driver.cuMemRelease(again))
        # of these something stays
        need(driver.cuMemMap(a, GRAIN, 0, create(3 * GRAIN), 0))
        five = create(GRAIN)
        need(driver.cuMemMap(a + GRAIN, GRAIN, 0, five, 0))
        need(driver.cuMemRelease(five))
        create(5 * GRAIN)
        need(driver.cuMemAddressFree(reserve(GRAIN), GRAIN))
    """), args=ALL))
    assert (memory["physical"]["allocations"], memory["physical"]["frees"]) == (7, 4)
    assert memory["physical"]["live_bytes"] == 9 * GRAIN
    assert (memory["mapped"]["allocations"], memory["mapped"]["live_allocations"]) == (7, 2)
    assert (memory["reserved"]["live_bytes"] == 16 * GRAIN
            and memory["live_at_exit_bytes"] == 9 * GRAIN)
    assert memory["device"]["live_bytes"] == 0


@pytest.mark.parametrize("count", [1, 3, 700])
def test_many_mappings_end_at_once(gpuprobe_by, count):
    memory = check(gpuprobe_by.run(*memory_script(f"""
        start()
        a = reserve({count + 2} * GRAIN)
        for n in range({count + 2}):
            handle = create(GRAIN)
            need(driver.cuMemMap(a + n * GRAIN, GRAIN, 0, handle, 0))
            need(driver.cuMemRelease(handle))
        need(driver.cuMemUnmap(a + GRAIN, {count} * GRAIN))
    """), args=ALL))
    assert memory["mapped"] == {**memory["mapped"], "allocations": count + 2, "frees": count,
                                "live_bytes": 2 * GRAIN, "live_allocations": 2}


def test_calls_that_fail(gpuprobe_by):
    """What a failing unmapping or release would have ended lives on, with its references."""
    memory = check(gpuprobe_by.run(*memory_script("""
        start()
        a = reserve(8 * GRAIN)
        one, two = create(2 * GRAIN), create(GRAIN)
        need(driver.cuMemMap(a, GRAIN, 0, one, 0))
        need(driver.cuMemMap(a + GRAIN, GRAIN, GRAIN, one, 0))
        need(driver.cuMemMap(a + 2 * GRAIN, GRAIN, 0, two, 0))
        assert driver.cuMemMap(a, GRAIN, 0, two, 0) == 1
        need(driver.cuMemRelease(one))
        need(driver.cuMemRelease(two))
        assert driver.cuMemUnmap(a, 3 * GRAIN) == 999
        assert driver.cuMemUnmap(a, GRAIN) == 999
        again = made(driver.cuMemRetainAllocationHandle, a)
        assert driver.cuMemRelease(again) == 999
        need(driver.cuMemRelease(again))
        assert driver.cuMemRelease(two) != 0
        assert driver.cuMemAddressFree(a, 8 * GRAIN) != 0
        need(driver.cuMemUnmap(a, GRAIN))
    """), args=ALL, env={"CUDA_SIM_FAIL": "cuMemUnmap:1=999,cuMemUnmap:2=999,cuMemRelease:3=999"}))
    assert (memory["physical"]["live_bytes"] == 3 * GRAIN
            and memory["mapped"]["live_allocations"] == 2)
    assert memory["physical"]["frees"] == 0


def test_imports(gpuprobe_by):
    """A handle of this process's own memory is one more reference; another's is not its memory."""
    memory = check(gpuprobe_by.run(*memory_script("""
        start()
        one = create(3 * GRAIN)
        file = ctypes.c_int()
        need(driver.cuMemExportToShareableHandle(ref(file), one, 1, 0))
        other = made(driver.cuMemImportFromShareableHandle, file.value, 1)
        need(driver.cuMemRelease(one))
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
    """), args=ALL))
    assert memory["physical"]["live_bytes"] == 3 * GRAIN and memory["imported"]["allocations"] == 0


def test_imports_of_another_process(gpuprobe_by, tmp_path):
    """How large they are their mappings tell."""
    ready, done = tmp_path / "ready", tmp_path / "done"
    result = gpuprobe_by.run(*memory_script(f"""
        import socket
        left, right = socket.socketpair()
        if os.fork() == 0:
            start()
            one = create(5 * GRAIN)
            file = ctypes.c_int()
            need(driver.cuMemExportToShareableHandle(ref(file), one, 1, 0))
            socket.send_fds(left, [b"x"], [file.value])
            wait_for({str(done)!r})
            sys.exit(0)
        start()
        _, files, _, _ = socket.recv_fds(right, 1, 1)
        handle = made(driver.cuMemImportFromShareableHandle, files[0], 1)
        a = reserve(8 * GRAIN)
        need(driver.cuMemMap(a, 2 * GRAIN, 0, handle, 0))
        need(driver.cuMemMap(a + 2 * GRAIN, 3 * GRAIN, 2 * GRAIN, handle, 0))
        need(driver.cuMemRelease(handle))
        need(driver.cuMemUnmap(a, 2 * GRAIN))
        touch({str(done)!r})
        os.wait()
    """), args=ALL)
    assert exact.lost(result.final) == {} and not ready.exists()
    importer = next(p for p in result.processes if p["memory"]["imported"]["allocations"])
    memory = importer["memory"]
    assert memory["imported"] == {**memory["imported"], "allocations": 1, "frees": 0,
                                  "live_bytes": 5 * GRAIN}
    assert memory["physical"]["live_bytes"] == 0 and memory["live_at_exit_bytes"] == 0
    exporter = next(p for p in result.processes if p["pid"] != importer["pid"])
    assert exporter["memory"]["physical"]["live_bytes"] == 5 * GRAIN


def test_an_import_that_two_threads_map(gpuprobe, imported):
    """Its size grows once for both."""
    result = gpuprobe.run(*memory_script(f"""
        import subprocess
        start()
        file = ctypes.c_int()
        need(driver.cuMemExportToShareableHandle(ref(file), create(64 * GRAIN), 1, 0))
        need(subprocess.run([{str(imported)!r}, str(file.value), "8000"],
                            pass_fds=[file.value]).returncode)
    """), args=ALL)
    assert exact.lost(result.final) == {}
    memory = next(p["memory"] for p in result.processes if p["memory"]["imported"]["allocations"])
    assert memory["imported"] == {**memory["imported"], "allocations": 8000, "frees": 7999,
                                  "live_bytes": 64 * GRAIN}


def test_devices(gpuprobe):
    """Physical memory is of the device that its properties name; the host's is of none."""
    result = gpuprobe.run(*memory_script("""
        start()
        create(GRAIN, 1)
        create(2 * GRAIN, 0)
        made(driver.cuMemCreate, 4 * GRAIN, physical_properties(0, 2), 0)
    """), args=ALL, env={"CUDA_SIM_DEVICES": 2})
    check(result)
    assert {(a["bytes"] // GRAIN, a["device"])
            for a in result.process["memory"]["live"]} == {(1, 1), (2, 0), (4, None)}
    live = {d["device"]: d["live_bytes"] for d in result.process["devices"] if d["live_bytes"]}
    assert live == {0: 2 * GRAIN, 1: GRAIN, None: 4 * GRAIN}


EXPANDABLE = """
start()
# As PyTorch's expandable segments: a range for all of the device, grown by handles mapped side by
# side, shrunk from anywhere, several pages unmapped by one call or each by its own.
class Segment:
    def __init__(self, pages):
        self.base, self.pages = reserve(pages * GRAIN), {}
    def grow(self, first, count):
        for page in range(first, first + count):
            handle = create(GRAIN)
            need(driver.cuMemMap(self.base + page * GRAIN, GRAIN, 0, handle, 0))
            self.pages[page] = handle
        access = packed("=III", 1, 0, 3)
        need(driver.cuMemSetAccess(self.base + first * GRAIN, count * GRAIN, access, 1))
    def shrink(self, first, count):
        wait()
        for page in range(first, first + count):
            need(driver.cuMemUnmap(self.base + page * GRAIN, GRAIN))
            need(driver.cuMemRelease(self.pages.pop(page)))

small, large = Segment(100), Segment(400)
for step in range(20):
    small.grow(step * 5, 3)
    large.grow(step * 20, 20 - step)
for step in range(10):
    large.shrink(step * 20, 15 - step)
small.shrink(0, 3)
small.grow(0, 2)
"""


def test_expandable_segments(gpuprobe_by):
    memory = check(gpuprobe_by.run(*memory_script(EXPANDABLE), args=ALL))
    pages = 20 * 3 + sum(range(1, 21)) - sum(range(6, 16)) - 3 + 2
    assert memory["physical"]["live_bytes"] == pages * GRAIN == memory["mapped"]["live_bytes"]
    assert memory["reserved"]["live_bytes"] == 500 * GRAIN
    # The memory that shows is physical: nothing else was allocated.
    assert memory["device"]["allocations"] == 0 and memory["live_at_exit_bytes"] == pages * GRAIN


def test_threads(gpuprobe_by):
    """Handles come back at once, to whichever thread asks next."""
    check(gpuprobe_by.run(*memory_script("""
        import threading
        context = start()

        def work(number):
            need(driver.cuCtxSetCurrent(context))
            a = reserve(8 * GRAIN)
            for turn in range(300):
                handles = [create(GRAIN) for _ in range(3)]
                for n, handle in enumerate(handles):
                    need(driver.cuMemMap(a + n * GRAIN, GRAIN, 0, handle, 0))
                    if turn % 2:
                        need(driver.cuMemRelease(handle))
                need(driver.cuMemUnmap(a, 3 * GRAIN))
                if not turn % 2:
                    for handle in handles:
                        need(driver.cuMemRelease(handle))
            if number % 2:
                need(driver.cuMemMap(a, GRAIN, 0, create(GRAIN), 0))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    """), args=ALL))


def test_context_leaves_it(gpuprobe):
    """Physical memory does not go with a context."""
    memory = check(gpuprobe.run(*memory_script("""
        start()
        a, handle = reserve(GRAIN), create(GRAIN)
        need(driver.cuMemMap(a, GRAIN, 0, handle, 0))
        need(driver.cuDevicePrimaryCtxReset_v2(0))
    """), args=ALL))
    assert memory["physical"]["live_bytes"] == GRAIN


def test_text(gpuprobe):
    result = gpuprobe.run(*memory_script("""
        start()
        a, handle = reserve(4 * GRAIN), create(GRAIN)
        need(driver.cuMemMap(a, GRAIN, 0, handle, 0))
        made(driver.cuMemAlloc_v2, 1000)
    """), base=TEXT)
    assert re.search(r"""
        0x[0-9a-f]{16}: 2097152 Bytes physical live at exit
        0x[0-9a-f]{16}: 1000 Bytes live at exit
        total: 2098152 Bytes in 2 allocations live at exit
        of these: device 1000 Bytes in 1 allocation, physical 2097152 Bytes in 1 allocation
        reserved addresses: 8388608 Bytes in 1 allocation live at exit \(1 reserved, 0 freed\)
        mapped of these: 2097152 Bytes in 1 mapping
""", result.stdout), result.stdout
