#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A training as people write it, with two faults that people make.

Each batch is augmented by NumPy in the loop, so the GPU waits for it. The features of some images
are kept on the GPU ("for the plot later"), so memory grows. Trains for the given seconds.
"""
import sys
import time

import numpy
import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x):
        return functional.relu(self.norm(self.conv(x))) + x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 64, 7, 2, 3)
        self.blocks = nn.Sequential(*[Block(64) for _ in range(4)])
        self.attention = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        x = self.blocks(self.stem(x))
        x = self.attention(x.flatten(2).transpose(1, 2)[:, :256])
        return self.head(x.mean(1))


def augment(images):
    """Noise and a flip, as a data set's transform."""
    noisy = images + numpy.random.normal(0, 0.1, images.shape)
    return numpy.ascontiguousarray(noisy[:, :, :, ::-1], dtype=numpy.float32)


def load_batch(images, labels, size):
    chosen = numpy.random.randint(0, len(images), size)
    batch = torch.from_numpy(augment(images[chosen]))
    return batch.cuda(), torch.from_numpy(labels[chosen]).cuda()


def train_step(model, optimizer, batch, labels):
    optimizer.zero_grad()
    loss = functional.cross_entropy(model(batch), labels)
    loss.backward()
    optimizer.step()
    return loss


def main():
    images = numpy.random.rand(512, 3, 64, 64)
    labels = numpy.random.randint(0, 10, 512)
    model = Net().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    losses, features = [], []
    end = time.monotonic() + float(sys.argv[1])
    while time.monotonic() < end:
        batch, target = load_batch(images, labels, 64)
        losses.append(train_step(model, optimizer, batch, target).item())
        features.append(model.stem(batch[:8]))
    print(f"{len(losses)} steps", flush=True)


if __name__ == "__main__":
    main()
