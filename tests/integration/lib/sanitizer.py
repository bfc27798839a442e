# SPDX-License-Identifier: BSD-2-Clause
"""Reports of AddressSanitizer, LeakSanitizer, UndefinedBehaviorSanitizer and valgrind,
where gpuprobe is tested with them.

They go to files rather than to its stderr: none is missed by a test that does not look there.
"""
import atexit
import functools
import os
import re
import shutil
import tempfile
from pathlib import Path

# Some tests preload a library, before which AddressSanitizer's would have to be.
OPTIONS = {"ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:verify_asan_link_order=0",
           "UBSAN_OPTIONS": "print_stacktrace=1"}
# LeakSanitizer's word for a thread that SIGKILL ended while it looked for leaks:
# nothing that it has found.
KILLED_MEANWHILE = re.compile(r"^==\d+==Unable to get registers from thread \d+\.\n", re.M)

# AddressSanitizer's, LeakSanitizer's and valgrind's have their pid between these;
# UndefinedBehaviorSanitizer's have not.
REPORTS = ("==", "runtime error: ", "unhandled amd64-linux syscall")


@functools.cache
def directory():
    """Where the reports go. From here on all that is started has it so."""
    made = Path(tempfile.mkdtemp(prefix="gpuprobe-reports-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    made.chmod(0o1777)  # gpuprobe may run as any user
    os.environ["GPUPROBE_REPORTS"] = str(made)  # for tests/valgrind/run.sh
    for variable, options in OPTIONS.items():
        os.environ[variable] = f"{options}:log_path={made}/report"
    return made


def take_reports():
    """The texts of the reports since the last call, which are removed."""
    texts = []
    for path in sorted(directory().iterdir()):
        texts.append(KILLED_MEANWHILE.sub("", path.read_text(encoding="utf-8", errors="replace")))
        path.unlink()
    # What valgrind does not know of bpf(2) it says in a file of a report, too.
    # Other calls it does not make then.
    return [text for text in texts if any(words in text for words in REPORTS)]
