# SPDX-License-Identifier: BSD-2-Clause
"""Three PyTorch programs, each also with small changes that make it worse: for `gpuprobe diff`.

usage: regressions.py PROGRAM SECONDS WAY [WAY...]

PROGRAM: cnn or transformer, which train, or inference. WAY: same, or a change of CHANGES[PROGRAM].
Several ways run side by side, each in a process of its own. Each process repeats its step for so
many seconds after a warm-up. The last line is JSON: a list with the way, pid and mean duration of a
step in milliseconds of each.
"""
import json
import os
import subprocess
import sys
import time

CHANGES = {
    "cnn": ("item", "synchronize", "pageable", "copy twice", "growth", "empty_cache",
            "second stream", "half batches", "loop optimizer", "zero grads"),
    "transformer": ("float32 in between", "attention by hand", "gelu by hand", "norm on the CPU",
                    "nonzero", "loop optimizer"),
    "inference": ("copy back twice", "scalar from the CPU", "contiguous", "isfinite"),
}
WARM_UP = 20  # steps


def cnn(torch, way):
    """Batches from pinned memory, a small network, SGD. Yields after each step."""
    nn = torch.nn
    model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
                          nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.BatchNorm2d(64), nn.ReLU(),
                          nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9,
                                foreach=way != "loop optimizer")
    images = torch.randn(64, 3, 64, 64)
    labels = torch.randint(0, 10, (64,))
    if way != "pageable":
        images, labels = images.pin_memory(), labels.pin_memory()
    parts = 2 if way == "half batches" else 1
    other, kept = torch.cuda.Stream(), []

    def update():
        if way != "second stream":
            optimizer.step()
            return
        other.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(other):
            optimizer.step()
        torch.cuda.current_stream().wait_stream(other)

    while True:
        x, y = images.cuda(non_blocking=True), labels.cuda(non_blocking=True)
        if way == "copy twice":
            x = images.cuda(non_blocking=True)
        optimizer.zero_grad(set_to_none=way != "zero grads")
        for part, wanted in zip(x.chunk(parts), y.chunk(parts)):
            loss = nn.functional.cross_entropy(model(part), wanted) / parts
            loss.backward()
        update()
        if way == "item":
            loss.item()
        elif way == "synchronize":
            torch.cuda.synchronize()
        elif way == "growth":
            kept.append(x.clone())
        elif way == "empty_cache":
            torch.cuda.empty_cache()
        yield


def attend(torch, way, q, k, v):
    if way != "attention by hand":
        return torch.nn.functional.scaled_dot_product_attention(q, k, v)
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    return scores.softmax(-1) @ v


def activate(torch, way, x):
    if way != "gelu by hand":
        return torch.nn.functional.gelu(x)
    return 0.5 * x * (1 + torch.erf(x / 2 ** 0.5))


def layers_of(torch, count, width):
    nn = torch.nn
    return nn.ModuleList([nn.ModuleDict({
        "norm": nn.LayerNorm(width), "qkv": nn.Linear(width, 3 * width),
        "out": nn.Linear(width, width), "up": nn.Linear(width, 4 * width),
        "down": nn.Linear(4 * width, width)}) for _ in range(count)]).cuda().bfloat16()


def apply(torch, way, layers, x, heads):
    for layer in layers:
        y = layer["norm"](x)
        if way == "float32 in between":
            y = y.float().bfloat16()
        q, k, v = (t.unflatten(-1, (heads, -1)).transpose(1, 2)
                   for t in layer["qkv"](y).chunk(3, -1))
        x = x + layer["out"](attend(torch, way, q, k, v).transpose(1, 2).flatten(2))
        x = x + layer["down"](activate(torch, way, layer["up"](x)))
    return x


def transformer(torch, way):
    layers = layers_of(torch, 4, 256)
    optimizer = torch.optim.AdamW(layers.parameters(), lr=1e-4, foreach=way != "loop optimizer")
    batch = torch.randn(8, 128, 256).bfloat16().pin_memory()
    while True:
        x = batch.cuda(non_blocking=True)
        optimizer.zero_grad()
        y = apply(torch, way, layers, x, 8)
        loss = y.float().pow(2).mean()
        loss.backward()
        if way == "norm on the CPU":
            sum(p.grad.norm().item() for p in list(layers.parameters())[:4])
        elif way == "nonzero":
            (y[0, 0] > 0).nonzero()
        optimizer.step()
        yield


def inference(torch, way):
    layers = layers_of(torch, 4, 256)
    batch = torch.randn(4, 128, 256).bfloat16().pin_memory()
    with torch.inference_mode():
        while True:
            x = batch.cuda(non_blocking=True)
            if way == "contiguous":
                x = x.transpose(1, 2).contiguous().transpose(1, 2).contiguous()
            elif way == "scalar from the CPU":
                x = x * torch.tensor(1.0, device="cuda")
            y = apply(torch, way, layers, x, 8)
            if way == "isfinite" and not torch.isfinite(y).all():
                sys.exit("not finite")
            y.float().cpu()
            if way == "copy back twice":
                y.float().cpu()
            yield


def run(program, seconds, way):
    """The mean duration of a step in milliseconds."""
    import torch  # late: a process with several ways only starts others

    torch.manual_seed(0)
    steps = {"cnn": cnn, "transformer": transformer, "inference": inference}[program](torch, way)
    for _ in range(WARM_UP):
        next(steps)
    torch.cuda.synchronize()
    began, count = time.monotonic(), 0
    while time.monotonic() - began < seconds:
        next(steps)
        count += 1
    torch.cuda.synchronize()
    return 1000 * (time.monotonic() - began) / count


def run_side_by_side(program, seconds, ways):
    started = [(way, subprocess.Popen([sys.executable, __file__, program, seconds, way],
                                      stdout=subprocess.PIPE, text=True)) for way in ways]
    told = []
    for way, process in started:
        out = process.communicate()[0]
        if process.returncode:
            sys.exit(f"{program}, {way}: exit status {process.returncode}")
        told += json.loads(out.splitlines()[-1])
    return told


def main():
    program, seconds, *ways = sys.argv[1:]
    if len(ways) > 1:
        print(json.dumps(run_side_by_side(program, seconds, ways)))
        return
    step = run(program, float(seconds), ways[0])
    print(json.dumps([{"way": ways[0], "pid": os.getpid(), "step": step}]))


if __name__ == "__main__":
    main()
