#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Data-parallel PyTorch over all GPUs, of which the last comes late to each step, to be watched.

Each rank writes its rank and pid to a line of JSON.
"""
import argparse
import json
import os
import time

import torch
import torch.distributed
import torch.multiprocessing

LATE_SECONDS = 0.03


def come_late():
    time.sleep(LATE_SECONDS)


def rank_main(rank, ranks, seconds, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.cuda.set_device(rank)
    torch.distributed.init_process_group("nccl", rank=rank, world_size=ranks)
    model = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048) for _ in range(8)]).cuda()
    model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    batch = torch.randn(512, 2048, device="cuda")
    os.write(1, (json.dumps({"rank": rank, "pid": os.getpid()}) + "\n").encode())
    goes_on = torch.ones(1, device="cuda")
    end = time.monotonic() + seconds
    while goes_on.item():
        if rank == ranks - 1:
            come_late()
        optimizer.zero_grad(set_to_none=True)
        model(batch).square().mean().backward()
        optimizer.step()
        goes_on.fill_(rank != 0 or time.monotonic() < end)
        torch.distributed.all_reduce(goes_on, torch.distributed.ReduceOp.MIN)
    torch.distributed.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--port", type=int, default=29513)
    options = parser.parse_args()
    ranks = torch.cuda.device_count()
    torch.multiprocessing.spawn(rank_main, args=(ranks, options.seconds, options.port),
                                nprocs=ranks)


if __name__ == "__main__":
    main()
