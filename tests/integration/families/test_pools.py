# SPDX-License-Identifier: BSD-2-Clause
"""Memory pools: the used bytes of each are exact; the reserved bytes are estimated unless
the program asks."""
import re

from lib import exact
from lib.probe import TEXT
from lib.script import memory_script

ALL = ["--top", "0"]
STEP = 32 << 20  # that pools reserve in; sizes here are multiples of it


def check(result):
    """Numbers, and each pool that has bytes by its handle."""
    exact.check(result)
    process, truth = result.process, result.truth
    seen = {pool["handle"]: (pool["device"], pool["used_bytes"], pool["reserved_bytes"],
                             pool["release_threshold"]) for pool in process["memory"]["pools"]
            if pool["handle"] and pool["reserved_bytes"]}
    true = {pool["handle"]: (pool["device"], pool["used_bytes"], pool["reserved_bytes"],
                             pool["release_threshold"]) for pool in truth.data["pools"]
            if pool["reserved_bytes"]}
    assert seen.items() <= true.items()
    assert exact.pools(process) == truth.pools()
    return {pool["handle"]: pool for pool in process["memory"]["pools"]}


def test_reserved(gpuprobe_by):
    """It rises with what is used, and falls by trims, and by waits down to the threshold."""
    pools = check(gpuprobe_by.run(*memory_script("""
        STEP = 32 << 20
        start()
        a, b, c = new_pool(), new_pool(), new_pool()
        take = lambda pool, size: made(driver.cuMemAllocFromPoolAsync, size * STEP, pool, 0)
        give = lambda address: need(driver.cuMemFreeAsync(address, 0))
        threshold(b, 20 * STEP)
        for pool in (a, b, c):
            first = take(pool, 64)
            take(pool, 2)
            give(first)
        need(driver.cuMemPoolTrimTo(c, 10 * STEP))
        wait()
        take(c, 30)
        wait()
        give(take(c, 5))
        for pool in (a, b):
            give(take(pool, 3))
    """), args=ALL))
    assert len(pools) == 3
    assert all(pool["reserved_is_estimate"] for pool in pools.values())
    assert sorted(pool["reserved_bytes"] // STEP for pool in pools.values()) == [5, 20, 37]


def test_waits_of_every_kind(gpuprobe):
    check(gpuprobe.run(*memory_script("""
        STEP = 32 << 20
        start()
        stream = made(driver.cuStreamCreate, 1)
        event = made(driver.cuEventCreate, 0)
        pools = [new_pool() for _ in range(4)]
        waits = [lambda: None, lambda: need(driver.cuStreamSynchronize(stream)),
                 lambda: need(driver.cuEventSynchronize(event)),
                 lambda: need(runtime.cudaDeviceSynchronize())]
        need(driver.cuEventRecord(event, stream))
        for pool, ends in reversed(list(zip(pools, waits))):
            need(driver.cuMemFreeAsync(made(driver.cuMemAllocFromPoolAsync, 8 * STEP, pool, stream),
                                       stream))
            made(driver.cuMemAllocFromPoolAsync, STEP, pool, stream)
            ends()
    """), args=ALL))


def test_the_device_and_its_pool(gpuprobe_by):
    """A call that names no pool allocates from the device's, whose handle may be learned late;
    another pool can be made current."""
    result = gpuprobe_by.run(*memory_script("""
        STEP = 32 << 20
        contexts = [start(device) for device in (0, 1)]
        allocate = lambda size: made(driver.cuMemAllocAsync, size * STEP, 0)
        allocate(1)                                  # of device 1
        need(driver.cuCtxSetCurrent(contexts[0]))
        allocate(2)
        default = made(driver.cuDeviceGetDefaultMemPool, 0)
        made(driver.cuMemAllocFromPoolAsync, 4 * STEP, default, 0)
        mine = new_pool(0)
        need(driver.cuDeviceSetMemPool(0, mine))
        allocate(8)
        assert made(driver.cuDeviceGetMemPool, 0) == mine
        other = new_pool(1)
        need(driver.cuDeviceSetMemPool(1, other))
        need(driver.cuCtxSetCurrent(contexts[1]))
        allocate(16)
        made(runtime.cudaMallocAsync, 32 * STEP, 0)
        need(driver.cuDeviceSetMemPool(1, made(driver.cuDeviceGetDefaultMemPool, 1)))
        allocate(64)
        # Destroyed with live memory in it: the device falls back to its own.
        need(driver.cuMemPoolDestroy(mine))
        need(driver.cuCtxSetCurrent(contexts[0]))
        allocate(128)
    """), args=ALL, env={"CUDA_SIM_DEVICES": 2})
    pools = check(result)
    assert {(p["device"], p["used_bytes"] // STEP)
            for p in pools.values()} == {(0, 134), (1, 65), (0, 8), (1, 48)}
    assert [p["used_bytes"] // STEP for p in pools.values() if p["destroyed"]] == [8]
    assert {d["device"]: d["live_bytes"] // STEP
            for d in result.process["devices"]} == {0: 142, 1: 113}


def test_told(gpuprobe_by):
    """What the driver answers is the truth, until something happens."""
    pools = check(gpuprobe_by.run(*memory_script("""
        STEP = 32 << 20
        start()
        a, b = new_pool(), new_pool()
        threshold(a, ALL_BYTES)
        need(driver.cuMemFreeAsync(made(driver.cuMemAllocFromPoolAsync, 10 * STEP, a, 0), 0))
        made(driver.cuMemAllocFromPoolAsync, 2 * STEP, a, 0)
        made(driver.cuMemAllocFromPoolAsync, 3 * STEP, b, 0)
        assert attribute(a, RESERVED) == 10 * STEP and attribute(a, USED) == 2 * STEP
        assert attribute(b, USED) == 3 * STEP
    """), args=ALL))
    assert [p["reserved_is_estimate"]
            for p in sorted(pools.values(), key=lambda p: -p["reserved_bytes"])] == [False, True]


def test_destroyed_and_made_again(gpuprobe_by):
    """Handles come back as other pools; what fails changes nothing."""
    result = gpuprobe_by.run(*memory_script("""
        start()
        for turn in range(20):
            pool = new_pool()
            address = made(driver.cuMemAllocFromPoolAsync, 5000 + turn, pool, 0)
            if turn % 2:
                need(driver.cuMemFreeAsync(address, 0))
                need(driver.cuMemPoolDestroy(pool))
            else:
                need(driver.cuMemPoolDestroy(pool))
                need(driver.cuMemFree_v2(address))
        pool = new_pool()
        made(driver.cuMemAllocFromPoolAsync, 100, pool, 0)
        assert driver.cuMemPoolDestroy(pool) == 999
        assert driver.cuMemPoolDestroy(made(driver.cuDeviceGetDefaultMemPool, 0)) != 0
        assert driver.cuMemFreeAsync(made(driver.cuMemAllocAsync, 200, 0), 0) == 999
    """), args=ALL, env={"CUDA_SIM_FAIL": "cuMemPoolDestroy:21=999,cuMemFreeAsync:11=999"})
    pools = check(result)
    assert sorted(p["used_bytes"] for p in pools.values()) == [100, 200]
    assert not any(p["destroyed"] for p in pools.values())
    assert result.process["objects"]["pool"]["live"] == 1


def test_threads(gpuprobe_by):
    check(gpuprobe_by.run(*memory_script("""
        import threading
        context = start()
        pools = [new_pool() for _ in range(3)]
        for pool in pools:
            threshold(pool, ALL_BYTES)

        def work(number):
            need(driver.cuCtxSetCurrent(context))
            for turn in range(400):
                pool = pools[(number + turn) % 3]
                address = made(driver.cuMemAllocFromPoolAsync, 1000 + turn, pool, 0)
                if turn % 50:
                    need(driver.cuMemFreeAsync(address, 0))

        # Once all is reserved that will be needed, threads do not change it.
        for address in [made(driver.cuMemAllocFromPoolAsync, 1 << 24, pool, 0) for pool in pools]:
            need(driver.cuMemFreeAsync(address, 0))
        threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    """), args=ALL))


def test_context_leaves_it(gpuprobe):
    """What comes from a pool does not go with the context."""
    check(gpuprobe.run(*memory_script("""
        start()
        made(driver.cuMemAllocAsync, 5000, 0)
        made(driver.cuMemAlloc_v2, 3000)
        need(driver.cuDevicePrimaryCtxReset_v2(0))
    """), args=ALL))


def test_into_a_graph(gpuprobe_by):
    """A captured allocation is memory of the graph's runs: it counts as no allocation,
    and its free is not an odd one."""
    result = gpuprobe_by.run(*memory_script("""
        start()
        stream = made(driver.cuStreamCreate, 1)
        need(driver.cuStreamBeginCapture_v2(stream, 0))
        one = made(driver.cuMemAllocAsync, 5000, stream)
        two = made(driver.cuMemAllocAsync, 6000, stream)
        need(driver.cuMemFreeAsync(one, stream))
        graph = out()
        need(driver.cuStreamEndCapture(stream, ref(graph)))
        executable = made(driver.cuGraphInstantiateWithFlags, graph.value, 0)
        need(driver.cuGraphLaunch(executable, stream))
        need(driver.cuStreamSynchronize(stream))
        need(driver.cuMemFreeAsync(two, stream))
        made(driver.cuMemAllocAsync, 777, stream)
    """), args=ALL)
    assert exact.lost(result.final) == {}
    memory, captured = result.process["memory"], result.truth.data["captured"]
    assert (memory["captured_allocations"], memory["captured_frees"]) == (
        captured["allocations"], captured["frees"])
    assert memory["pool"] == {**memory["pool"], "allocations": 1, "live_bytes": 777}
    assert memory["unknown"]["unknown_frees"] == 0 == memory["double_frees"]


def test_graphs_whose_memory_comes_again(gpuprobe_by):
    """Each run of a graph may allocate memory that was freed outside of it;
    a graph may reuse the addresses of an earlier one."""
    result = gpuprobe_by.run(*memory_script("""
        start()
        stream = made(driver.cuStreamCreate, 1)
        def captured(frees):
            need(driver.cuStreamBeginCapture_v2(stream, 0))
            address, graph = made(driver.cuMemAllocAsync, 5000, stream), out()
            if frees:
                need(driver.cuMemFreeAsync(address, stream))
            need(driver.cuStreamEndCapture(stream, ref(graph)))
            return address, graph.value
        before = set()
        for _ in range(3):
            address, graph = captured(True)
            need(driver.cuGraphDestroy(graph))
            before.add(address)
        assert len(before) == 1
        address, graph = captured(False)
        executable = made(driver.cuGraphInstantiateWithFlags, graph, 0)
        for turn in range(4):
            need(driver.cuGraphLaunch(executable, stream))
            need(driver.cuMemFree_v2(address) if turn % 2
                 else driver.cuMemFreeAsync(address, stream))
        assert driver.cuMemFree_v2(address) == 1
    """), args=ALL)
    assert exact.lost(result.final) == {}
    memory = result.process["memory"]
    assert (memory["captured_allocations"], memory["captured_frees"]) == (4, 3)
    assert memory["double_frees"] == 0 and memory["unknown"]["unknown_frees"] == 0
    assert memory["unknown"]["replaced"] == 0


def test_text_and_metrics(gpuprobe):
    body = """
        start()
        pool = new_pool()
        need(driver.cuMemFreeAsync(made(driver.cuMemAllocFromPoolAsync, 5000, pool, 0), 0))
        made(driver.cuMemAllocFromPoolAsync, 3000, pool, 0)
    """
    result = gpuprobe.run(*memory_script(body), base=TEXT)
    assert re.search(r"        pool 0x[0-9a-f]+ of device 0: 3000 Bytes used, "
                     r"33554432 Bytes reserved \(estimate\)\n", result.stdout), result.stdout
