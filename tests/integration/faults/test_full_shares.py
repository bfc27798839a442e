# SPDX-License-Identifier: BSD-2-Clause
"""
Programs that fill the maps which all processes share (programs/made_up.c): another one's entries
have room beside them, and what has no entry is in its process's sums, exactly.
"""
import subprocess

import pytest

from lib.script import PROGRAMS

LAUNCHES = 1000  # of the usual program, of 20 kernels


@pytest.fixture(scope="module", name="made_up")
def built(tmp_path_factory):
    """programs/made_up.c with its libcuda."""
    folder = tmp_path_factory.mktemp("made_up")
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", folder / "libcuda.so.1",
                    PROGRAMS / "made_up_driver.c", "-Wl,-soname,libcuda.so.1"], check=True)
    subprocess.run(["gcc", "-O1", "-o", folder / "made_up", PROGRAMS / "made_up.c", f"-L{folder}",
                    "-l:libcuda.so.1", "-Wl,-rpath,$ORIGIN"], check=True)
    return folder / "made_up"


def run(gpuprobe, made_up, what, args, number=1):
    """The final report of `number` programs that make things up,
    and of the usual one that runs beside the last of them."""
    result = gpuprobe.run("sh", "-c", f"""
        set -e
        for number in $(seq {number}); do
            mkfifo go$number said$number
            {made_up} {what} wait < go$number > said$number &
            exec 4<> go$number
            read word < said$number
        done
        {made_up} usual {LAUNCHES}
        for number in $(seq {number}); do echo > go$number; done
        wait
    """, args=args, cwd=gpuprobe.directory)
    processes = result.processes
    usual = [process for process in processes
             if sum(kernel["launches"] for kernel in process["kernels"]) == LAUNCHES
             and process["memory"]["device"]["frees"] == 1]
    assert len(usual) == 1 and len(processes) == number + 1
    return [process for process in processes if process is not usual[0]], usual[0], result.final


def is_whole(usual):
    """The usual program's numbers, each by its name."""
    launches = {kernel["name"]: kernel["launches"] for kernel in usual["kernels"]}
    calls = {function["function"]: function["calls"] for function in usual["functions"]}
    return (launches == {f"kernel_{number:02}(float*, int)": LAUNCHES // 20 for number in range(20)}
            and calls["cuMemcpyHtoD_v2"] == LAUNCHES and calls["cuCtxSynchronize"] == 63
            and not usual["errors"])


def test_kernels(gpuprobe_by, made_up):
    (other,), usual, final = run(gpuprobe_by, made_up, "kernels 6000", ["--max-kernels", 4096])
    assert other["launches"] == 6000 == sum(kernel["launches"] for kernel in other["kernels"])
    assert usual["launches"] == LAUNCHES and is_whole(usual)
    assert final["lost"]["kernel_map_full"] == 6000 - 3072


def test_kernels_of_many(gpuprobe, made_up):
    """Twenty programs of which none has much: all sums are exact."""
    others, usual, _ = run(gpuprobe, made_up, "kernels 400", ["--max-kernels", 4096], number=20)
    assert [other["launches"] for other in others] == [400] * 20
    assert usual["launches"] == LAUNCHES


def test_errors(gpuprobe_by, made_up):
    (other,), usual, _ = run(gpuprobe_by, made_up, "errors 3000", [])
    assert sum(error["count"] for error in other["errors"]) == 3000
    assert [error["count"] for error in other["errors"]
            if error["function"] == "other"] == [3000 - 256]
    assert is_whole(usual)


def test_allocations(gpuprobe_by, made_up):
    (other,), usual, final = run(gpuprobe_by, made_up, "memory 9000", ["--max-allocations", 8192])
    device = other["memory"]["device"]
    assert (device["allocations"], device["live_allocations"]) == (9000, 6144)
    assert final["lost"]["allocation_map_full"] == 9000 - 6144
    assert (usual["memory"]["device"]["allocations"] == 1
            and usual["memory"]["unknown"]["frees"] == 0 and is_whole(usual))


def ended(report):
    """Those that made kernels up and have ended."""
    return {process["pid"] for process in report["processes"]
            if process["ended"] and process["launches"] == 3000}


def test_room_comes_back(gpuprobe, made_up):
    """One after the other, with reports between: what an ended one had is there for the next."""
    steps = "; ".join(f"{made_up} memory 6000; {made_up} kernels 3000; "
                      f"until test -e go{number}; do sleep 0.05; done" for number in range(3))
    with gpuprobe.start("sh", "-c", steps, cwd=gpuprobe.directory,
                        args=["--max-kernels", 4096, "--max-allocations", 8192]) as running:
        seen = set()
        for number in range(3):
            seen |= running.find(lambda report: ended(report) - seen)
            for _ in range(15):  # its entries go in readings after the one that shows its end
                running.report()
            (gpuprobe.directory / f"go{number}").touch()
        result = running.finish()
    assert not any(result.final["lost"].values())
