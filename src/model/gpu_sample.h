/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far a mean of times can be trusted that comes from bursts (gpu-times=SHARE). Pieces of work
 * of one burst resemble each other, so that the bursts are the sample, and not the pieces: the mean
 * is a ratio of two sums over bursts.
 */
#ifndef MODEL_GPU_SAMPLE_H
#define MODEL_GPU_SAMPLE_H

#include <stdint.h>

/* Initially all zero. */
struct gpu_sample {
	uint16_t burst;	 /* the latest; 0: none */
	uint64_t bursts; /* that had any */
	/* in the latest burst, and sums over those before it */
	double count, ns;
	double counts, total_ns;
	double square_counts, square_ns, products;
};

/* Adds a piece of work that took `ns`, of this burst, which is not 0. */
void gpu_sample__add(struct gpu_sample *sample, uint16_t burst, uint64_t ns);

/*
 * The half of the 95 % confidence interval of the mean, as a part of it: 0.05 is 5 %. Negative: it
 * is unknown, because there are less than two bursts.
 */
double gpu_sample__error(const struct gpu_sample *sample);

#endif
