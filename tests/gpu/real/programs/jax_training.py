#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sound: training in JAX, one compiled step, large enough for the GPU."""
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # others may be on this GPU
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

from steady import Loop  # noqa: E402

LAYERS, WIDTH, BATCH = 12, 4096, 8192
STEPS_PER_LINE = 10


def loss_of(weights, batch):
    values = batch
    for weight in weights:
        values = jax.nn.gelu(values @ weight)
    return jnp.mean(jnp.square(values.astype(jnp.float32)))


@jax.jit
def step_of(weights, batch):
    loss, gradients = jax.value_and_grad(loss_of)(weights, batch)
    return [weight - 1e-3 * gradient for weight, gradient in zip(weights, gradients)], loss


def train(loop):
    keys = jax.random.split(jax.random.key(1), LAYERS + 1)
    weights = [jax.random.normal(key, (WIDTH, WIDTH), jnp.bfloat16) / 64 for key in keys[1:]]
    batch = jax.random.normal(keys[0], (BATCH, WIDTH), jnp.bfloat16)
    step = 0
    while True:
        weights, loss = step_of(weights, batch)
        step += 1
        if step % STEPS_PER_LINE == 0:
            print(f"step {step}: loss {float(loss):.3f}", flush=True)
        if loop.done():
            return


def main():
    loop = Loop(__doc__)
    train(loop)
    loop.finish()


if __name__ == "__main__":
    main()
