#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Ranks of PyTorch, one for each GPU, that make collectives; one may misbehave. To be watched by
`gpuprobe nccl`.

Each rank writes a line of JSON with its rank and pid, and at its end one with what it has called.
The rank that misbehaves writes another one just before it does: the time, and the line of its
Python code.
"""
import argparse
import collections
import ctypes
import json
import multiprocessing
import os
import signal
import sys
import threading
import time

SHAPES = ("plain", "ddp", "fsdp", "pipeline", "alltoall", "split", "loop")
FAULTS = ("none", "skip", "extra", "size", "type", "order", "slow", "dead", "stopped", "host",
          "gil", "exception", "spin", "lock")
SLOW_SECONDS = 0.03


def say(**what):
    os.write(1, (json.dumps(what) + "\n").encode())


def announce(options, rank, code):
    """The fault begins now, in this function."""
    say(fault=options.fault, rank=rank, pid=os.getpid(), ns=time.clock_gettime_ns(
        time.CLOCK_BOOTTIME), function=code.co_name, first=code.co_firstlineno)


# --- faults in which a rank does not come; each in a function of its own ---

def sleep_in_host_code():
    time.sleep(3600)


def spin_in_host_code():
    end = time.monotonic() + 3600
    while time.monotonic() < end:
        pass


def wait_for_lock():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def hold_gil():
    ctypes.PyDLL(None).sleep(3600)  # PyDLL keeps the lock of the interpreter


def want_gil():
    threading.Thread(target=hold_gil, daemon=True).start()
    time.sleep(0.2)
    while True:
        time.sleep(0.001)


def stop_itself():
    os.kill(os.getpid(), signal.SIGSTOP)


def kill_itself():
    os.kill(os.getpid(), signal.SIGKILL)


def fail():
    raise RuntimeError("a rank fails, as it was told to")


MISSING = {"host": sleep_in_host_code, "spin": spin_in_host_code, "lock": wait_for_lock,
           "gil": want_gil, "stopped": stop_itself, "dead": kill_itself, "exception": fail}


class Rank:
    """A rank with its tensors; counts the collectives that it makes itself."""

    def __init__(self, number, options):
        import torch
        import torch.distributed as dist
        self.torch, self.dist, self.number, self.options = torch, dist, number, options
        self.called = collections.Counter()
        torch.cuda.set_device(number)
        dist.init_process_group("nccl", rank=number, world_size=options.ranks,
                                device_id=torch.device("cuda", number) if options.eager else None)
        self.small = torch.ones(1 << 10, device="cuda")
        self.large = torch.ones(1 << 16, device="cuda", dtype=torch.bfloat16)
        self.group = None
        self.work = getattr(self, options.shape)
        getattr(self, f"make_{options.shape}", lambda: None)()

    def is_chosen(self, step):
        return self.options.fault != "none" and self.number == self.options.rank and \
            step >= self.options.at

    def reduce(self, tensor, group=None):
        self.dist.all_reduce(tensor, group=group)
        self.called["all_reduce"] += 1

    def broadcast(self, tensor):
        self.dist.broadcast(tensor, 0)
        self.called["broadcast"] += 1

    def gather(self, tensor):
        out = self.torch.empty(tensor.numel() * self.options.ranks, dtype=tensor.dtype,
                               device="cuda")
        self.dist.all_gather_into_tensor(out, tensor)
        self.called["all_gather"] += 1

    # --- shapes ---

    def plain(self, step):
        """Three different collectives, of which the second one may go wrong."""
        fault = self.options.fault if self.is_chosen(step) and step == self.options.at else "none"
        self.reduce(self.large)
        if fault in ("skip", "extra", "size", "type", "order"):
            announce(self.options, self.number, self.plain.__code__)
        if fault == "order":
            self.broadcast(self.large)
            self.gather(self.small)
            return
        if fault == "extra":
            self.broadcast(self.large)
        if fault == "size":
            self.gather(self.small[:512])
        elif fault == "type":
            self.gather(self.small.half())
        elif fault != "skip":
            self.gather(self.small)
        self.broadcast(self.large)

    def make_split(self):
        self.group = self.dist.new_group(list(range(self.options.ranks)))

    def make_ddp(self):
        torch = self.torch
        model = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(6)]).cuda()
        self.model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[self.number])
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-6)
        self.batch = torch.randn(256, 1024, device="cuda")

    def make_fsdp(self):
        torch = self.torch
        from torch.distributed.fsdp import FullyShardedDataParallel
        model = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(6)]).cuda()
        self.model = FullyShardedDataParallel(model)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-6)
        self.batch = torch.randn(256, 1024, device="cuda")

    def ddp(self, step):
        del step
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.model(self.batch).square().mean()
        loss.backward()
        self.optimizer.step()

    fsdp = ddp

    def pipeline(self, step):
        del step
        last = self.options.ranks - 1
        if self.number:
            self.dist.recv(self.small, self.number - 1)
        if self.number < last:
            self.dist.send(self.small, self.number + 1)

    def alltoall(self, step):
        del step
        out = self.torch.empty_like(self.large)
        self.dist.all_to_all_single(out, self.large)

    def split(self, step):
        self.plain(step)
        self.reduce(self.small, group=self.group)

    def make_loop(self):
        self.buffers = [self.torch.ones(max(size // 4, 2), device="cuda")
                        for size in (8, 1 << 16, 1 << 20, 1 << 26, 1 << 30)]

    def loop(self, step):
        del step
        for buffer in self.buffers:
            count = 200 if buffer.numel() <= 1 << 18 else 5
            self.torch.cuda.synchronize()
            begin = time.monotonic()
            for _ in range(count):
                self.reduce(buffer)
            issued = time.monotonic() - begin
            self.torch.cuda.synchronize()
            if not self.number:
                say(bytes=buffer.numel() * 4, count=count, issued_us=issued / count * 1e6,
                    us=(time.monotonic() - begin) / count * 1e6)

    # --- steps ---

    def misbehave(self, step):
        if step == self.options.at and self.options.fault in MISSING:
            fault = MISSING[self.options.fault]
            announce(self.options, self.number, fault.__code__)
            fault()
        if self.options.fault == "slow":
            if step == self.options.at:
                announce(self.options, self.number, self.misbehave.__code__)
            time.sleep(SLOW_SECONDS)

    def run(self):
        for step in range(self.options.steps):
            if self.options.pause:
                time.sleep(self.options.pause)
            if self.is_chosen(step):
                self.misbehave(step)
            self.work(step)
            self.small.sum().item()  # it waits for the GPU, as most training does
        self.torch.cuda.synchronize()
        say(rank=self.number, called=self.called)
        self.dist.destroy_process_group()


def rank_main(number, options):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(options.port))
    say(rank=number, pid=os.getpid())
    Rank(number, options).run()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", choices=SHAPES, default="plain")
    parser.add_argument("--fault", choices=FAULTS, default="none")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rank", type=int, default=1)
    parser.add_argument("--at", type=int, default=20)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--pause", type=float, default=0.01)
    parser.add_argument("--port", type=int, default=29531)
    parser.add_argument("--eager", action="store_true", help="create communicators at once")
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    ranks = [context.Process(target=rank_main, args=(number, options))
             for number in range(options.ranks)]
    for rank in ranks:
        rank.start()
    # A rank that fails leaves the others waiting, as on other nodes.
    for rank in ranks:
        rank.join()
    sys.exit(any(rank.exitcode for rank in ranks))


if __name__ == "__main__":
    main()
