// SPDX-License-Identifier: BSD-2-Clause
// Errors of means that come from bursts, see gpu_sample.h.
#include "model/gpu_sample.h"

#include <math.h>

/* Student's t at 97.5 %, by degrees of freedom from 1; beyond these within 2 %. */
static const double quantiles[] = {12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
				   2.262, 2.228, 2.201, 2.179, 2.16,  2.145, 2.131, 2.12,
				   2.11,  2.101, 2.093, 2.086, 2.08,  2.074, 2.069, 2.064,
				   2.06,  2.056, 2.052, 2.048, 2.045, 2.042};
#define QUANTILES (sizeof(quantiles) / sizeof(*quantiles))
#define NORMAL 2.0

static void close_burst(struct gpu_sample *sample)
{
	sample->counts += sample->count;
	sample->total_ns += sample->ns;
	sample->square_counts += sample->count * sample->count;
	sample->square_ns += sample->ns * sample->ns;
	sample->products += sample->count * sample->ns;
	sample->count = sample->ns = 0;
}

void gpu_sample__add(struct gpu_sample *sample, uint16_t burst, uint64_t ns)
{
	if (burst != sample->burst) {
		close_burst(sample);
		sample->burst = burst;
		sample->bursts++;
	}
	sample->count++;
	sample->ns += (double)ns;
}

double gpu_sample__error(const struct gpu_sample *sample)
{
	struct gpu_sample all = *sample;
	double mean, deviations, quantile, bursts = (double)sample->bursts;
	uint64_t freedom;

	if (sample->bursts < 2)
		return -1;
	close_burst(&all);
	if (!(all.total_ns > 0))
		return -1;
	mean = all.total_ns / all.counts;
	deviations = all.square_ns - 2 * mean * all.products + mean * mean * all.square_counts;
	freedom = sample->bursts - 1;
	quantile = freedom <= QUANTILES ? quantiles[freedom - 1] : NORMAL;
	return quantile * sqrt(fmax(deviations, 0) * bursts / (bursts - 1)) / all.total_ns;
}
