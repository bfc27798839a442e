# SPDX-License-Identifier: BSD-2-Clause
"""The records of a running gpuprobe's processes (struct process_record),
in the memory that its BPF programs use."""
import ctypes
import mmap
import os
import struct
import time

from lib import leftovers

BPF_SYSCALL = 321  # of x86-64
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
    """Those of the gpuprobe with this pid."""

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
        """Until no place is taken, by a process that lives, or has ended and was not read since."""
        end = time.monotonic() + timeout
        while any(struct.unpack_from("=I", self._memory, slot * self._size + STATE) != (FREE,)
                  for slot in range(self._count)):
            assert time.monotonic() < end, "the places of processes that have ended are not free"
            time.sleep(0.02)

    def threads(self, pid):
        """How many of the process's threads have called and have not left."""
        return struct.unpack_from("=I", self._memory, self._of(pid) + THREADS)[0]

    def add_thread(self, pid, change):
        """One more, or with -1 one less, than there are."""
        struct.pack_into("=I", self._memory, self._of(pid) + THREADS, self.threads(pid) + change)
