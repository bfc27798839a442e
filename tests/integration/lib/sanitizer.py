# SPDX-License-Identifier: BSD-2-Clause
"""
Reports of AddressSanitizer, LeakSanitizer, UndefinedBehaviorSanitizer and valgrind, if gpuprobe is
tested with them.

They go to files rather than to its stderr, so that no test misses one by not looking there.
"""
import atexit
import functools
import os
import re
import shutil
import tempfile
from pathlib import Path

# Freed memory that is kept aside, so that its use is noticed. A start of gpuprobe frees 100 MB of
# libbpf's copies of programs. If all of it is kept, as by default and in `make test-full`, none of
# these pages is used again, which costs an eighth of the start's CPU time.
QUARANTINE = "GPUPROBE_TEST_QUARANTINE_MB"

# Some tests preload a library, but AddressSanitizer's must come first.
OPTIONS = {"ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:verify_asan_link_order=0:"
                           f"quarantine_size_mb={os.environ.get(QUARANTINE, 1)}",
           "UBSAN_OPTIONS": "print_stacktrace=1"}
# LeakSanitizer's message for a thread that SIGKILL ended during the search for leaks: not a
# finding.
KILLED_MEANWHILE = re.compile(r"^==\d+==Unable to get registers from thread \d+\.\n", re.M)

# AddressSanitizer's, LeakSanitizer's and valgrind's reports have their pid between these;
# UndefinedBehaviorSanitizer's do not.
REPORTS = ("==", "runtime error: ", "unhandled amd64-linux syscall")


@functools.cache
def directory():
    """The directory of the reports. Every process started from here on uses it."""
    made = Path(tempfile.mkdtemp(prefix="gpuprobe-reports-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    made.chmod(0o1777)  # gpuprobe may run as any user
    os.environ["GPUPROBE_REPORTS"] = str(made)  # for tests/valgrind/run.sh
    for variable, options in OPTIONS.items():
        os.environ[variable] = f"{options}:log_path={made}/report"
    return made


def take_reports():
    """Returns the texts of the reports since the last call, and removes them."""
    texts = []
    for path in sorted(directory().iterdir()):
        texts.append(KILLED_MEANWHILE.sub("", path.read_text(encoding="utf-8", errors="replace")))
        path.unlink()
    # valgrind also uses a report file to say which bpf(2) commands it does not know. It fails
    # unknown calls.
    return [text for text in texts if any(words in text for words in REPORTS)]
