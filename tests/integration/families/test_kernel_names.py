# SPDX-License-Identifier: BSD-2-Clause
"""Kernel names: right for every launch, also where handles come back as other kernels'."""
import re

import pytest

from lib import exact
from lib.paths import workload
from lib.probe import TEXT
from lib.script import script

# Mangled, in full, and as the text report of --cudatrace shows it.
NAMES = [
    ("_Z12saxpy_kernelPfS_fi", "saxpy_kernel(float*, float*, float, int)", "saxpy_kernel"),
    ("_ZN2at6native29vectorized_elementwise_kernelILi4EPFffEEEviT0_",
     "void at::native::vectorized_elementwise_kernel<4, float (*)(float)>(int, float (*)(float))",
     "vectorized_elementwise_kernel"),
    ("_ZN12_GLOBAL__N_16reduceEPKd", "(anonymous namespace)::reduce(double const*)", "reduce"),
    ("plain_kernel", "plain_kernel", "plain_kernel"),
]


@pytest.mark.parametrize("layer", ["driver", "runtime"])
def test_reloads(gpuprobe_by, layer):
    result = gpuprobe_by.run(workload("modules"), "--api", layer, "--rounds", 60, "--kernels", 5,
                             "--launches", 7)
    exact.check(result)
    launches = exact.launches(result.process)
    assert len(launches) == 300
    assert all(launches[f"round_{n}_kernel_{k}"] == 7 + k for n in range(60) for k in range(5))


@pytest.mark.parametrize("layer", ["driver", "runtime"])
def test_reloads_while_reports_are_made(gpuprobe, layer):
    """Readings of the maps fall into every moment of the life of handles."""
    with gpuprobe.start(workload("modules"), "--api", layer, "--rounds", 1500, "--kernels", 3,
                        "--launches", 30, interval=0.02) as running:
        result = running.finish(60)
    exact.check(result)
    before = {}
    for report in result.reports:
        for process in report["processes"]:
            # A kernel that is seen for the first time while the maps are read may be nameless once.
            now = {k["name"]: k["launches"] for k in process["kernels"] if k["name"]}
            assert all(now.get(name, 0) >= count
                       for name, count in before.items()), "a count went back"
            before = now


def test_the_same_names_again(gpuprobe_by):
    """Counts go on under the name, whichever handle it has now."""
    result = gpuprobe_by.run(*script("""
        start()
        for number in range(40):
            first, handles = module("alpha", "beta")
            if number % 2:
                second, others = module("beta", "gamma")
                handles += others
            for handle in handles:
                need(launch(handle))
            need(driver.cuModuleUnload(first))
            if number % 2:
                need(driver.cuModuleUnload(second))
    """))
    exact.check(result)
    assert exact.launches(result.process) == {"alpha": 40, "beta": 60, "gamma": 20}


def test_a_module_that_stays(gpuprobe):
    """An unload elsewhere makes no difference to the handles of other modules."""
    result = gpuprobe.run(*script("""
        start()
        stays, (old,) = module("stays")
        for number in range(30):
            goes, (new,) = module(f"goes_{number}")
            need(launch(old))
            need(launch(new))
            need(driver.cuModuleUnload(goes))
            need(launch(old))
    """))
    exact.check(result)
    assert exact.launches(result.process)["stays"] == 60


def test_one_kernel_by_two_handles(gpuprobe):
    """A CUkernel and its CUfunction are one kernel to a reader."""
    result = gpuprobe.run(*script("""
        start()
        library = made(driver.cuLibraryLoadData, ptx("twice"), None, None, 0, None, None, 0)
        kernel = made(driver.cuLibraryGetKernel, library, b"twice")
        function = made(driver.cuKernelGetFunction, kernel)
        for _ in range(4):
            need(launch(kernel))
            need(launch(function))
        need(driver.cuLibraryUnload(library))
    """))
    exact.check(result)
    assert exact.launches(result.process) == {"twice": 8}


