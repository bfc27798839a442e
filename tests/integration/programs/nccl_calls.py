# SPDX-License-Identifier: BSD-2-Clause
"""nccl_calls.py WHAT: calls of the simulated libnccl that sim/workloads/ranks.c does not make; each
WHAT is a function below. Says "done", and ends when gpuprobe has had the time to read its memory.
"""
import ctypes
import os
import sys
import threading
import time

SIM = os.environ["CUDA_SIM_DIRECTORY"]
cudart = ctypes.CDLL("libcudart.so.13")
nccl = ctypes.CDLL(os.path.join(SIM, "nccl/libnccl.so.2"))
FLOAT, SUM, IN_PROGRESS = 7, 0, 7


class Id(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 128)]


class Config(ctypes.Structure):
    """ncclConfig_t as of 2.28."""
    _fields_ = [("size", ctypes.c_size_t), ("magic", ctypes.c_uint), ("version", ctypes.c_uint),
                ("blocking", ctypes.c_int), ("cga", ctypes.c_int), ("min", ctypes.c_int),
                ("max", ctypes.c_int), ("net", ctypes.c_char_p), ("share", ctypes.c_int),
                ("traffic", ctypes.c_int), ("name", ctypes.c_char_p), ("rest", ctypes.c_int * 6)]


def need(result, *allowed):
    assert result in (0, *allowed), result


def new_id():
    number = Id()
    need(nccl.ncclGetUniqueId(ctypes.byref(number)))
    return number


def config(blocking=1, name=None):
    return Config(ctypes.sizeof(Config), 0xcafebeef, 22809, blocking, net=None, name=name)


def init(number, size, rank, settings=None, *allowed):
    comm = ctypes.c_void_p()
    need(nccl.ncclCommInitRankConfig(ctypes.byref(comm), size, number, rank,
                                     ctypes.byref(settings or config())), *allowed)
    return comm


def reduce(comm, stream=None):
    data = ctypes.c_void_p(0x10000)
    need(nccl.ncclAllReduce(data, data, ctypes.c_size_t(64), FLOAT, SUM, comm, stream))


def named():
    comm = init(new_id(), 1, 0, config(name=b"tensor\x1b[31m parallel"))
    reduce(comm)
    need(nccl.ncclCommDestroy(comm))


def split_in_group():
    """The child's address is there at the end of the group."""
    parent, child = init(new_id(), 1, 0), ctypes.c_void_p()
    need(nccl.ncclGroupStart())
    need(nccl.ncclCommSplit(parent, 0, 0, ctypes.byref(child), None))
    need(nccl.ncclGroupEnd())
    assert child.value
    for _ in range(3):
        reduce(child)


def init_all():
    comms = (ctypes.c_void_p * 2)()
    need(nccl.ncclCommInitAll(comms, 2, None))
    for _ in range(3):
        need(nccl.ncclGroupStart())
        for device, comm in enumerate(comms):
            need(cudart.cudaSetDevice(device))
            reduce(ctypes.c_void_p(comm))
        need(nccl.ncclGroupEnd())


def nonblocking():
    comm, state = init(new_id(), 1, 0, config(blocking=0), IN_PROGRESS), ctypes.c_int(IN_PROGRESS)
    while state.value == IN_PROGRESS:
        need(nccl.ncclCommGetAsyncError(comm, ctypes.byref(state)))
    need(nccl.ncclAllReduce(None, None, ctypes.c_size_t(4), FLOAT, SUM, comm, None), IN_PROGRESS)


def many():
    """More communicators than a process may have here."""
    for _ in range(2000):
        init(new_id(), 1, 0)


def hold_gil():
    ctypes.PyDLL(None).sleep(600)


def gil():
    """Two ranks: of one, a thread holds the lock of the interpreter."""
    number = new_id()
    child = os.fork()
    rank = 0 if child else 1
    comm, stream = init(number, 2, rank), ctypes.c_void_p()
    need(cudart.cudaStreamCreate(ctypes.byref(stream)))
    for _ in range(5):
        reduce(comm, stream)
    if rank:
        threading.Thread(target=hold_gil, daemon=True).start()
    reduce(comm, stream)
    need(cudart.cudaStreamSynchronize(stream))


def load_batch():
    time.sleep(0.02)


def late():
    """Two ranks, for 8 s: one of them loads its data between collectives."""
    number, memory, stream = new_id(), ctypes.c_void_p(), ctypes.c_void_p()
    rank = 0 if os.fork() else 1
    comm = init(number, 2, rank)
    need(cudart.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4096)))
    need(cudart.cudaStreamCreate(ctypes.byref(stream)))
    for _ in range(400):
        if rank:
            load_batch()
        need(cudart.cudaMemsetAsync(memory, 0, ctypes.c_size_t(4096), stream))
        reduce(comm, stream)
        need(cudart.cudaStreamSynchronize(stream))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    print("done", flush=True)
    time.sleep(1)
