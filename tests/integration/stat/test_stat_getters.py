# SPDX-License-Identifier: BSD-2-Clause
"""Getters in `gpuprobe stat`: functions that only ask, which are not probed unless asked for."""
import pytest

from lib.profile_runs import stat
from lib.script import script

GETTERS = script("""
start()
module_, (kernel,) = module("kernel")
for _ in range(5): need(runtime.cudaGetDevice(ref(out())))
for _ in range(6): need(driver.cuCtxGetCurrent(ref(out())))
for _ in range(7):
    need(driver.cuDeviceGetAttribute(ref(out()), 16, 0))
    launch(kernel)
assert driver.cuPointerGetAttribute(ref(out()), 2, 0x10)
launch(kernel)
""")


def getter_calls(process):
    return {f["function"]: f["calls"] for f in process["functions"] if "Get" in f["function"]
            and "Uuid" not in f["function"] and "Function" not in f["function"]}


@pytest.mark.parametrize("api, layers", [("auto", "both"), ("both", "both"), ("driver", "driver"),
                                         ("runtime", "runtime")])
def test_getters(gpuprobe_by, api, layers):
    """Those of the runtime are one act with what they ask of the driver."""
    result = stat(gpuprobe_by, *GETTERS, args=["--getters", "--api", api])
    found = getter_calls(result.process)
    truth = result.truth.data
    expected = {}
    for name, counts in truth["runtime"].items() if layers != "driver" else ():
        if "Get" in name:
            expected[name] = counts["calls"]
    for name, counts in truth["driver"].items() if layers != "runtime" else ():
        if ("Get" in name and "ProcAddress" not in name and "Uuid" not in name
                and "Function" not in name):
            expected[name] = counts["calls"] - (counts["nested"]["calls"]
                                                if layers == "both" else 0)
    # What the runtime asks for itself inside calls that are not getters' counts as the driver's.
    for name in expected:
        assert found.get(name, 0) >= expected[name] or found[name] == expected[name]
    assert found.get("cudaGetDevice", 0) == (5 if layers != "driver" else 0)


def test_getters_are_not_probed_unless_asked_for(gpuprobe):
    process = stat(gpuprobe, *GETTERS).process
    assert getter_calls(process) == {}
    launched = process["threads"][0]
    chained = stat(gpuprobe, *GETTERS, args=["--getters"]).process["threads"][0]
    # A launch is as much back to back with the one before it as without.
    assert chained["others"] == launched["others"]
    assert chained["gap_count"] == launched["gap_count"] == 7
