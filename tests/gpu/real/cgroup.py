# SPDX-License-Identifier: BSD-2-Clause
"""A cgroup with a limit of CPU for one process, in whichever hierarchy has the controller here."""
import contextlib
import os
import subprocess

from running import Failed

PERIOD_US = 100000


@contextlib.contextmanager
def limited(pid, cpus):
    """The process in a cgroup with so many CPUs; in none of ours where `cpus` is None."""
    if cpus is None:
        yield
        return
    with hierarchy() as (root, is_second):
        home = f"{root}{cgroup_of(pid, is_second)}"
        path = f"{root}/gpuprobe-real-{pid}"
        try:
            make(root, path, is_second, int(cpus * PERIOD_US))
            write(f"{path}/cgroup.procs", str(pid))
        except OSError as error:
            remove(path, home, pid)
            raise Failed(f"no cgroup with a limit of CPU: {error}") from None
        try:
            yield
        finally:
            remove(path, home, pid)


def make(root, path, is_second, quota_us):
    if is_second:
        # It is on already, or mkdir's files show that it cannot be.
        with contextlib.suppress(OSError):
            write(f"{root}/cgroup.subtree_control", "+cpu")
    os.mkdir(path)
    if is_second:
        write(f"{path}/cpu.max", f"{quota_us} {PERIOD_US}")
    else:
        write(f"{path}/cpu.cfs_period_us", str(PERIOD_US))
        write(f"{path}/cpu.cfs_quota_us", str(quota_us))


def remove(path, home, pid):
    """The process goes back to where it was, if it is there still."""
    with contextlib.suppress(OSError):
        write(f"{home}/cgroup.procs", str(pid))
    with contextlib.suppress(OSError):
        os.rmdir(path)


def cgroup_of(pid, is_second):
    """Its path in that hierarchy."""
    with open(f"/proc/{pid}/cgroup", encoding="utf-8") as file:
        for line in file:
            number, controllers, path = line.rstrip("\n").split(":", 2)
            if (is_second and number == "0") or (not is_second and "cpu" in controllers.split(",")):
                return path.rstrip("/")
    return ""


@contextlib.contextmanager
def hierarchy():
    """(mount point, whether it is cgroup 2). If none is mounted,
    cgroup 2 is mounted for the time being."""
    with open("/proc/mounts", encoding="utf-8") as file:
        mounts = [line.split() for line in file]
    first = [at for _, at, kind, options, *_ in mounts
             if kind == "cgroup" and "cpu" in options.split(",")]
    second = [at for _, at, kind, *_ in mounts if kind == "cgroup2"]
    if first or second:
        yield (first or second)[0], not first
        return
    path = f"/tmp/gpuprobe-cgroup-{os.getpid()}"
    os.mkdir(path)
    try:
        ran = subprocess.run(["mount", "-t", "cgroup2", "none", path], stderr=subprocess.PIPE,
                             text=True, check=False)
        if ran.returncode:
            raise Failed(f"no cgroup2: {ran.stderr.strip()}")
        yield path, True
    finally:
        subprocess.run(["umount", path], stderr=subprocess.DEVNULL, check=False)
        os.rmdir(path)


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
