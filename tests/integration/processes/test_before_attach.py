# SPDX-License-Identifier: BSD-2-Clause
"""A process that held memory and objects before attach: what it held is unknown, not 0."""
import pytest

from lib import paths
from lib.probe import SECTIONS, TEXT, Background, Probe
from lib.scrape import Endpoint
from lib.script import script

MIB = 1 << 20
NVML = {"LD_LIBRARY_PATH": str(paths.SIM)}
WITHOUT = {"LD_LIBRARY_PATH": None}

# 258 MiB and two streams; for each line on stdin it makes one more watched call, not of memory.
HOLDER = script("""
    start()
    held = [made(driver.cuMemAlloc_v2, 1 << 20) for _ in range(258)]
    streams = [made(driver.cuStreamCreate, 1) for _ in range(2)]
    print("READY", flush=True)
    for line in sys.stdin:
        if line == "more\\n":
            made(driver.cuMemAlloc_v2, 4096)
            made(driver.cuStreamCreate, 1)
        need(driver.cuCtxSynchronize())
        print("DONE", flush=True)
""")


@pytest.fixture(name="holder")
def fixture_holder():
    with Background(*HOLDER) as program:
        assert program.stdout.readline() == "READY\n"
        yield program


def called(running, holder, line="wait"):
    """What the next reports say of the process once it has called."""
    running.wait_until_watching()
    assert holder.tell(line) == "DONE"
    return running.find(
        lambda report: next((p for p in report["processes"] if p["pid"] == holder.pid), None))


@pytest.mark.parametrize("env", [NVML, WITHOUT], ids=["nvml", "without nvml"])
def test_json(gpuprobe, holder, env):
    with gpuprobe.start(args=["-p", holder.pid], env=env) as running:
        process = called(running, holder)
        if env is NVML:
            process = running.find(lambda report: next(
                (p for p in report["processes"] if p["before_attach"]["nvml_used_bytes"]), None))
    known = process["before_attach"]
    assert process["since_attach"] and known["allocated_bytes"] is None and known["objects"] is None
    assert known["nvml_used_bytes"] == (258 * MIB if env is NVML else None)


def test_text(gpuprobe, holder):
    """The monitor's sums, and those of the process; NVML's figure beside it."""
    base = [*SECTIONS, "--metrics-addr", "none"]
    with gpuprobe.start(args=["-p", holder.pid], base=base, env=NVML) as running:
        running.wait_until_watching()
        holder.tell("more")
        running.read_until("allocated before attach: unknown; "
                           f"by NVML the process has {258 * MIB + 4096} Bytes in all\n")
        running.read_until("=" * 24)
        text = running.read_until("live, of those allocated since attach")
    assert ("live: 4096 Bytes in 1 allocation\nallocated before attach: unknown, of 1 process\n"
            in text)
    assert "made before attach: unknown\n" in text
    assert "4096 Bytes live, of those allocated since attach, " in text


def test_memleak(gpuprobe, holder):
    with gpuprobe.start(args=["-p", holder.pid, 1], base=["memleak"], interval=None,
                        env=NVML) as running:
        running.wait_until_watching()
        holder.tell("wait")
        seen = running.read_until(
            "allocated before attach: unknown; by NVML the process has 258.0 MiB in all\n")
    assert f"process {holder.pid} (python3) since attach\n" in seen


@pytest.mark.slow
def test_stat(gpuprobe, holder):
    with gpuprobe.start(args=["-p", holder.pid, "--interval", "0.2"], base=["stat"], interval=None,
                        env=WITHOUT) as running:
        running.wait_until_watching()
        holder.tell("wait")
        running.read_until("allocated before attach: unknown\n")


def test_metrics(gpuprobe, holder):
    """No live bytes are told as long as none were allocated that gpuprobe has seen; NVML's are."""
    endpoint = Endpoint()
    with gpuprobe.start(args=["-p", holder.pid], base=endpoint.option, interval=0,
                        env=NVML) as running:
        endpoint.wait()
        running.wait_until_watching()
        holder.tell("wait")
        page = endpoint.until(lambda page: page.find("gpuprobe_process_gpu_memory_bytes",
                                                     pid=holder.pid))
        assert page.value("gpuprobe_process_gpu_memory_bytes", pid=holder.pid) == 258 * MIB
        assert page.value("gpuprobe_process_since_attach", pid=holder.pid) == 1
        assert page.find("gpuprobe_memory_live_bytes", pid=holder.pid) == []
        assert page.find("gpuprobe_device_memory_live_bytes", pid=holder.pid) == []
        holder.tell("more")
        page = endpoint.until(lambda page: page.find("gpuprobe_memory_live_bytes", pid=holder.pid))
        assert page.value("gpuprobe_memory_live_bytes", pid=holder.pid, kind="device") == 4096


def test_seen_from_the_start(gpuprobe):
    """Nothing of it is said of a process that was seen from its first call; its 0 is true."""
    process = gpuprobe.run(*script("start()\n")).process
    assert "before_attach" not in process and process["memory"]["device"]["live_bytes"] == 0
    text = gpuprobe.run(*script("start()\n"), base=TEXT).stdout
    assert "before attach" not in text


@pytest.mark.slow
def test_ended(tmp_path, holder):
    """Nor is it said that nothing was live at its end."""
    running = Probe(tmp_path).start(args=["-p", holder.pid, 1], base=["memleak"], interval=None,
                                    env=WITHOUT)
    with running:
        running.wait_until_watching()
        holder.tell("wait")
        holder.kill()
        text = running.finish().stdout
    assert "since attach ended: no device memory allocated since attach was live at exit\n" in text
    assert text.endswith("        allocated before attach: unknown\n")
