#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""CuPy to be watched: elementwise kernels of its own making, copies both ways.
Prints one JSON object."""
import argparse
import json

import cupy
import numpy


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100)
    options = parser.parse_args()
    triple = cupy.ElementwiseKernel("float32 x", "float32 y", "y = x * 3", "triple")
    host = numpy.ones(1 << 20, dtype=numpy.float32)
    for _ in range(options.steps):
        device = cupy.asarray(host)
        result = triple(device).get()
    pool = cupy.get_default_memory_pool()
    print(json.dumps({"cupy": cupy.__version__, "pool_bytes": pool.total_bytes(),
                      "right": bool((result == 3).all()), "copied": options.steps * host.nbytes}),
          flush=True)


if __name__ == "__main__":
    main()
