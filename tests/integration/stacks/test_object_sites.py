# SPDX-License-Identifier: BSD-2-Clause
"""Objects that leak: programs/objects.c, with what the simulated driver takes for each object."""
import json
import subprocess

import pytest

from lib import paths
from lib.probe import environment
from lib.script import PROGRAMS

MIB = 1 << 20
# As measured on an H100: bytes of each.
TAKES = {"event": 0, "stream": 573571, "exec": 146800, "module": 10485}
WORD = {"event": "event", "stream": "stream", "exec": "graph_exec", "module": "module"}
CONTEXT = 527 * MIB
SETTING = f"primary={CONTEXT}," + ",".join(f"{WORD[kind]}={each}" for kind, each in TAKES.items())
PAUSE_US = 3000
SECONDS = 14
MEMLEAK = ["memleak", "--json", "--interval", 3600]  # the last report is the only one


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    program = tmp_path_factory.mktemp("objects") / "objects"
    subprocess.run(["gcc", "-g", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls",
                    "-o", program, PROGRAMS / "objects.c", f"-L{paths.SIM}", "-l:libcudart.so.13",
                    "-l:libcuda.so.1", f"-Wl,-rpath,{paths.SIM}"], check=True)
    return program


def start(machine, command, *program):
    env = environment(CUDA_SIM_OBJECTS=SETTING, CUDA_SIM_MACHINE=machine,
                      LD_LIBRARY_PATH=paths.SIM)
    return subprocess.Popen([paths.GPUPROBE, *map(str, command), "--", *map(str, program)], env=env,
                            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def end(process):
    out, err = process.communicate(timeout=90)
    assert process.returncode == 0, err
    return out


def diagnose(objects, tmp_path, runs):
    """Runs diagnose on several (kind, pattern) at a time: the JSON and what was live, by run."""
    started = {run: start(f"{tmp_path.name[-20:]}-{'-'.join(run)}",
                          ["diagnose", "--json", "--window", "10s", "--threshold",
                           "object-leak=500", "--output", tmp_path / "-".join(run)],
                          objects, *run, PAUSE_US, SECONDS) for run in runs}
    live = {run: int(end(process)) for run, process in started.items()}
    return {run: (json.loads((tmp_path / "-".join(run)).read_text(encoding="utf-8")), live[run])
            for run in runs}


def leaks(report):
    return [finding for finding in report["findings"] if finding["id"] == "object-leak"]


def numbers(finding):
    return {name: number["value"] for name, number in finding["numbers"].items()}


@pytest.mark.slow
def test_leaks_are_found_with_their_line_and_bytes(objects, tmp_path):
    done = diagnose(objects, tmp_path, [(kind, "leak") for kind in TAKES])
    for (kind, _), (report, live) in done.items():
        found, = leaks(report)
        evidence = numbers(found)
        assert any(frame["function"] == "serve" for frame in found["stack"]["frames"]), kind
        # The first events have no stack, so they are not of this call site.
        assert live - 64 <= evidence["live"] <= live
        assert abs(evidence["bytes_each"] - TAKES[kind]) <= 0.1 * TAKES[kind] + 3000
        assert (found["severity"] == "info") == (kind == "event")


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["each", "pool", "cache", "spikes"])
def test_sound_programs_have_no_leak(objects, tmp_path, pattern):
    done = diagnose(objects, tmp_path, [(kind, pattern) for kind in TAKES])
    assert {run: leaks(report) for run, (report, _) in done.items()} == {run: [] for run in done}


def test_memleak_counts_live_objects_by_call_site(objects, tmp_path):
    """Three programs at a time: what is live, and the line that made it."""
    runs = [("exec", "leak"), ("module", "leak"), ("stream", "each")]
    started = {run: start(f"{tmp_path.name[-20:]}-{'-'.join(run)}", MEMLEAK, objects, *run, 1000, 3)
               for run in runs}
    for (kind, pattern), process in started.items():
        lines = end(process).splitlines()
        live = next(int(line) for line in lines if line.isdigit())
        process = json.loads([line for line in lines if line.startswith("{")][-1])["processes"][0]
        sites = [site for site in process["objects"]
                 if site["kind"] == WORD[kind]
                 and any(frame["function"] == "serve" for frame in site["stack"]["frames"])]
        assert sum(site["live"] for site in sites) == (live if pattern == "leak" else 0)
        assert all(site["made"] == live for site in sites)


def test_a_process_cannot_take_all_room(objects, tmp_path):
    """The map has 64 entries a process, 4,096 here: a quarter is for processes with few."""
    lines = end(start(f"{tmp_path.name[-20:]}-room", [*MEMLEAK, "--max-processes", 64], objects,
                      "event", "fill", 0, 0, f"{objects} stream leak 1000 2")).splitlines()
    report = json.loads([line for line in lines if line.startswith("{")][-1])
    live, made = {}, {}
    for process in report["processes"]:
        for site in process["objects"]:
            live[site["kind"]] = live.get(site["kind"], 0) + site["live"]
            made[site["kind"]] = made.get(site["kind"], 0) + (site["made"] or 0)
    assert live["event"] == 3072 - 2  # of its own, a context and a graph
    # The others of its 64 are a context and a graph.
    assert live["stream"] == 62 < made["stream"]
    assert report["lost"]["object_map_full"] > 0
