#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sound: training of a GPT-2 of 350 million parameters in bfloat16, fused optimizer,
the loss read now and then."""
import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")
import torch  # noqa: E402
from transformers import GPT2Config, GPT2LMHeadModel  # noqa: E402

from steady import Loop  # noqa: E402

LENGTH, BATCH = 1024, 12
STEPS_PER_LINE = 20


def train(loop):
    config = GPT2Config(n_layer=24, n_embd=1024, n_head=16, n_positions=LENGTH, use_cache=False)
    model = GPT2LMHeadModel(config).to("cuda", torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    texts = torch.randint(0, config.vocab_size, (5 * BATCH, LENGTH)).pin_memory()
    step = 0
    while True:
        first = step * BATCH % len(texts)
        tokens = texts[first:first + BATCH].to("cuda", non_blocking=True)
        optimizer.zero_grad(set_to_none=True)
        loss = model(input_ids=tokens, labels=tokens).loss
        loss.backward()
        optimizer.step()
        step += 1
        if step % STEPS_PER_LINE == 0:
            print(f"step {step}: loss {loss.item():.3f}", flush=True)
        if loop.done():
            return


def main():
    loop = Loop(__doc__)
    train(loop)
    loop.finish()


if __name__ == "__main__":
    main()
