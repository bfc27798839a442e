#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Small trainings that leak tensors, each in another way, and sound ones: leaks.py NAME SECONDS.

A line that ends in `# LEAK NAME` makes what the leak NAME keeps: leaks.py of tests/gpu compares it
with what gpuprobe says. Each writes READY after its first steps, and runs for SECONDS more.
"""
import collections
import gc
import io
import sys
import time
import typing

import torch
from torch import nn
from torch.nn import functional

WARM_UP_STEPS = 5
PAUSE = 0.02  # after each step, so that 20 programs share a GPU and what they keep stays small
WIDTH = 256


class Training:
    """A network with its optimizer and its data, and a step of it."""

    def __init__(self):
        self.model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH),
                                   nn.ReLU(), nn.Linear(WIDTH, 10)).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        self.number = 0

    def batch(self, size=64):
        return (torch.randn(size, WIDTH, device="cuda"),
                torch.randint(0, 10, (size,), device="cuda"))

    def loss(self, size=64):
        inputs, labels = self.batch(size)
        return functional.cross_entropy(self.model(inputs), labels)

    def update(self, loss, **options):
        loss.backward(**options)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def step(self):
        self.update(self.loss())


class KeptOutputs(Training):
    """A list of outputs, for statistics that nobody computes."""
    name = "list"

    def __init__(self):
        super().__init__()
        self.outputs = []

    def step(self):
        inputs, labels = self.batch(256)
        outputs = self.model(inputs)  # LEAK list
        loss = functional.cross_entropy(outputs, labels)
        self.update(loss)
        self.outputs.append(outputs.detach())


class SummedLoss(Training):
    """The sum of losses for the log, without .item(): it keeps the graphs of all steps."""
    name = "graph"

    def __init__(self):
        super().__init__()
        self.total = torch.zeros((), device="cuda")

    def step(self):
        inputs, labels = self.batch()  # LEAK graph
        outputs = self.model(inputs)  # LEAK graph
        loss = functional.cross_entropy(outputs, labels)  # LEAK graph
        self.total = self.total + loss  # LEAK graph


class Callbacks(Training):
    """Functions for later that hold the batch."""
    name = "closure"

    def __init__(self):
        super().__init__()
        self.later = []

    def step(self):
        inputs = torch.randn(128, WIDTH, device="cuda")  # LEAK closure
        labels = torch.randint(0, 10, (128,), device="cuda")
        self.update(functional.cross_entropy(self.model(inputs), labels))
        self.later.append(lambda: inputs.mean().item())


class Cache(Training):
    """A cache of features by their key, without a bound."""
    name = "cache"

    def __init__(self):
        super().__init__()
        self.features = {}

    def feature(self, key, inputs):
        if key not in self.features:
            self.features[key] = functional.normalize(inputs)  # LEAK cache
        return self.features[key]

    def step(self):
        inputs, labels = self.batch(128)
        features = self.feature(f"sample {self.number}", inputs)
        self.update(functional.cross_entropy(self.model(features), labels))


class Store(nn.Module):
    """To be compiled: its list is one of C++ objects then, and its code runs in C++."""

    items: typing.List[torch.Tensor]

    def __init__(self):
        super().__init__()
        self.items = []

    def forward(self, item: torch.Tensor) -> int:
        self.items.append(item * 2.0)
        return len(self.items)


class Compiled(Training):
    """Tensors that C++ objects keep: no Python object refers to them."""
    name = "cpp"

    def __init__(self):
        super().__init__()
        self.store = torch.jit.script(Store())

    def step(self):
        inputs, labels = self.batch(128)
        self.update(functional.cross_entropy(self.model(inputs), labels))
        self.store(inputs)  # LEAK cpp


class HiddenState(Training):
    """A recurrent network whose state is never detached: each step's graph keeps the former."""
    name = "hidden"

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(WIDTH, WIDTH).cuda()
        self.state = torch.zeros(64, WIDTH, device="cuda")

    def step(self):
        inputs, _ = self.batch()  # LEAK hidden
        self.state = self.cell(inputs, self.state)  # LEAK hidden
        self.state.mean().item()


class Pinned(Training):
    """Batches in pinned memory that a loader keeps."""
    name = "pinned"

    def __init__(self):
        super().__init__()
        self.batches = []

    def step(self):
        inputs = torch.randn(128, WIDTH).pin_memory()  # LEAK pinned
        self.batches.append(inputs)
        labels = torch.randint(0, 10, (128,), device="cuda")
        outputs = self.model(inputs.to("cuda", non_blocking=True))
        self.update(functional.cross_entropy(outputs, labels))


class Graphs(Training):
    """A CUDA graph for each shape of a batch, and each batch has another one."""
    name = "graph pool"

    def __init__(self):
        super().__init__()
        self.graphs = []

    def step(self):
        inputs = torch.randn(64 + self.number % 32, WIDTH, device="cuda")  # LEAK graph pool
        graph = torch.cuda.CUDAGraph()
        with torch.no_grad():
            self.model(inputs)
            with torch.cuda.graph(graph):
                outputs = self.model(inputs)  # LEAK graph pool
        graph.replay()
        self.graphs.append((graph, inputs, outputs))
        time.sleep(0.1)