def test_threads_that_reload(gpuprobe_by):
    """Four threads load, launch and unload at once; handles wander between them."""
    result = gpuprobe_by.run(*script("""
        import threading
        context = start()
        def work(thread):
            need(driver.cuCtxSetCurrent(context))
            for number in range(50):
                loaded, handles = module(*[f"thread_{thread}_{number}_{k}" for k in range(3)])
                for k, handle in enumerate(handles):
                    for _ in range(k + 1):
                        need(launch(handle))
                need(driver.cuModuleUnload(loaded))
        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    """))
    exact.check(result)


@pytest.mark.parametrize("length", [255, 256, 257, 1000, 4096])
def test_long_names(gpuprobe, length):
    result = gpuprobe.run(workload("launch"), "--name-length", length, "--kernels", 3, "--launches",
                          99)
    exact.check(result)
    assert {len(name) for name in exact.launches(result.process)} == {length}


def test_the_longest_names_on_each_path(gpuprobe_by):
    result = gpuprobe_by.run(workload("launch"), "--name-length", 4096, "--kernels", 40,
                             "--launches", 400)
    exact.check(result)


def test_demangled_names(gpuprobe):
    mangled = [name for name, _, _ in NAMES]
    result = gpuprobe.run(*script(f"""
        start()
        loaded, handles = module(*{mangled!r})
        for number, handle in enumerate(handles):
            for _ in range(number + 1):
                need(launch(handle))
    """))
    assert {k["name"]: (k["short_name"], k["launches"]) for k in result.process["kernels"]} == \
        {full: (short, number + 1) for number, (_, full, short) in enumerate(NAMES)}
    assert {k["label"] for k in result.process["kernels"]} == {
        "saxpy_kernel", "vectorized_elementwise_kernel<4, float>", "reduce", "plain_kernel"}


ONE_LABEL = ["_Z1kIiEvPT_", "_Z1kIiEvPKT_", "_Z1kIiEvS_"]
# The marks are hashes of the mangled names. The kernel that gpuprobe sees first has none.
MARKED = {"k<int> #100c", "k<int> #0440", "k<int> #2b31"}


def assert_labels(labels):
    assert len(set(labels)) == 3 and "k<int>" in labels
    assert set(labels) - {"k<int>"} < MARKED


def test_kernels_of_one_label(gpuprobe):
    """They get marks, and a kernel keeps its label while it is watched and after its end."""
    result = gpuprobe.run(*script(f"""
        import time
        start()
        loaded, handles = module(*{ONE_LABEL!r})
        for handle in handles:
            need(launch(handle))
            time.sleep(0.1)
        need(driver.cuModuleUnload(loaded))
        loaded, handles = module(*{ONE_LABEL[::-1]!r})
        for handle in handles:
            need(launch(handle))
    """), args=["--display-interval", "0.05"])
    labels = {}
    for report in result.reports:
        for process in report["processes"]:
            for kernel in process["kernels"]:
                if kernel["name"]:
                    assert labels.setdefault(kernel["name"], kernel["label"]) == kernel["label"]
    assert_labels(labels.values())
    assert {k["launches"] for k in result.process["kernels"]} == {2}


@pytest.mark.parametrize("command", ["stat", "trace"])
def test_labels_in_the_text(gpuprobe, command):
    program = script(f"""
        start()
        loaded, handles = module(*{ONE_LABEL!r})
        for handle in handles:
            need(launch(handle))
    """)
    text, full = (gpuprobe.run(*program, base=[command], args=option).stdout
                  for option in ([], ["--full-names"]))
    assert_labels(re.findall(r" (k<int>(?: #\w+)?)(?= grid|$)", text, re.MULTILINE))
    assert " void k<int>(int const*)" in full and "<int> #" not in full


@pytest.mark.parametrize("option", [[], ["--full-names"]])
def test_names_in_the_text(gpuprobe, option):
    result = gpuprobe.run(*script(f"""
        start()
        loaded, handles = module(*{[name for name, _, _ in NAMES]!r})
        for handle in handles:
            need(launch(handle))
    """), base=TEXT, args=option)
    for _, full, short in NAMES:
        assert f" ({full if option else short}) -> 1\n" in result.stdout
