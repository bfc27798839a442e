# SPDX-License-Identifier: BSD-2-Clause
"""
stuck.py WAY: PyTorch that is stuck, behind kernels of many seconds or with something else to wait
for. Each thread that will be stuck says

  READY TID FUNCTION LINE

just before, with the function and the line of this file. A line on stdin releases what the GPU does
not hold. At the end the program checks that its data are unchanged and says "right". If a call
returned although the GPU was still at work it says RETURNED. For tests/gpu/dump.py.
"""
import ctypes
import os
import subprocess
import sys
import threading
import time

import torch

CYCLES = 20_000_000_000  # some ten seconds
LAUNCHES = 4096
CHILD = ["sh", "-c", "read line; exit 7"]
PORT = 29533
RIGHT = sum(7 * i for i in range(4096))


def ready(below=0):
    """Says that the caller hangs in its line, or so many below it."""
    caller = sys._getframe(1)
    os.write(1, f"READY {threading.get_native_id()} {caller.f_code.co_name} "
             f"{caller.f_lineno + below}\n".encode())


def occupy():
    """The GPU, for many seconds, and an event behind it."""
    torch.cuda._sleep(CYCLES)
    event = torch.cuda.Event()
    event.record()
    return event


def wait_for_item(values):
    total = values.sum()
    ready(1)
    return total.item()


def wait_for_stream(_):
    ready(1)
    torch.cuda.current_stream().synchronize()


def wait_for_event(_):
    event = torch.cuda.Event()
    event.record()
    ready(1)
    event.synchronize()


def wait_for_device(_):
    ready(1)
    torch.cuda.synchronize()


def copy_back(values):
    ready(1)
    values.cpu()


def fill_queue(values):
    ready(2)
    for _ in range(LAUNCHES):
        values.add_(0)


def give_back(_):
    held = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
    del held
    ready(1)
    torch.cuda.empty_cache()


def wait_in_backward(values):
    """The engine's thread waits, and the main thread for it."""
    class Wait(torch.autograd.Function):
        @staticmethod
        def forward(_, x):
            return x * 1

        @staticmethod
        def backward(_, gradient):
            ready(1)
            torch.cuda.synchronize()
            return gradient

    torch.ones((), device="cuda")  # its kernel would be loaded in backward(), and wait for the GPU
    loss = Wait.apply(values.float().requires_grad_()).sum()
    occupy()
    ready(1)
    loss.backward()


def load_late(values):
    """PyTorch compiles this kernel when it is first wanted, and loads its module then."""
    held = values.double()
    torch.cuda.synchronize()
    occupy()
    ready(1)
    held.erfinv_()
    torch.cuda.synchronize()


def mapped(name):
    """The path of a library of this process."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return next(line.split()[-1] for line in maps if name in line)


def want_gil(ended):
    ready(1)
    while not ended: pass  # noqa: E701


def hold_gil(_):
    """C code that waits for the GPU with the interpreter's lock, which another thread wants."""
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    library, ended = ctypes.PyDLL(mapped("libcudart.so")), []
    thread = threading.Thread(target=want_gil, args=(ended,))
    thread.start()
    time.sleep(0.1)
    ready(1)
    library.cudaStreamSynchronize(stream)
    ended.append(True)
    thread.join()


def wait_for_child(_):
    with subprocess.Popen(CHILD) as child:
        ready(1)
        child.wait()


class Slow(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        time.sleep(3)
        return torch.tensor(float(index))


def wait_for_loader(_):
    loader = torch.utils.data.DataLoader(Slow(), batch_size=1, num_workers=1, pin_memory=True)
    ready(1)
    for batch in loader:
        batch.cuda(non_blocking=True)


def join_ranks(rank):
    """Two ranks on this machine. The first one does not wait for the second."""
    store = torch.distributed.TCPStore("127.0.0.1", PORT, is_master=rank == 0,
                                       wait_for_workers=False)
    torch.cuda.set_device(rank % torch.cuda.device_count())
    torch.distributed.init_process_group("nccl", rank=rank, world_size=2, store=store)


def wait_for_rank(values):
    """The second rank never comes."""
    join_ranks(0)
    ready(1)
    torch.distributed.all_reduce(values)


def wait_for_collective(values):
    """The second rank is there and leaves a collective out, until a line comes on stdin.
    Needs two GPUs."""
    with subprocess.Popen([sys.executable, __file__, "second"]) as second:
        join_ranks(0)
        torch.distributed.all_reduce(torch.ones(1, device="cuda"))
        torch.cuda.synchronize()
        torch.distributed.all_reduce(values)
        total = values.sum()
        ready(1)
        total.item()
        second.wait()
    values.floor_divide_(2)


def be_second():
    join_ranks(1)
    torch.distributed.all_reduce(torch.ones(1, device="cuda"))
    torch.cuda.synchronize()
    sys.stdin.readline()
    torch.distributed.all_reduce(torch.arange(0, 7 * 4096, 7, device="cuda"))
    torch.cuda.synchronize()


BEHIND_GPU = {"item": wait_for_item, "stream": wait_for_stream, "event": wait_for_event,
              "device": wait_for_device, "copy": copy_back, "launch": fill_queue, "free": give_back,
              "gil": hold_gil}
ALONE = {"backward": wait_in_backward, "late": load_late, "child": wait_for_child,
         "loader": wait_for_loader, "rank": wait_for_rank, "collective": wait_for_collective}


def main(way, _flags="0"):
    if way == "second":
        be_second()
        return
    values = torch.arange(0, 7 * 4096, 7, device="cuda")
    values.add_(0)
    values.float().sum().item()
    if way in BEHIND_GPU:
        behind = occupy()
        BEHIND_GPU[way](values)
        if not behind.query():
            print("RETURNED", flush=True)
    else:
        ALONE[way](values)
    print("right" if values.sum().item() == RIGHT else "wrong", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
