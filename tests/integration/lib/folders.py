# SPDX-License-Identifier: BSD-2-Clause
"""
Private files of a test: libraries that gpuprobe has never seen, and programs that any user may run.
"""
import contextlib
import shutil
import tempfile
from pathlib import Path

from lib import paths

LIBRARIES = ("libcuda.so.1", "libcudart.so.13")


@contextlib.contextmanager
def private(*workloads, gpuprobe=False):
    """
    A directory that all users may enter, with copies of the simulated libraries, these workloads
    and gpuprobe.
    """
    made = Path(tempfile.mkdtemp(prefix="gpuprobe-test-"))
    made.chmod(0o755)
    for name in (*LIBRARIES, *workloads):
        shutil.copy(paths.SIM / name, made)
    if gpuprobe:
        shutil.copy(paths.GPUPROBE, made)
    try:
        yield made
    finally:
        shutil.rmtree(made)
