# SPDX-License-Identifier: BSD-2-Clause
"""How long gpuprobe takes from exec until its probes are in, and from SIGINT to its end."""
import json
import os
import signal
import subprocess
import time

from setup import cpu_seconds, figure, in_turn, spread, table

TITLE = "Start and end"
ORDER = 40
LINKS = ("session", "multi", "perf")


def life(setup, links):
    """One life: seconds from exec to the first report, which comes when all probes are in, the CPU's share in
    them, seconds from SIGINT to the end; and the number of probes."""
    command = setup.command("--json", "--metrics-addr", "none", "--display-interval", "0.01",
                            libraries=[setup.libcuda, setup.libcudart])
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "GPUPROBE_LINKS": links}) as process:
        report = json.loads(process.stdout.readline())
        found = {"start": time.monotonic() - began, "cpu": cpu_seconds(process.pid),
                 "probes": sum(report["probes_attached"].values())}
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        process.wait()
        return {**found, "end": time.monotonic() - began}


def measure(setup):
    runs = in_turn(setup.rounds, {links: lambda links=links: life(setup, links) for links in LINKS})
    return {links: {key: figure([run[key] for run in of]) for key in of[0]} for links, of in runs.items()}


def show(result):
    return """From exec until all probes are in, and from SIGINT to the end, in seconds. What else the machine has to do
makes them longer, but not the CPU time of the start.

""" + table(["links", "probes", "start", "CPU time of it", "end"], [
        [links, f"{found['probes']['median']:.0f}", *(spread(found[key], "{:.2f}") for key in ("start", "cpu", "end"))]
        for links, found in result.items()])
