# SPDX-License-Identifier: BSD-2-Clause
"""The costs of calls that gpuprobe measures for --max-overhead before it watches anything,
as --verbose prints them."""
import re
import time
from pathlib import Path

import pytest

from lib import leftovers, paths, steady
from lib.probe import Background

pytestmark = pytest.mark.plain("what calls cost is measured, and theirs is another there")

ALONE = pytest.mark.alone("times of single calls are compared")
TOLD = re.compile(
    r"gpuprobe: a probed call costs: launch (\d+) ns, copy (\d+), wait (\d+), others (\d+)\n")
# Far above what a call costs, so that all are watched.
BUDGET = ["-v", "--max-overhead", 100]


def costs(stderr):
    """By family, in nanoseconds."""
    [told] = TOLD.findall(stderr)
    return dict(zip(("launch", "copy", "wait", "others"), map(int, told)))


@ALONE
@pytest.mark.parametrize("returns", [False, True], ids=["", "with returns"])
def test_costs_of_families(gpuprobe_multi, returns):
    """
    An entry and a return cost the same whatever is called; an allocation and its free cost their
    mean. Returns of launches are looked at with --check-launches, and else at most one in many.
    """
    options = [*BUDGET, *["--check-launches"] * returns]
    bounds = {"copy": (0.85, 1.5), "others": (0.85, 1.5),
              "launch": (0.85, 1.7) if returns else (0.3, 0.75)}
    least = {}
    # Other load on the machine makes one or another dearer:
    # the least of several measurements counts.
    for _ in range(8):
        told = costs(gpuprobe_multi.run("true", args=options).stderr)
        least = {family: min(ns, least.get(family, ns)) for family, ns in told.items()}
        shares = {family: ns / least["wait"] for family, ns in least.items()}
        if all(low < shares[family] < high for family, (low, high) in bounds.items()):
            break
    else:
        raise AssertionError(f"not within {bounds} of a wait: {least}")
    assert 100 < least["wait"] < 50_000


def ran_ns(pid):
    return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[0])


def launch_ns(holder, launches):
    """What each of its next launches takes of a CPU."""
    before = ran_ns(holder.pid)
    assert holder.tell("go") == "DONE"
    return (ran_ns(holder.pid) - before) / launches


@ALONE
def test_costs_are_true(gpuprobe_multi, tmp_path):
    """A launch takes so much longer when gpuprobe watches it, and nobody else does."""
    launches = 60_000
    without, paid, told = [], [], []
    holder, library = steady.set_apart(paths.workload("idle-holder"), tmp_path)
    with Background(holder, "--api", "driver", "--then-launch", launches,
                    env={"CUDA_SIM_LATENCY": "cuLaunchKernel=3us"}) as holder:
        assert holder.stdout.readline() == "READY\n"
        # Other load on the machine only makes each of the three dearer: the least of each counts,
        # measured in turn.
        for _ in range(8):
            without.append(launch_ns(holder, launches))
            with gpuprobe_multi.start(args=[*BUDGET, "-p", holder.pid],
                                      libraries=[library]) as running:
                running.report()
                paid.append(launch_ns(holder, launches))
                result = running.stop()
            assert result.processes[0]["launches"] == launches
            assert "sampling" not in result.processes[0]
            told.append(costs(result.stderr)["launch"])
            if 0.5 < min(told) / (min(paid) - min(without)) < 2:
                return
    raise AssertionError(f"told {told}, paid {paid}, without {without}")


def changed_code(pid):
    """How many bytes of its program's code are not what the file has: probes."""
    program = str(paths.GPUPROBE)
    changed = 0
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, \
            open(f"/proc/{pid}/mem", "rb") as memory, open(program, "rb") as file:
        for line in maps:
            words = line.split(maxsplit=5)
            if "x" not in words[1] or not line.endswith(f"{program}\n"):
                continue
            begin, end = (int(text, 16) for text in words[0].split("-"))
            memory.seek(begin)
            file.seek(int(words[2], 16))
            true = file.read(end - begin)
            seen = memory.read(end - begin)[:len(true)]
            changed += sum(a != b for a, b in zip(seen, true)) if seen != true else 0
    return changed


def test_nothing_is_left_of_it(gpuprobe_multi):
    """Calibration leaves neither probes in gpuprobe itself nor maps, programs or links,
    except the links that families have of their own."""
    held = []
    for args in ([], BUDGET):
        with gpuprobe_multi.start(paths.workload("idle-holder"), args=args) as running:
            running.wait_for(lambda report: report["processes"])
            end = time.monotonic() + 20
            while changed_code(running.pid) and time.monotonic() < end:
                time.sleep(0.05)
            assert changed_code(running.pid) == 0
            kinds = [kind for kind, _ in leftovers.objects_of(running.pid)]
            held.append({kind: kinds.count(kind) for kind in ("map", "prog", "link")})
            running.process.kill()
    plain, measured = held
    # Launches, copies and waits, for each file that has them:
    # libcuda, and a runtime if the loader's cache has one.
    more = measured.pop("link") - plain.pop("link")
    assert more in [3 * files * (1 if gpuprobe_multi.links == "session" else 2) for files in (1, 2)]
    assert measured == plain
