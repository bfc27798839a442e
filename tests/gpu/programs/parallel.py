#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Data-parallel PyTorch over all GPUs, to be watched: one process a GPU, NCCL between them.

Each rank writes its pid, device and PyTorch's memory statistics to a line of JSON.
"""
import argparse
import json
import os

import torch
import torch.distributed
import torch.multiprocessing


def rank_main(rank, ranks, steps, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.cuda.set_device(rank)
    torch.distributed.init_process_group("nccl", rank=rank, world_size=ranks)
    # Each rank a model of its own size, so that ranks cannot be mistaken for one another.
    ballast = torch.zeros((rank + 1) << 26, dtype=torch.uint8, device="cuda")
    model = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(4)]).cuda()
    model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    batch = torch.randn(256, 512, device="cuda")
    for _ in range(steps):
        optimizer.zero_grad(set_to_none=True)
        model(batch).square().mean().backward()
        optimizer.step()
    torch.cuda.synchronize()
    stats = torch.cuda.memory_stats()
    line = json.dumps({"rank": rank, "pid": os.getpid(), "ballast": ballast.numel(),
                       "uuid": str(torch.cuda.get_device_properties(rank).uuid),
                       "reserved": stats["reserved_bytes.all.current"],
                       "device_allocs": stats["num_device_alloc"],
                       "device_frees": stats["num_device_free"]})
    os.write(1, (line + "\n").encode())
    torch.distributed.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--port", type=int, default=29511)
    options = parser.parse_args()
    ranks = torch.cuda.device_count()
    torch.multiprocessing.spawn(rank_main, args=(ranks, options.steps, options.port), nprocs=ranks)


if __name__ == "__main__":
    main()
