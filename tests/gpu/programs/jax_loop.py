#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""JAX to be watched: one compiled function in a loop. Prints one JSON object."""
import argparse
import json

import jax
import jax.numpy as jnp


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100)
    options = parser.parse_args()
    step = jax.jit(lambda x: jnp.tanh(x @ x) * 0.5)
    x = jnp.ones((512, 512))
    for _ in range(options.steps):
        x = step(x)
    x.block_until_ready()
    stats = jax.devices()[0].memory_stats() or {}
    print(json.dumps({"jax": jax.__version__, "steps": options.steps, "stats": stats}), flush=True)


if __name__ == "__main__":
    main()
