# SPDX-License-Identifier: BSD-2-Clause
"""Capacities that are too small: each loss is counted, and what remains is right."""
import re

from lib import exact
from lib.paths import workload
from lib.probe import TEXT, wait_for_file
from lib.records import Records
from lib.script import script
from lib.steps import Steps



def test_kernels(gpuprobe_by):
    result = gpuprobe_by.run(workload("launch"), "--kernels", 30, "--launches", 3000,
                             args=["--max-kernels", 10])
    seen, true = exact.launches(result.process), result.truth.launches()
    assert seen.pop(None) == 2000 and len(seen) == 10 and seen.items() <= true.items()
    assert exact.lost(result.final) == {"kernel_map_full": 2000}
    assert result.process["launches"] == 3000


def test_kernels_make_room_when_they_go(gpuprobe):
    """Handles that were unloaded do not count for ever."""
    with Steps(gpuprobe, """
        start()
        for number in range(12):
            loaded, handles = module(*[f"kernel_{number}_{k}" for k in range(5)])
            for handle in handles:
                need(launch(handle))
            need(driver.cuModuleUnload(loaded))
            touch(f"{directory}/gone{number}")
            step()
    """, args=["--max-kernels", 30]) as steps:
        for number in range(12):
            wait_for_file(steps.directory / f"gone{number}")
            # Handles that went are left for one more reading.
            for _ in range(2):
                steps.later_report()
            steps.go_on()
        result = steps.running.finish()
    exact.check(result)


def test_processes(gpuprobe_by, tmp_path):
    """The first two are complete; gpuprobe says that there were others,
    which ended while the first two were there."""
    calls = script("""
        start()
        addresses = [made(driver.cuMemAlloc_v2, 1000) for _ in range(11)]
        for address in addresses[1:]:
            need(driver.cuMemFree_v2(address))
        _, (kernel,) = module("kernel")
        for _ in range(20):
            need(launch(kernel))
        touch(sys.argv[1])
        wait_for(sys.argv[2])
    """)
    result = gpuprobe_by.run(*script(f"""
        import subprocess
        called = [{str(tmp_path)!r} + "/%d" % number for number in range(5)]
        go = {str(tmp_path)!r} + "/go"
        first = [subprocess.Popen([*{calls!r}, path, go]) for path in called[:2]]
        for path in called[:2]:
            wait_for(path)
        for path in called[2:]:
            need(subprocess.run([*{calls!r}, path, path]).returncode)
        touch(go)
        sys.exit(any([child.wait() for child in first]))
    """), args=["--max-processes", 2])
    assert exact.lost(result.final).keys() == {"process_table_full"}
    assert len(result.processes) == 2
    for process in result.processes:
        truth, = [t for t in result.truths if t.pid == process["pid"]]
        exact.check_process(process, truth)
        assert (process["launches"], process["memory"]["live_at_exit_bytes"]) == (20, 1000)
    # 21 allocations and frees, 1 name and 20 launches of each of three.
    assert exact.lost(result.final)["process_table_full"] >= 3 * 42


def test_processes_that_are_over_make_room(gpuprobe_by):
    """More processes than slots, two at a time."""
    with Steps(gpuprobe_by, f"""
        import subprocess
        for number in range(8):
            need(subprocess.run([{str(workload("forker"))!r}, "--processes", "2",
                                 "--launches", "10"],
                                stdout=subprocess.DEVNULL).returncode)
            touch(f"{{directory}}/over{{number}}")
            step()
    """, args=["--max-processes", 5], interval=0) as steps:
        for number in range(8):
            wait_for_file(steps.directory / f"over{number}")
            Records(steps.running.pid).wait_until_free()
            steps.go_on()
        result = steps.running.finish()
    exact.check(result)
    assert len(result.processes) == 16


def test_streams_with_copies(gpuprobe_by, tmp_path):
    go = tmp_path / "go"
    with gpuprobe_by.start(*script(f"""
        start()
        device = made(driver.cuMemAlloc_v2, 4096)
        host = made(driver.cuMemHostAlloc, 4096, 0)
        for number in range(5):
            stream = made(driver.cuStreamCreate, 1)
            for _ in range(3):
                need(driver.cuMemcpyHtoDAsync_v2(device, host, 100, stream))
        wait_for({str(go)!r})
    """), args=["--max-inflight", 2]) as running:
        report = running.wait_for(lambda r: r["processes"] and
                                  exact.copies(r["processes"][0]) == {("H2D", "async"): (15, 1500)})
        assert exact.in_flight(report["processes"][0]) == {"H2D": (6, 600)}
        assert exact.lost(report) == {"inflight_map_full": 9}
        go.touch()
        result = running.finish()
    # The copies themselves are all counted.
    assert (exact.copies(result.last_seen(result.truth.pid)) == result.truth.copies()
            == {("H2D", "async"): (15, 1500)})


def test_losses_in_the_text(gpuprobe):
    result = gpuprobe.run(workload("launch"), "--kernels", 30, "--launches", 300,
                          args=["--max-kernels", 10], base=TEXT)
    assert re.search(r"\nlost:\n        launches of kernels beyond --max-kernels: 200\n",
                     result.stdout)
    result = gpuprobe.run(workload("memory"), "--pairs", 0, "--keep", 30,
                          args=["--max-allocations", 10], base=TEXT)
    assert "\nlost:\n        allocations beyond --max-allocations: 20\n" in result.stdout
