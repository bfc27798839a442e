# SPDX-License-Identifier: BSD-2-Clause
"""
Normalizes everything that this process inherits and passes on to all programs of the tests:
environment, limits, umask, signals. So the tests start from the same state under sudo, by nohup in
the background, or from a shell with its own limits.
"""
import os
import re
import resource
import signal
import tempfile
import time
from pathlib import Path

# Variables that influence gpuprobe, the simulated CUDA, Python, shells and C libraries. Tests set
# the ones they need.
FOREIGN = re.compile(
    r"SUDO_\w+|LC_\w+|LANGUAGE|GPUPROBE_(LINKS|UNUSED_SECONDS)|CUDA_SIM_\w+|CUDA_VISIBLE_DEVICES"
    r"|CUDA_DEVICE_ORDER|DEBUGINFOD_\w+|(\w+_)?proxy|(\w+_)?PROXY|NO_COLOR|COLUMNS|LINES|ENV"
    r"|BASH_ENV|CDPATH|POSIXLY_CORRECT|XDG_CACHE_HOME|LD_LIBRARY_PATH")
OWN = {"LC_ALL": "C.UTF-8", "LANG": "C.UTF-8", "TZ": "UTC", "USER": "root", "LOGNAME": "root"}
FOLDERS_OF_ROOT = ("/usr/sbin", "/sbin")  # not in every user's PATH; bpftool and setcap are there
ANY = resource.RLIM_INFINITY
# (soft, hard) of a typical machine, or more.
LIMITS = {resource.RLIMIT_NOFILE: (1024, 1 << 19), resource.RLIMIT_MEMLOCK: (8 << 20, 8 << 20),
          resource.RLIMIT_NPROC: (ANY, ANY), resource.RLIMIT_STACK: (8 << 20, ANY),
          resource.RLIMIT_CORE: (0, ANY), resource.RLIMIT_FSIZE: (ANY, ANY),
          resource.RLIMIT_AS: (ANY, ANY), resource.RLIMIT_DATA: (ANY, ANY),
          resource.RLIMIT_CPU: (ANY, ANY), resource.RLIMIT_SIGPENDING: (1 << 16, 1 << 16)}
# Python itself ignores these, and subprocess restores them for the programs that it starts.
OF_PYTHON = {signal.SIGPIPE, signal.SIGXFSZ}


def _is_for_all(folder):
    """
    Whether any user can run files in the folder, also as their owner, and its name needs no quoting
    in a shell.
    """
    if not folder.is_dir() or not re.fullmatch(r"[\w/.+-]{1,60}", str(folder)):
        return False
    return all(part.stat().st_mode & 0o001 for part in (folder, *folder.parents)) and \
        not os.statvfs(folder).f_flag & (os.ST_NOSUID | os.ST_NOEXEC)


def _set_folder():
    """Sets TMPDIR to a suitable folder: other users run files there, by paths in shell commands."""
    found = [Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")]
    chosen = next((folder for folder in found if _is_for_all(folder)), found[0])
    os.environ["TMPDIR"] = tempfile.tempdir = str(chosen)


def _set_environment():
    for name in [name for name in os.environ if FOREIGN.fullmatch(name)]:
        del os.environ[name]
    os.environ.update(OWN)
    time.tzset()
    path = os.environ.get("PATH", os.defpath).split(":")
    os.environ["PATH"] = ":".join([*path,
                                   *(folder for folder in FOLDERS_OF_ROOT if folder not in path)])


def _set_limits():
    for kind, (soft, hard) in LIMITS.items():
        try:
            resource.setrlimit(kind, (soft, hard))
        except (OSError, ValueError):  # root in a container may not raise its limits
            most = resource.getrlimit(kind)[1]
            fits = soft if most == ANY or soft != ANY and soft <= most else most
            resource.setrlimit(kind, (fits, most))


def settle():
    """Normalizes everything except signals; processes started from here on inherit it."""
    _set_environment()
    _set_folder()
    _set_limits()
    os.umask(0o022)


def _pass_over(_number, _frame):
    """
    Handler without effect: the signal stays ignored here, but started programs get the default,
    because it is caught.
    """


def catch_ignored_signals():
    """
    For the process that runs tests, not for one that only starts others that do: these would not
    learn of it.
    """
    for number in signal.valid_signals() - OF_PYTHON:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, _pass_over)