class Errors(Training):
    """Exceptions that are kept for a summary: their tracebacks keep the frames' tensors."""
    name = "traceback"

    def __init__(self):
        super().__init__()
        self.errors = []

    def check(self):
        inputs = torch.randn(128, WIDTH, device="cuda")  # LEAK traceback
        if self.model(inputs).mean().item() < 1e9:
            raise ValueError("the mean is small")

    def step(self):
        super().step()
        try:
            self.check()
        except ValueError as error:
            self.errors.append(error)


class Sample:
    """Refers to itself, and holds a tensor."""

    def __init__(self):
        self.itself = self
        self.data = torch.ones(128, WIDTH, device="cuda")  # LEAK cycle


class Cycles(Training):
    """Objects in cycles, and no garbage collection: switched off against its pauses."""
    name = "cycle"

    def __init__(self):
        super().__init__()
        gc.disable()

    def step(self):
        sample = Sample()
        labels = torch.randint(0, 10, (128,), device="cuda")
        self.update(functional.cross_entropy(self.model(sample.data), labels))


class RetainedGraph(Training):
    """retain_graph, and the last losses are kept, all of them."""
    name = "retain_graph"

    def __init__(self):
        super().__init__()
        self.losses = []

    def step(self):
        inputs, labels = self.batch()  # LEAK retain_graph
        outputs = self.model(inputs)  # LEAK retain_graph
        loss = functional.cross_entropy(outputs, labels)  # LEAK retain_graph
        loss.backward(retain_graph=True)
        self.optimizer.zero_grad(set_to_none=True)
        self.losses.append(loss)


class Hooks(Training):
    """A hook that records activations, left in after debugging."""
    name = "hooks"

    def __init__(self):
        super().__init__()
        self.activations = []
        self.model[0].register_forward_hook(self.record)

    def record(self, _module, _inputs, output):
        self.activations.append(output.detach().clone())  # LEAK hooks


class Sound(Training):
    name = "training"


class WarmUp(Training):
    """Grows for its first steps, then has all that it needs."""
    name = "warm-up"

    def __init__(self):
        super().__init__()
        self.buffers = []

    def step(self):
        super().step()
        if len(self.buffers) < 200:
            self.buffers.append(torch.zeros(128, WIDTH, device="cuda"))


class VaryingBatches(Training):
    name = "batch sizes"

    def step(self):
        self.update(self.loss(16 + 37 * self.number % 400))


class Streams(Training):
    """Inference on four streams."""
    name = "streams"

    def __init__(self):
        super().__init__()
        self.streams = [torch.cuda.Stream() for _ in range(4)]

    def step(self):
        results = []
        for stream in self.streams:
            with torch.cuda.stream(stream), torch.no_grad():
                results.append(self.model(self.batch()[0]).argmax())
        torch.cuda.synchronize()
        for result in results:
            result.item()


class BoundedCache(Training):
    name = "bounded cache"

    def __init__(self):
        super().__init__()
        self.recent = collections.deque(maxlen=100)

    def step(self):
        inputs, labels = self.batch(128)
        self.recent.append(functional.normalize(inputs))
        self.update(functional.cross_entropy(self.model(self.recent[-1]), labels))


class Accumulation(Training):
    """Gradients of 64 batches before a step."""
    name = "accumulation"

    def step(self):
        (self.loss() / 64).backward()
        if self.number % 64 == 0:
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)


class Evaluation(Training):
    """Every 50 steps, with results that stay, but on the CPU."""
    name = "evaluation"

    def __init__(self):
        super().__init__()
        self.results = []

    def step(self):
        super().step()
        if self.number % 50 == 0:
            with torch.no_grad():
                self.results.append(self.model(self.batch(256)[0]).cpu())


class Checkpoints(Training):
    """Copies of all weights every 100 steps, which are written and go."""
    name = "checkpoints"

    def step(self):
        super().step()
        if self.number % 100 == 0:
            copy = {name: value.clone() for name, value in self.model.state_dict().items()}
            torch.save(copy, io.BytesIO())


PROGRAMS = {each.name: each for each in (
    KeptOutputs, SummedLoss, Callbacks, Cache, Compiled, HiddenState, Pinned, Graphs, Errors,
    Cycles, RetainedGraph, Hooks, Sound, WarmUp, VaryingBatches, Streams, BoundedCache,
    Accumulation, Evaluation, Checkpoints)}


def main():
    program, seconds = PROGRAMS[sys.argv[1]](), float(sys.argv[2])
    end = None
    while not end or time.monotonic() < end:
        program.step()
        program.number += 1
        if program.number == WARM_UP_STEPS:
            print("READY", flush=True)
            end = time.monotonic() + seconds
        time.sleep(PAUSE)


main()
