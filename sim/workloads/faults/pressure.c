// SPDX-License-Identifier: BSD-2-Clause
// Faults of too little memory. CUDA_SIM_MEMORY says how much there is.
#include "faults.h"

#define PIECES 38
#define PIECE (100ull << 20)
#define HUGE_BYTES (2ull << 30)
#define FITTING (128ull << 20)
#define ATTEMPTS 5

/*
 * 3.7 GiB, which is nearly all of 3.8 GiB, taken piece by piece as the program
 * goes on; fixed: at the start, as servers do that divide it up by themselves.
 */
static void oom_near(struct run *run)
{
	double pause = run->seconds * 0.9 / PIECES, next = now();
	int taken = 0;

	while (run__goes_on(run)) {
		while (taken < PIECES && (run->fixed || now() >= next)) {
			device_memory(PIECE);
			run->bytes += PIECE;
			next += pause;
			taken++;
		}
		run__step(run);
	}
	run__close(run);
}

/* Asks for more than there is, is told so, and goes on with less. */
static void oom(struct run *run)
{
	void *large = NULL, *kept = device_memory(FITTING);

	for (int i = 0; i < ATTEMPTS; i++) {
		if (cudaMalloc(&large, run->fixed ? FITTING : HUGE_BYTES)) {
			cudaGetLastError();
			run->calls++;
		} else {
			NEED(cudaFree(large));
		}
		run__step(run);
	}
	while (run__goes_on(run))
		run__step(run);
	NEED(cudaFree(kept));
	run__close(run);
}

const struct fault pressure_faults[] = {
	{ "oom-near", oom_near, "grows to nearly all of 3.8 GiB; fixed: takes it at the start and holds still", false },
	{ "oom", oom, "asks for 2 GiB of the 1 GiB there is; fixed: for what fits", false },
	{ 0 },
};
