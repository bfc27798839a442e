#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs of PyTorch whose steps are timed: torch_programs.py KIND STEPS [--device cpu].

Each thread or rank N writes its steps to STEPS.N (steps.py) until it is killed, and each
process prints a line of JSON once it runs. torchrun starts `parallel`, in a process for each GPU.
With --device cpu the models are small and run without a GPU, to try this script.
"""
import argparse
import gc
import json
import os
import pathlib
import platform
import sys
import threading

import torch

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import torch_loops  # noqa: E402  pylint: disable=wrong-import-position
from steps import StepFile, Yardstick

WARM_UP = 20  # steps: workspaces, choice of algorithms, compilation
LAYERS, WIDTH, BATCH = 8, 512, 256  # training that waits for Python to launch
DECODE_LAYERS, DECODE_WIDTH, HEADS, CONTEXT, WORDS = 12, 768, 12, 512, 32000
THREADS = 4
SMALL = 64  # width and rows without a GPU


def mlp(device, width, layers=LAYERS):
    parts = []
    for _ in range(layers):
        parts += [torch.nn.Linear(width, width), torch.nn.ReLU()]
    return torch.nn.Sequential(*parts).to(device)


def training(device, compiled=False, wrapped=lambda model: model):
    """A small model, which the GPU does faster than Python can launch it."""
    width, rows = (WIDTH, BATCH) if device.type == "cuda" else (SMALL, SMALL)
    model = wrapped(mlp(device, width))
    run = torch.compile(model) if compiled else model
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    batch = torch.randn(rows, width, device=device)

    def step():
        optimizer.zero_grad(set_to_none=True)
        run(batch).square().mean().backward()
        optimizer.step()
    return step


class Block(torch.nn.Module):
    """A layer of a decoder, for one token after a full context."""

    def __init__(self, width, heads, context):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.first, self.second = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.randn(1, heads, context, self.size))

    def forward(self, hidden, place):
        query, key, value = (part.view(1, self.heads, 1, self.size)
                             for part in self.qkv(self.first(hidden)).chunk(3, -1))
        self.keys.index_copy_(2, place, key)
        self.values.index_copy_(2, place, value)
        attended = torch.nn.functional.scaled_dot_product_attention(query, self.keys, self.values)
        hidden = hidden + self.out(attended.reshape(1, -1))
        return hidden + self.down(torch.nn.functional.gelu(self.up(self.second(hidden))))


class Decoder(torch.nn.Module):
    """From a token to the next one; the places of its context are written in turn."""

    def __init__(self, small):
        super().__init__()
        width, heads, layers, context, words = (
            (SMALL, 4, 2, 16, 100) if small
            else (DECODE_WIDTH, HEADS, DECODE_LAYERS, CONTEXT, WORDS))
        self.context, self.embedding = context, torch.nn.Embedding(words, width)
        self.blocks = torch.nn.ModuleList(Block(width, heads, context) for _ in range(layers))
        self.head = torch.nn.Linear(width, words)
        self.register_buffer("token", torch.zeros(1, dtype=torch.long))
        self.register_buffer("place", torch.zeros(1, dtype=torch.long))

    def forward(self):
        hidden = self.embedding(self.token)
        for block in self.blocks:
            hidden = block(hidden, self.place)
        self.token.copy_(self.head(hidden).argmax(-1))
        self.place.add_(1).remainder_(self.context)


def decoding(device, graph=False):
    """A token each step, which the program reads."""
    model = Decoder(device.type != "cuda").to(device)
    if device.type == "cuda":
        model = model.half()

    def step():
        with torch.no_grad():
            model()
        return model.token.item()

    if not graph or device.type != "cuda":
        return step
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    captured = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(captured):
        model()

    def replay():
        captured.replay()
        return model.token.item()
    return replay


def inference(device):
    """One thread's requests to a small model, each on the thread's own stream."""
    width = WIDTH if device.type == "cuda" else SMALL
    model, batch = mlp(device, width), torch.randn(8, width, device=device)
    stream = torch.cuda.Stream() if device.type == "cuda" else None

    def step():
        with torch.no_grad(), torch.cuda.stream(stream):
            model(batch)
        if stream:
            stream.synchronize()
    return step


def parallel(device):
    """Data-parallel training of the small model."""
    from torch.nn.parallel import DistributedDataParallel
    own = [device.index] if device.type == "cuda" else None
    return training(device, wrapped=lambda model: DistributedDataParallel(model, device_ids=own))


KINDS = {
    "training": training,
    "compiled": lambda device: training(device, compiled=True),
    "decoding": decoding,
    "decoding_graph": lambda device: decoding(device, graph=True),
    "inference": inference,
    "parallel": parallel,
    "busy": lambda device: torch_loops.busy(device.type),
}


def own_device(kind, name):
    """This process's device and rank; of a data-parallel run, in its group."""
    if kind != "parallel":
        return torch.device(name), 0
    rank = int(os.environ["LOCAL_RANK"])
    torch.distributed.init_process_group("nccl" if name == "cuda" else "gloo")
    if name != "cuda":
        return torch.device(name), rank
    torch.cuda.set_device(rank)
    return torch.device(name, rank), rank


def run(step, path, yardstick=None):
    steps = StepFile(path, yardstick)
    while True:
        steps.mark()
        step()


def tell():
    """One write, since the ranks share their standard output."""
    cuda = torch.cuda.is_available()
    ready = {"pid": os.getpid(), "python": platform.python_version(), "torch": torch.__version__,
             "cuda": torch.version.cuda, "gpu": torch.cuda.get_device_name() if cuda else None}
    os.write(1, (json.dumps(ready) + "\n").encode())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("steps")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    device, rank = own_device(options.kind, options.device)
    threads = THREADS if options.kind == "inference" else 1
    made = [KINDS[options.kind](device) for _ in range(threads)]
    for step in made:
        for _ in range(WARM_UP):
            step()
    yardstick = Yardstick() if threads == 1 else None
    gc.collect()
    gc.freeze()
    gc.disable()
    tell()
    for number, step in enumerate(made[1:], 1):
        threading.Thread(target=run, args=(step, f"{options.steps}.{number}"), daemon=True).start()
    run(made[0], f"{options.steps}.{rank}", yardstick)


if __name__ == "__main__":
    main()
