// SPDX-License-Identifier: BSD-2-Clause
// Faults of too little memory. CUDA_SIM_MEMORY sets how much there is.
#include "faults.h"

#define PIECES 73
#define PIECE (50ull << 20)
#define SMALL_PIECES 40
#define SMALL_PIECE (5ull << 20)
#define HUGE_BYTES (2ull << 30)
#define FITTING (128ull << 20)
#define ATTEMPTS 5

static void take(struct run *run, uint64_t bytes)
{
	device_memory(bytes);
	run->bytes += bytes;
}

/* Allocates what is due by now: at first large pieces, then small ones. */
static void grow(struct run *run, double since)
{
	double first = run->seconds * 0.3, second = run->seconds * 0.6;
	double small = since < first ? 0 : SMALL_PIECES * (since - first) / second;
	uint64_t due = (uint64_t)(PIECES * since / first) * PIECE;

	if (due > PIECES * PIECE)
		due = PIECES * PIECE;
	due += (uint64_t)(small < SMALL_PIECES ? small : SMALL_PIECES) * SMALL_PIECE;
	while (run->bytes < due)
		take(run, run->bytes < PIECES * PIECE ? PIECE : SMALL_PIECE);
}

/*
 * Uses 3850 of 3900 MiB, allocated while the program runs; fixed: allocated at the start, as
 * servers do that manage memory themselves.
 */
static void oom_near(struct run *run)
{
	double begun = now();

	if (run->fixed)
		take(run, PIECES * PIECE + SMALL_PIECES * SMALL_PIECE);
	while (run__goes_on(run)) {
		if (!run->fixed)
			grow(run, now() - begun);
		run__step(run);
	}
	run__close(run);
}

/* Requests more memory than there is, gets the error, and continues with less. */
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
	{ "oom-near", oom_near,
	  "grows to nearly all of 3900 MiB; fixed: takes it at the start and holds still", false,
	  .environment = "CUDA_SIM_MEMORY=3900M LD_LIBRARY_PATH=build/sim",
	  .options = "--window 3s --interval 0.2 --threshold host-bound.window=60s",
	  .arguments = "--seconds 5" },
	{ "oom", oom, "asks for 2 GiB of the 1 GiB there is; fixed: for what fits", false,
	  .environment = "CUDA_SIM_MEMORY=1G" },
	{ 0 },
};
