# SPDX-License-Identifier: BSD-2-Clause
"""A gpuprobe whose page has every kind of series, for the tests of dashboards and rules."""
import contextlib
import os
import signal
import subprocess
import tempfile

from lib import paths
from lib.probe import environment
from lib.scrape import Endpoint

from conftest import ROOT

PROGRAMS = ROOT / "tests" / "integration" / "programs"
XID = b"3,1,2,-;NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.\n"
# Short enough for a test. 1h: since when memory is held without work.
TIMES = {"$__rate_interval": "8s", "$__range": "60s", "[1h]": "[4s]", "offset 1h": "offset 4s"}
# A program for every kind of series.
PROGRAM = f"""
    exec 2>/dev/null >/dev/null
    '{paths.SIM}/mix' --threads 2 --seconds 3600 --children 0 --calm --pause 0.02 &
    export CUDA_SIM_CLOCK=kernel=20us
    '{paths.SIM}/idle-holder' --bytes 1048576 --count 3 --launch 5 &
    '{paths.SIM}/training' --seconds 3600 &
    '{paths.PYTHON}' '{PROGRAMS}/host_steps.py' sleep 3600 &
    '{paths.SIM}/memory' --kind pool --keep 9 --hold 3600 &
    '{paths.SIM}/copy' --in-flight 3 --hold 3600 &
    CUDA_SIM_HANG=cuStreamSynchronize=futex:3 '{paths.SIM}/steps' --wait stream &
    sleep 3600 | CUDA_SIM_MEMORY=1G '{paths.PYTHON}' '{PROGRAMS}/oom.py' large &
    wait
"""


@contextlib.contextmanager
def gpuprobe(by, options, targets):
    """
    A gpuprobe with a machine of its own, until the block ends. `targets`: a command, or options.
    Its kernel's log is a FIFO, into which an error of a GPU (Xid) is written.
    """
    endpoint = Endpoint()
    with kernel_log() as (path, log):
        process = subprocess.Popen(
            ["unshare", "-m", "sh", "-c", 'mount --bind "$0" /dev/kmsg && exec "$@"', path,
             paths.GPUPROBE, "--service", "--kernel-log", "--metrics-by", by, *options,
             *endpoint.option, "--libcuda-path", paths.LIBCUDA, "--libcudart-path",
             paths.LIBCUDART, *targets],
            env=surroundings(f"{by}-{endpoint.port}"), stderr=subprocess.DEVNULL,
            start_new_session=True)
        try:
            endpoint.wait()
            os.write(log, XID)
            yield endpoint
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(60)


@contextlib.contextmanager
def kernel_log():
    """(path, descriptor)"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "log")
        os.mkfifo(path)
        log = os.open(path, os.O_RDWR)
        try:
            yield path, log
        finally:
            os.close(log)


def surroundings(machine):
    return environment(CUDA_SIM_MACHINE=machine, CUDA_SIM_DIRECTORY=str(paths.SIM),
                       LD_LIBRARY_PATH=str(paths.SIM), CUDA_SIM_TRUTH=None)


def in_time(expression):
    for word, value in TIMES.items():
        expression = expression.replace(word, value)
    return expression
