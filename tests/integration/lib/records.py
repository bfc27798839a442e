# SPDX-License-Identifier: BSD-2-Clause
"""
The records of a running gpuprobe's processes (struct process_record), in the memory of its BPF
programs.
"""
import ctypes
import mmap
import os
import struct
import time

from lib import leftovers

BPF_SYSCALL = 321  # x86-64
MAP_GET_FD_BY_ID = 14
STATE, PID, THREADS = 0, 4, 24  # offsets in a record
FREE = 0  # PROCESS_FREE


def _open(number):
    attributes = ctypes.create_string_buffer(struct.pack("=I", number), 128)
    fd = ctypes.CDLL(None, use_errno=True).syscall(BPF_SYSCALL, MAP_GET_FD_BY_ID, attributes,
                                                   len(attributes))
    if fd < 0:
        raise OSError(ctypes.get_errno(), "BPF_MAP_GET_FD_BY_ID")
    return fd


class Records:
    """The records of the gpuprobe with this pid."""

    def __init__(self, pid):
        held = {number for kind, number in leftovers.objects_of(pid) if kind == "map"}
        [found] = [m for m in leftovers.bpftool("map")
                   if m["id"] in held and m.get("name") == "processes"]
        self._size = (found["bytes_value"] + 7) & ~7
        self._count = found["max_entries"]
        fd = _open(found["id"])
        self._memory = mmap.mmap(fd, self._size * self._count)
        os.close(fd)

    def _of(self, pid):
        [place] = [slot * self._size for slot in range(self._count)
                   if struct.unpack_from("=i", self._memory, slot * self._size + PID) == (pid,)]
        return place

    def wait_until_free(self, timeout=60):
        """
        Waits until no slot is in use by a living process or by an ended one that was not read yet.
        """
        end = time.monotonic() + timeout
        while any(struct.unpack_from("=I", self._memory, slot * self._size + STATE) != (FREE,)
                  for slot in range(self._count)):
            assert time.monotonic() < end, "the places of processes that have ended are not free"
            time.sleep(0.02)

    def threads(self, pid):
        """The number of the process's threads that have made calls and still exist."""
        return struct.unpack_from("=I", self._memory, self._of(pid) + THREADS)[0]

    def add_thread(self, pid, change):
        """Changes the number of threads by `change`: 1 or -1."""
        struct.pack_into("=I", self._memory, self._of(pid) + THREADS, self.threads(pid) + change)
