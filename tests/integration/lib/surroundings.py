# SPDX-License-Identifier: BSD-2-Clause
"""
What this process has from whoever began it and gives to all that the tests start: environment,
limits, umask, signals. The tests begin from the same, by sudo, by nohup in the background, or from
a shell with limits of its own.
"""
import os
import re
import resource
import signal
import tempfile
import time
from pathlib import Path

# What gpuprobe, the simulated CUDA, Python, shells and C libraries go by. Tests set what they need.
FOREIGN = re.compile(
    r"SUDO_\w+|LC_\w+|LANGUAGE|GPUPROBE_(LINKS|UNUSED_SECONDS)|CUDA_SIM_\w+|CUDA_VISIBLE_DEVICES"
    r"|CUDA_DEVICE_ORDER|DEBUGINFOD_\w+|(\w+_)?proxy|(\w+_)?PROXY|NO_COLOR|COLUMNS|LINES|ENV"
    r"|BASH_ENV|CDPATH|POSIXLY_CORRECT|XDG_CACHE_HOME|LD_LIBRARY_PATH")
OWN = {"LC_ALL": "C.UTF-8", "LANG": "C.UTF-8", "TZ": "UTC", "USER": "root", "LOGNAME": "root"}
FOLDERS_OF_ROOT = ("/usr/sbin", "/sbin")  # not in everybody's PATH; bpftool and setcap are there
ANY = resource.RLIM_INFINITY
# (soft, hard) as on a usual machine, or more.
LIMITS = {resource.RLIMIT_NOFILE: (1024, 1 << 19), resource.RLIMIT_MEMLOCK: (8 << 20, 8 << 20),
          resource.RLIMIT_NPROC: (ANY, ANY), resource.RLIMIT_STACK: (8 << 20, ANY),
          resource.RLIMIT_CORE: (0, ANY), resource.RLIMIT_FSIZE: (ANY, ANY),
          resource.RLIMIT_AS: (ANY, ANY), resource.RLIMIT_DATA: (ANY, ANY),
          resource.RLIMIT_CPU: (ANY, ANY), resource.RLIMIT_SIGPENDING: (1 << 16, 1 << 16)}
# Python ignores these itself, and subprocess has them as usual for what it starts.
OF_PYTHON = {signal.SIGPIPE, signal.SIGXFSZ}


def _is_for_all(folder):
    """Whether any user can run its files, also as their owner,
    and shells take its name as it is."""
    if not folder.is_dir() or not re.fullmatch(r"[\w/.+-]{1,60}", str(folder)):
        return False
    return all(part.stat().st_mode & 0o001 for part in (folder, *folder.parents)) and \
        not os.statvfs(folder).f_flag & (os.ST_NOSUID | os.ST_NOEXEC)


def _set_folder():
    """Other users run what tests have in TMPDIR, by paths in shell commands:
    not each folder is fit for that."""
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
        except (OSError, ValueError):  # root of a container may not raise what it was given
            most = resource.getrlimit(kind)[1]
            fits = soft if most == ANY or soft != ANY and soft <= most else most
            resource.setrlimit(kind, (fits, most))


def settle():
    """All but signals; what this process starts has it from here on."""
    _set_environment()
    _set_folder()
    _set_limits()
    os.umask(0o022)


def _pass_over(_number, _frame):
    """An ignored signal is still without effect here; a program that is started has the default for
    what is caught."""


def catch_ignored_signals():
    """For the process that runs tests, not for one that begins others to do that:
    they would not learn of it."""
    for number in signal.valid_signals() - OF_PYTHON:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, _pass_over)
