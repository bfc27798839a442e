# SPDX-License-Identifier: BSD-2-Clause
"""
A FUSE file system that speaks to the kernel directly: one file in one directory, served from
memory, optionally late, until it is made to stop answering. Then every request to it waits forever.
"""
import ctypes
import os
import select
import stat
import struct
import threading
import time

INIT, LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE, FLUSH, OPENDIR, ACCESS, BATCH_FORGET = (
    26, 1, 2, 3, 14, 15, 17, 18, 25, 27, 34, 42)
UNKNOWN = -38  # ENOSYS: the kernel works without this request
MNT_DETACH = 2

libc = ctypes.CDLL(None, use_errno=True)


def call(function, *args):
    if function(*args) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def parent_of(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("PPid:"))
    except (OSError, StopIteration):
        return 0


class Served:
    """`content` as the file `name` in a FUSE file system mounted at `directory`."""

    def __init__(self, directory, name, content):
        self.directory, self.name, self.content = directory, name, content
        self.path = directory / name
        self.silent = False
        self.late = 0  # delay of each read of the file, in seconds
        # For each read of the file while it is silent or late: the process and its parent.
        self.askers = []
        self.device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        options = f"fd={self.device},rootmode=40755,user_id=0,group_id=0,allow_other"
        call(libc.mount, b"served", str(directory).encode(), b"fuse", 0, options.encode())
        self.stop, self.stopped = os.pipe()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        # Waiting processes get the error that it is gone.
        os.close(self.stopped)
        self.thread.join(10)
        os.close(self.stop)
        os.close(self.device)
        libc.umount2(str(self.directory).encode(), MNT_DETACH)

    @property
    def asked(self):
        """Number of requests by anyone."""
        return len(self.askers)

    def asked_by(self, pid):
        """
        Number of requests by this process and its children; other programs of the machine may read
        it too.
        """
        return sum(pid in asker for asker in self.askers)

    def fall_silent(self):
        self.silent = True

    def serve(self):
        while self.device in select.select([self.device, self.stop], [], [])[0]:
            try:
                request = os.read(self.device, 1 << 20)
            except OSError:
                return
            _, opcode, unique, node, _, _, pid = struct.unpack_from("<IIQQIII", request)
            if opcode in (FORGET, BATCH_FORGET):
                continue
            if opcode == READ and (self.silent or self.late):
                self.askers.append((pid, parent_of(pid)))
            if self.silent:
                continue
            if opcode == READ:
                time.sleep(self.late)
            answer = self.answer(opcode, node, request[40:])
            error, body = (answer, b"") if isinstance(answer, int) else (0, answer)
            try:
                os.write(self.device, struct.pack("<IiQ", 16 + len(body), error, unique) + body)
            except OSError:
                pass  # interrupted meanwhile

    def attributes(self, node):
        mode = stat.S_IFDIR | 0o755 if node == 1 else stat.S_IFREG | 0o755
        size = 0 if node == 1 else len(self.content)
        return struct.pack("<QQQQQQIIIIIIIIII", node, size, (size + 511) // 512, 0, 0, 0, 0, 0, 0,
                           mode, 1, 0, 0, 0, 4096, 0)

    def answer(self, opcode, node, body):
        if opcode == INIT:
            return struct.pack("<IIIIHHIIHHI", 7, 31, 0, 0, 16, 12, 1 << 16, 1, 0, 0, 0) + bytes(28)
        if opcode == LOOKUP:
            if body.rstrip(b"\0") != self.name.encode():
                return -2
            return struct.pack("<QQQQII", 2, 0, 0, 0, 0, 0) + self.attributes(2)
        if opcode == GETATTR:
            return struct.pack("<QII", 0, 0, 0) + self.attributes(node)
        if opcode in (OPEN, OPENDIR):
            return struct.pack("<QII", 0, 0, 0)
        if opcode == READ:
            _, offset, size = struct.unpack_from("<QQI", body)
            return self.content[offset:offset + size]
        if opcode == STATFS:
            return bytes(80)
        return b"" if opcode in (RELEASE, FLUSH, ACCESS) else UNKNOWN
