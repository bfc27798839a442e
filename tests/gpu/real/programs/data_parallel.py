#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sound: data-parallel training on two GPUs, a process each. The first one's clock is told.

All ranks have to do as many steps: each twentieth one they agree whether it was the last.
"""
import os

import torch
import torch.distributed
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from steady import Loop, record_busy

GPUS, LAYERS, WIDTH, BATCH = 2, 12, 4096, 8192
STEPS_PER_WORD = 20


def train(rank, over):
    """Steps until over() was true in a rank."""
    layers = []
    for _ in range(LAYERS):
        layers += [nn.Linear(WIDTH, WIDTH), nn.GELU()]
    model = DistributedDataParallel(nn.Sequential(*layers).to(f"cuda:{rank}", torch.bfloat16),
                                    device_ids=[rank])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    batch = torch.randn(BATCH, WIDTH, device=f"cuda:{rank}", dtype=torch.bfloat16)
    last = torch.zeros((), device=f"cuda:{rank}")
    step = 0
    while True:
        optimizer.zero_grad(set_to_none=True)
        loss = model(batch).float().square().mean()
        loss.backward()
        optimizer.step()
        step += 1
        is_over = over()
        if step % STEPS_PER_WORD == 0:
            last.fill_(is_over)
            torch.distributed.all_reduce(last)
            if last.item():
                return


def one_rank(rank, over):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=os.environ.get("MASTER_PORT", "29511"))
    torch.cuda.set_device(rank)
    torch.distributed.init_process_group("nccl", rank=rank, world_size=GPUS)
    torch.distributed.barrier(device_ids=[rank])  # NCCL connects the ranks at the first collective
    if rank == 0:
        record_busy()
    train(rank, over)
    torch.distributed.destroy_process_group()


def never():
    return False


def main():
    loop = Loop(__doc__)
    context = torch.multiprocessing.get_context("spawn")
    others = [context.Process(target=one_rank, args=(rank, never), name=f"rank {rank}")
              for rank in range(1, GPUS)]
    for process in others:
        process.start()
    one_rank(0, loop.done)
    for process in others:
        process.join()
    loop.finish()


if __name__ == "__main__":
    main()
