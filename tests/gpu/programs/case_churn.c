// SPDX-License-Identifier: BSD-2-Clause
// A case study: a 1 GiB buffer that is allocated and freed in every step, or only once. See case.h.
#include "case.h"

#define BUFFER ((size_t)1 << 30)
#define LAUNCHES 4 /* per step: milliseconds of work for the GPU */

static void work(void *buffer)
{
	for (int i = 0; i < LAUNCHES; i++)
		case_launch(buffer, BUFFER, NULL);
	CHECK(cudaDeviceSynchronize());
}

static double run(bool fixed, unsigned int steps)
{
	double began = case_seconds();
	void *buffer = NULL;

	if (fixed)
		CHECK(cudaMalloc(&buffer, BUFFER));
	for (unsigned int i = 0; i < steps; i++) {
		if (!fixed)
			CHECK(cudaMalloc(&buffer, BUFFER));
		work(buffer);
		if (!fixed)
			CHECK(cudaFree(buffer));
	}
	if (fixed)
		CHECK(cudaFree(buffer));
	return case_seconds() - began;
}

int main(int argc, char **argv)
{
	return case_main(argc, argv, run);
}
