#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A filter over pictures whose kernel is compiled and loaded anew for each radius that comes along.

Repaired: the radius is an argument of one kernel.
"""
import os

os.environ["CUPY_CACHE_IN_MEMORY"] = "1"  # what an earlier run compiled is of no use
import cupy  # noqa: E402

from steady import Loop  # noqa: E402

COUNT, PASSES = 1 << 22, 20
SOURCE = r"""
extern "C" __global__ void smooth(const float *in, float *out, int count, float radius_given)
{
	const float radius = RADIUS;
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= count)
		return;
	float left = in[i ? i - 1 : 0], right = in[i + 1 < count ? i + 1 : i];
	out[i] = (left + radius * in[i] + right) / (2.0f + radius);
}
"""


def kernel_for(radius):
    """The kernel with its radius compiled in."""
    module = cupy.RawModule(code=SOURCE.replace("RADIUS", f"{radius:.4f}f"))  # FAULT
    return module.get_function("smooth")  # FAULT


def smooth(kernel, pictures, result, radius):
    for _ in range(PASSES):
        kernel((COUNT // 256,), (256,), (pictures, result, cupy.int32(COUNT), cupy.float32(radius)))
        pictures, result = result, pictures


def main():
    loop = Loop(__doc__)
    pictures, result = (cupy.random.random(COUNT, dtype=cupy.float32),
                        cupy.empty(COUNT, cupy.float32))
    one_for_all = cupy.RawModule(
        code=SOURCE.replace("RADIUS", "radius_given")).get_function("smooth")
    step = 0
    while True:
        radius = 1 + step / 1000
        smooth(one_for_all if loop.repaired else kernel_for(radius), pictures, result, radius)
        float(result[COUNT // 2])
        step += 1
        if loop.done():
            break
    loop.finish()


if __name__ == "__main__":
    main()
