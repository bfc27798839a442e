# SPDX-License-Identifier: BSD-2-Clause
"""--memleak, --cudatrace and --bandwidth-util alone: only the chosen sections are attached,
shown and exported."""
import functools
import re
import subprocess

import pytest

from lib import api as table
from lib import exact, paths
from lib.paths import LIBCUDA, LIBCUDART, workload
from lib.scrape import Endpoint


def objects(*kinds):
    return {f"{operation} {kind}" for operation in ("create", "destroy") for kind in kinds}


# Operations, of objects with their kind.
ALWAYS = {"context", "device", "capture", "event_record", "graph"} | objects("stream")
SECTIONS = {
    "--memleak": ALWAYS | {"alloc", "free", "virtual", "pool", "wait", "query"} | objects("pool"),
    "--cudatrace": ALWAYS | {"launch", "launch_list", "host_function", "graph_launch",
                             "get_kernel"} | objects("context", "module", "library",
                                                     "graph", "graph_exec"),
    "--bandwidth-util": ALWAYS | {"copy", "set", "wait", "query"} | objects("event"),
}
# One driver and one runtime library: what a machine has of its own may add to the sums.
ATTACHED = re.compile(r"(\S+/(libcuda\.so\.1|libcudart\.so\.13))\S*.*: (\d+) functions probed, "
                      r"(\d+) it does not have")
DEMO = [workload("demo"), "--seconds", "0.3"]


@functools.lru_cache
def exports(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    return {line.split()[-1].partition("@")[0] for line in lines}


def wanted(library, operations, api):
    """Functions that must be probed in a library: of its layer, exported, of these operations."""
    layer = "driver" if library == LIBCUDA else "runtime"
    if api == "auto" and layer == "runtime":
        operations = operations & {"alloc", "free", "device"}
    if api not in ("auto", "both", layer):
        operations = set()
    rows = [f for f in table.functions().values() if f.layer == layer and not f.gone
            and {f.operation, f"{f.operation} {f.kind}"} & operations]
    found = [f for f in rows if f.symbol in exports(library)]
    return len(found), len(rows) - len(found)


# A single layer is the same for each section: with all sections at once it is tested always,
# with each of them in the long run.
ONE_LAYER = [pytest.param(layer, marks=pytest.mark.slow) for layer in ("driver", "runtime")]


@pytest.mark.parametrize("api", ["driver", "runtime"])
def test_what_is_attached_of_one_layer(gpuprobe, api):
    check_attached(gpuprobe, [], api)


@pytest.mark.parametrize("api", ["auto", "both", *ONE_LAYER])
@pytest.mark.parametrize(
    "options", [[option] for option in SECTIONS] + [["--memleak", "--bandwidth-util"], []])
def test_what_is_attached(gpuprobe, options, api):
    check_attached(gpuprobe, options, api)


def check_attached(gpuprobe, options, api):
    result = gpuprobe.run("true", args=["-v", "--api", api, *options],
                          libraries=[LIBCUDA, LIBCUDART])
    operations = set().union(*(SECTIONS[option] for option in options or SECTIONS))
    seen = {path: (int(probed), int(missing))
            for path, _, probed, missing in ATTACHED.findall(result.stderr)
            if path.startswith(str(paths.SIM))}
    true = {str(library): wanted(library, operations, api) for library in (LIBCUDA, LIBCUDART)}
    assert {path: counts for path, counts in seen.items() if counts[0]} == \
        {path: counts for path, counts in true.items() if counts[0]}


def test_what_is_attached_on_each_path(gpuprobe_by):
    result = gpuprobe_by.run("true", args=["-v", "--memleak"], libraries=[LIBCUDA, LIBCUDART])
    seen = {path: (int(probed), int(missing))
            for path, _, probed, missing in ATTACHED.findall(result.stderr)
            if path.startswith(str(paths.SIM))}
    assert seen == {str(library): wanted(library, SECTIONS["--memleak"], "auto")
                    for library in (LIBCUDA, LIBCUDART)}


@pytest.mark.parametrize("option,section", [("--memleak", "memory"), ("--cudatrace", "launches"),
                                            ("--bandwidth-util", "copies")])
def test_what_json_shows(gpuprobe, option, section):
    result = gpuprobe.run(*DEMO, args=[option])
    process, truth, report = result.process, result.truth, result.final
    assert report["sections"] == [section]
    assert ("memory" in process) == ("device_memory" in report["totals"]) == (section == "memory")
    assert ("kernels" in process) == ("launches" in report["totals"]) == (section == "launches")
    assert ("copies" in process) == (section == "copies")
    if section == "memory":
        assert exact.memory(process) == truth.memory()
        assert exact.errors(process) == {("runtime", "cudaMalloc", 2): 1}
    elif section == "launches":
        assert exact.launches(process) == truth.launches()
    else:
        assert exact.copies(process) == truth.copies()
    if section != "memory":
        assert process["errors"] == []
    on_device = {"memory": {"allocations", "live_bytes", "live_allocations"},
                 "launches": {"launches"}, "copies": {"copies", "copy_bytes", "wait_ns"}}
    assert process["devices"] and all(set(device) == on_device[section] | {"device"}
                                      for device in process["devices"])


@pytest.mark.parametrize("option,shown", [("--memleak", "num_successful_mallocs:"),
                                          ("--cudatrace", "total kernel launches:"),
                                          ("--bandwidth-util", "copies:")])
def test_what_the_text_shows(gpuprobe, option, shown):
    result = gpuprobe.run(*DEMO, base=["--display-interval", "0", "--metrics-addr", "none"],
                          args=[option])
    for words in ("num_successful_mallocs:", "per-process memory maps:", "total kernel launches:",
                  "copies:"):
        belongs = words == shown or (shown, words) == ("num_successful_mallocs:",
                                                       "per-process memory maps:")
        assert (words in result.stdout) == belongs
    on_device = {"num_successful_mallocs:": r"\d+ Bytes live(?: at exit)?",
                 "total kernel launches:": r"\d+ launch(es)?", "copies:": r"\d+ cop.* of \d+ Bytes"}
    told = re.findall(r"^ +on device \d+: (.*)$", result.stdout, re.M)
    assert told and all(re.fullmatch(on_device[shown], line) for line in told)


@pytest.mark.parametrize("option,names", [
    ("--memleak",
     ("gpuprobe_memory_", "gpuprobe_allocation", "gpuprobe_free", "gpuprobe_live_at_exit")),
    ("--cudatrace", ("gpuprobe_kernel_launches", "gpuprobe_graph_launches")),
    ("--bandwidth-util", ("gpuprobe_cop",)),
])
def test_what_is_exported(gpuprobe, option, names):
    endpoint = Endpoint()
    every = ("gpuprobe_memory_", "gpuprobe_allocation", "gpuprobe_free", "gpuprobe_live_at_exit",
             "gpuprobe_kernel_launches", "gpuprobe_graph_launches", "gpuprobe_cop")
    with gpuprobe.start(workload("demo"), "--seconds", "60", base=["--json"],
                        args=[*endpoint.option, option]) as running:
        running.wait_for(lambda r: r["processes"])

        def exported(page):
            return {name for name in every
                    if any(sample.startswith(name) for sample, _ in page.samples)}

        # The demo makes its calls one after the other.
        page = endpoint.until(lambda page: exported(page) >= set(names))
        running.stop()
    assert exported(page) == set(names)
    assert page.value("gpuprobe_probes_attached", layer="driver") >= 1
