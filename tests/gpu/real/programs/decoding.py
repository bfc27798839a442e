#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A language model writes one text at a time, eagerly: for each token some hundred small kernels,
one after another.

A step is a text of 16 tokens. Repaired: 16 texts are written side by side,
and a step is sixteen units of work.
"""
import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")
import torch  # noqa: E402
from transformers import GPT2Config, GPT2LMHeadModel  # noqa: E402

from steady import Loop  # noqa: E402

PROMPT, TOKENS, BATCH = 32, 16, 16


def language_model():
    """GPT-2 with weights that nobody trained."""
    model = GPT2LMHeadModel(GPT2Config())
    model.generation_config.eos_token_id = None  # so that each text has as many tokens
    model.generation_config.pad_token_id = 0
    return model.to("cuda", torch.bfloat16).eval()


def write(loop):
    model = language_model()
    texts = BATCH if loop.repaired else 1
    prompt = torch.randint(1, model.config.vocab_size, (texts, PROMPT), device="cuda")
    mask = torch.ones_like(prompt)
    loop.units = texts
    while True:
        model.generate(prompt, attention_mask=mask, do_sample=False, max_new_tokens=TOKENS)  # FAULT
        if loop.done():
            return


def main():
    loop = Loop(__doc__, warm_up=4)
    write(loop)
    loop.finish()


if __name__ == "__main__":
    main()
