# SPDX-License-Identifier: BSD-2-Clause
"""Pictures and a small network for them, as the programs with a data loader use them."""
import numpy
import torch
from torch import nn

SIDE, CLASSES, BATCH = 224, 100, 64
MEAN = numpy.array([0.485, 0.456, 0.406], numpy.float32)[:, None, None]
DEVIATION = numpy.array([0.229, 0.224, 0.225], numpy.float32)[:, None, None]


def augment(picture, random):
    """A picture of bytes as the network wants it: cropped, flipped, with noise, normalised."""
    top, left = random.integers(0, picture.shape[1] - SIDE, 2)  # FAULT
    picture = picture[:, top:top + SIDE, left:left + SIDE]  # FAULT
    if random.random() < 0.5:  # FAULT
        picture = picture[:, :, ::-1]  # FAULT
    values = picture.astype(numpy.float32) / 255  # FAULT
    values += random.normal(0, 0.02, values.shape).astype(numpy.float32)  # FAULT
    return (values - MEAN) / DEVIATION  # FAULT


class Pictures(torch.utils.data.Dataset):
    """Decoded pictures in memory, augmented when they are asked for. Without an end."""

    def __init__(self, count=512):
        self.pictures = numpy.random.default_rng(1).integers(
            0, 256, (count, 3, 256, 256), numpy.uint8)

    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        picture = self.pictures[index % len(self.pictures)]
        values = augment(picture, numpy.random.default_rng(index))  # FAULT
        return torch.from_numpy(values), index % CLASSES


def network():
    """A residual network's first half: the GPU does a batch in some milliseconds."""
    layers = [nn.Conv2d(3, 64, 7, stride=2, padding=3), nn.BatchNorm2d(64), nn.ReLU(),
              nn.MaxPool2d(2)]
    for before, after in ((64, 128), (128, 256), (256, 512)):
        layers += [nn.Conv2d(before, after, 3, stride=2, padding=1), nn.BatchNorm2d(after),
                   nn.ReLU(), nn.Conv2d(after, after, 3, padding=1), nn.BatchNorm2d(after),
                   nn.ReLU()]
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, CLASSES)]
    return nn.Sequential(*layers).to("cuda", memory_format=torch.channels_last)


def learn(model, optimizer, images, labels):
    """A training step; the loss, on the GPU."""
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cuda", torch.bfloat16):
        loss = nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss
