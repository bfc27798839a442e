#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Holds memory on GPUs until its input ends: held.py NUMBER.

Each number holds another amount. The GPUs take turns, and every fourth program holds memory on all.
"""
import sys

import torch

number, gpus = int(sys.argv[1]), torch.cuda.device_count()
held = [torch.empty((number + 1) * 100 << 20, dtype=torch.uint8, device=f"cuda:{gpu}")
        for gpu in (range(gpus) if number % 4 == 3 else [number % gpus])]
torch.cuda.synchronize()
print("READY", flush=True)
sys.stdin.read()
