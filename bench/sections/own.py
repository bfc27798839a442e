# SPDX-License-Identifier: BSD-2-Clause
"""The resources that gpuprobe itself takes: CPU and memory, idle and under launches,
and the kernel memory of its maps."""
import subprocess
import time

from setup import figure, map_bytes, resident_bytes, share_of_cpu, spread, table, verdict

TITLE = "gpuprobe's own CPU and memory"
ORDER = 30
RATE = 500_000  # launches a second
BARS = {"idle": 0.005, "monitor": 0.01, "stat": 0.02}  # of a core
BAR_BYTES = 20e6


def idle(seconds, setup):
    with setup.gpuprobe() as process:
        return {"cpu": share_of_cpu(process.pid, seconds), "resident": resident_bytes(process.pid),
                "maps": map_bytes(process.pid)}


def under_launches(setup, words, seconds):
    """gpuprobe while one thread launches at RATE."""
    with setup.gpuprobe(*words) as process, \
            subprocess.Popen([setup.build / "bench/calls", "launch", str(RATE), str(seconds + 1)],
                             stdout=subprocess.PIPE, text=True) as caller:
        time.sleep(0.5)
        share = share_of_cpu(process.pid, seconds)
        calls, took, _ = map(float, caller.stdout.read().split())
        return {"cpu": share, "resident": resident_bytes(process.pid), "rate": calls / took}


def busy_maps(setup, seconds):
    """Bytes of the maps while 64 threads mix all calls."""
    with setup.gpuprobe() as process, \
            subprocess.Popen([setup.sim / "mix", "--seconds", str(seconds), "--calm"],
                             stdout=subprocess.DEVNULL):
        time.sleep(seconds - 0.5)
        return map_bytes(process.pid)


def measure(setup):
    rounds, seconds = (1, 1) if setup.quick else (3, 6)
    runs = {
        "idle": [idle(seconds, setup) for _ in range(rounds)],
        "monitor": [under_launches(setup, [], seconds) for _ in range(rounds)],
        "stat": [under_launches(setup, ["stat", "--interval", "1"], seconds)
                 for _ in range(rounds)],
    }
    figures = {name: {key: figure([run[key] for run in of]) for key in of[0]}
               for name, of in runs.items()}
    return {"seconds": seconds, "busy_maps": busy_maps(setup, 1 if setup.quick else 3), **figures}


def cpu_row(what, found, bar):
    return [f"CPU of {what}", spread(found["cpu"], "{:.3%}") + " of a core",
            verdict(found["cpu"]["median"], bar, "{:.1%}")]


def memory(found):
    return f"{found['median'] / 1e6:.1f} MB"


def show(result):
    rates = {name: f"{result[name]['rate']['median']:,.0f} kernels/s"
             for name in ("monitor", "stat")}
    return f"CPU time as the scheduler reports it, over {result['seconds']} s.\n\n" + \
        table(["what", "measured", "bar"], [
            cpu_row("gpuprobe, no CUDA process", result["idle"], BARS["idle"]),
            ["resident memory", memory(result["idle"]["resident"]),
             verdict(result["idle"]["resident"]["median"] / 1e6, BAR_BYTES / 1e6, "{:.0f} MB")],
            ["kernel memory of the maps", memory(result["idle"]["maps"]), ""],
            ["while 64 threads mix all kinds of calls", f"{result['busy_maps'] / 1e6:.1f} MB", ""],
            cpu_row(f"the monitor while one thread launches {rates['monitor']}",
                    result["monitor"], BARS["monitor"]),
            ["resident memory meanwhile", memory(result["monitor"]["resident"]), ""],
            cpu_row(f"`stat --interval 1` while one thread launches {rates['stat']}",
                    result["stat"], BARS["stat"]),
            ["resident memory meanwhile", memory(result["stat"]["resident"]), ""],
        ])
