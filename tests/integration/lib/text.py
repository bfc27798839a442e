# SPDX-License-Identifier: BSD-2-Clause
"""
Compares the code of a process with its files: a breakpoint or any other patch is a difference.
"""
import re
from pathlib import Path

LINE = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (....) ([0-9a-f]+) \S+ (\d+) +(/.*)")


def executable_mappings(pid):
    """(address, length, offset in the file, path) of each mapping of a file's code."""
    for line in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines():
        found = LINE.fullmatch(line)
        if found and "x" in found[3]:
            start, end = int(found[1], 16), int(found[2], 16)
            yield start, end - start, int(found[4], 16), found[6]


def differences(pid):
    """
    (path, offset in the file, byte of the process, byte of the file) for each code byte that
    differs from its file.
    """
    found = []
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for start, length, offset, path in executable_mappings(pid):
            memory.seek(start)
            mapped = memory.read(length)
            with open(f"/proc/{pid}/map_files/{start:x}-{start + length:x}", "rb") as file:
                file.seek(offset)
                stored = file.read(length).ljust(length, b"\0")
            if mapped != stored:
                found += [(path, offset + i, a, b) for i, (a, b) in enumerate(zip(mapped, stored))
                          if a != b]
    return found
